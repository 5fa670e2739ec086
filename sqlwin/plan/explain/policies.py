"""EXPLAIN of policies: when results are emitted, retention, and how ties are broken."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.durations import micros
from sqlwin.instants import format_duration
from sqlwin.plan.ir import ttl
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.kafka_options import IDLE
from sqlwin.plan.properties.processing_time import by_clock
from sqlwin.policies import Early, Expired, Late, Policy
from sqlwin.system.secrets import refers

SESSIONS = "each a session of its own"


def early(policy: Policy, of: str = "of a window") -> str:
    """of: what the rows are of that EARLY counts."""
    rows = f"{policy.early_rows} row{'s' * (policy.early_rows > 1)} {of}"
    when = "on each update"
    if policy.early is Early.ROWS:
        when = f"every {rows}"
    if policy.early is Early.EVERY:
        when = f"every {format_duration(policy.early_period)} of processing time"
        when += f", or {rows}, whichever comes first" if policy.early_rows else ""
    return f"{when}; each result once" if policy.early_once else when


def late(policy: Policy) -> str:
    if policy.late is Late.EVERY:
        return f"every {format_duration(policy.late_period)} of processing time"
    return "on each update" if policy.late is Late.ON_UPDATE else "never"


def retention(policy: Policy, key: str = "its key", changing: bool = False) -> str:
    """key: within which RETAIN n ROWS counts. changing: rows may be retracted, and then count no
    more."""
    retained = []
    if policy.retain is not None:
        retained.append(f"{format_duration(policy.retain)} after the watermark passed")
    if policy.retain_rows is not None:
        rows = policy.retain_rows
        newer = f"{rows} rows of {key} are newer" if rows > 1 else f"a row of {key} is newer"
        retained.append(f"until {newer}{' at one time' * changing}")
    return ", or ".join(retained) or "for ever"


def watermark(stream: Stream) -> str:
    """What it goes by; that of a derived stream follows what it is made of."""
    if by_clock(stream):
        return f"{stream.ts}, which is processing time: the clock moves it, rows or none"
    if not stream.of:
        return f"{stream.ts} less {format_duration(stream.delay)}{_idle(stream)}"
    behind = f", less {format_duration(stream.delay)}" if stream.delay else ""
    return f"{stream.ts}, as below {stream.name}{behind}"


def _idle(stream: Stream) -> str:
    timeout = dict(stream.options).get(IDLE)
    if timeout is None:
        return ""
    length = timeout if refers(timeout) else format_duration(micros(timeout, None))
    return f"; a partition without rows for {length} does not hold it back"


def ties(stream: Stream) -> str:
    if stream.of:
        return "by what identifies a row of the derived stream"
    if stream.offset is None:
        return "by source position"
    return f"by OFFSET {stream.offset}{' (trusted: no duplicates)' if stream.trusted else ''}"


def queried(policy: Policy) -> Iterator[str]:
    if policy.retention is not None:
        length = format_duration(policy.retention + policy.hold)
        yield f"Queries: closed windows for {length} after the watermark passed"


def timeout(policy: Policy, sent: str) -> Iterator[str]:
    """sent: what is."""
    if policy.timeout is not None:
        yield f"Timeout: after {format_duration(policy.timeout)} with no row, {sent}"


def retained(policy: Policy) -> Iterator[str]:
    """State TTL, and what becomes of expired rows."""
    if policy.ttl is not None:
        yield f"State TTL: {ttl.described(policy.ttl)}"
    yield from expired(policy)


def expired(policy: Policy, emitted: str = SESSIONS) -> Iterator[str]:
    """emitted: how, under EXPIRED EMIT."""
    if policy.expired is Expired.COUNT:
        yield "Expired: counted"
    if policy.expired is Expired.EMIT:
        yield f"Expired: emitted, {emitted}"
    if policy.errors is not None:
        yield f"Expired: into {policy.errors}"
