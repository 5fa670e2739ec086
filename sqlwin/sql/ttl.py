"""TTL of state: the hint STATE_TTL and the options `state.ttl…` to a policy's Ttl.

Without a hint only state that no window bounds has one. Of each option the WITH
clause of the stream says more than SET, and a hint says the length alone.

>>> hint = ast.Name("/*+ STATE_TTL('o' = '3 days', p = '12h') */", Span(1, 1))
>>> [(stream.text, micros) for stream, micros in hinted(hint)]
[('o', 259200000000), ('p', 43200000000)]
>>> cleanup("incremental(10, true); timers")
Cleanup(full_snapshot=False, incremental=10, each_record=True, compaction=False, timers=True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from sqlwin.errors import QueryError, Span
from sqlwin.plan.facts import (
    Stateful,
    bucket_keys,
    counts,
    keeps_keys,
    operator_of,
    scans,
    sources_of,
    streams_of,
    window_policy,
    with_policy,
)
from sqlwin.plan.nodes import (
    Join,
    Node,
    Scan,
    TopN,
    WindowAggregate,
    WindowRank,
)
from sqlwin.policies import Cleanup, Ttl, TtlTime, Update, Visibility
from sqlwin.sql import ast
from sqlwin.sql.bounds import OpenTop
from sqlwin.sql.durations import micros
from sqlwin.sql.relation import Relation
from sqlwin.windows import Whole

PREFIX = "state.ttl"
LEGAL_LENGTH = "'7 days', '12 h', or '0' for none"
LEGAL_CLEANUP = "full-snapshot, incremental(10, false), compaction, timers; several with ; between"
LEGAL_HINT = "/*+ STATE_TTL('orders' = '3 days') */"

_HINT = re.compile(r"/\*\+\s*STATE_TTL\s*\((.*)\)\s*\*/", re.IGNORECASE | re.DOTALL)
_PAIR = re.compile(r"""\s*(['"`]?)(\w+)\1\s*=\s*(['"])([^'"]*)\3\s*(?:,|\Z)""")
_INCREMENTAL = re.compile(r"incremental\s*\(\s*([1-9]\d*)\s*,\s*(true|false)\s*\)\Z")


# --- what is written --------------------------------------------------------------------


def hinted(hint: ast.Name) -> tuple[tuple[ast.Name, int], ...] | None:
    """Streams and lengths of a STATE_TTL; None: it is another hint."""
    written = _HINT.match(hint.text)
    if written is None:
        return None
    found, at = [], 0
    while at < len(written[1]):
        pair = _PAIR.match(written[1], at)
        if pair is None:
            raise QueryError("STATE_TTL names streams and durations", hint.span, legal=LEGAL_HINT)
        stream = ast.Name(pair[2], hint.span)
        found.append((stream, _told(length, pair[4], hint.span, LEGAL_LENGTH)))
        at = pair.end()
    return tuple(found)


def length(text: str) -> int:
    """Microseconds; 0: no TTL. ValueError for what is no duration, or a negative one."""
    found = 0 if text.strip().lower() in ("0", "none") else micros(text, None)
    if found < 0:
        raise ValueError("a TTL is not negative")
    return found


def cleanup(text: str) -> Cleanup:
    """ValueError for what is none."""
    given: dict[str, Any] = {}
    for part in text.split(";"):
        word = part.strip().lower()
        incremental = _INCREMENTAL.match(word)
        if incremental is not None:
            each = incremental[2] == "true"
            given |= {"incremental": int(incremental[1]), "each_record": each}
        elif word in ("full-snapshot", "compaction", "timers"):
            given[word.replace("-", "_")] = True
        else:
            raise ValueError(f"{part.strip()} is no cleanup of state")
    return Cleanup(**given)


def _words(words: type[Enum]) -> str:
    return ", ".join(word.value for word in words)


OPTIONS: Mapping[str, tuple[str, Callable[[str], Any], str]] = {
    PREFIX: ("length", length, LEGAL_LENGTH),
    f"{PREFIX}.time": ("time", TtlTime, _words(TtlTime)),
    f"{PREFIX}.update": ("update", Update, _words(Update)),
    f"{PREFIX}.visibility": ("visibility", Visibility, _words(Visibility)),
    f"{PREFIX}.cleanup": ("cleanup", cleanup, LEGAL_CLEANUP),
}
"""Name to the field of Ttl, how it is read, what is legal."""


def options(given: Mapping[str, str], span: Span | None = None) -> dict[str, Any]:
    """Fields of Ttl from options, those among them that are of a TTL."""
    found = {}
    for name, text in given.items():
        if name in OPTIONS:
            field, read, legal = OPTIONS[name]
            found[field] = _told(read, text, span, legal, name)
        elif name.startswith(f"{PREFIX}."):
            raise QueryError(f"there is no option {name}", span, legal=", ".join(OPTIONS))
    return found


def _told(
    read: Callable[[str], Any], text: str, span: Span | None, legal: str, name: str = ""
) -> Any:
    try:
        return read(text)
    except ValueError as problem:
        message = f"{name} cannot be {text!r}" if isinstance(read, type) else str(problem)
        raise QueryError(message, span, legal=legal) from None


# --- where it holds ---------------------------------------------------------------------


def of_hints(select: ast.Select, relation: Relation) -> int | None:
    """The length that the hints of a query give the state of what it reads or keeps itself."""
    found: int | None = None
    base = relation.base
    node = base.top if isinstance(base, OpenTop) else base
    read = [stream.name for stream in streams_of(node)]
    names = list(dict.fromkeys((*relation.names, *relation.reads, *read)))
    for stream, micros_ in select.ttl:
        if stream.text.lower() not in [name.lower() for name in names]:
            message = f"STATE_TTL names {stream.text}, which this query does not read"
            raise QueryError(message, stream.span, legal=", ".join(names))
        if len(read) > 1 and found not in (None, micros_):
            message = "the state of a join has one TTL"
            raise QueryError(message, stream.span, legal="one length for all its inputs")
        found = micros_
    return found


def with_ttl(plan: Node, hint: int | None, settings: Mapping[str, Any]) -> Node:
    """The plan, its window with the TTL that a hint, the stream or SET gives its state."""
    window = operator_of(plan)
    if window is None:
        if hint:
            message = "STATE_TTL stands in a query that keeps no state"
            raise QueryError(message, legal="a query with a window, GROUP BY or OVER")
        return plan
    given = dict(settings)
    for stream in sources_of(window):
        given |= options(dict(stream.options))
    if hint is not None:
        given["length"] = hint
    elif not _endless(window):
        return plan
    if not given.get("length"):
        return plan
    ttl = Ttl(**given)
    _refuse(window, ttl)
    return placed(plan, ttl)


def _endless(window: Stateful) -> bool:
    """Whether no window of time bounds the state: that of OVER, of a key, of the first n, of a
    join, and of each key what is measured in messages."""
    if isinstance(window, Join):
        return bool(window.unbounded)
    if isinstance(window, WindowRank):
        return False
    if isinstance(window, WindowAggregate):
        return isinstance(window.window, Whole) or keeps_keys(window)
    if isinstance(window, TopN):
        return True
    ends = [end for c in window.calls for end in (c.frame.preceding, c.frame.following)]
    return None in ends or keeps_keys(window)


def _refuse(window: Stateful, ttl: Ttl) -> None:
    untimed = any(scan.stream.ts is None for scan in scans(window) if isinstance(scan, Scan))
    if ttl.time is TtlTime.EVENT and (counts(window) or untimed):
        message = f"{PREFIX}.time = event needs a window of event time"
        raise QueryError(message, legal=f"{PREFIX}.time = processing")
    policy = window_policy(window)
    if policy is not None and policy.retain_rows is not None and not bucket_keys(window):
        message = "RETAIN n ROWS with a TTL needs a key: what is forgotten is a key's"
        raise QueryError(message, legal="PARTITION BY or GROUP BY a key, or RETAIN a duration")


def placed(plan: Node, ttl: Ttl) -> Node:
    """The plan, the policy of its window, or of all its joins, with the TTL."""
    return with_policy(plan, lambda _, policy: replace(policy, ttl=ttl))
