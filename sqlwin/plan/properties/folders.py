"""Which folders of a partitioned source a query reads: those of which its WHERE may be true.

A file of another folder is found and numbered as any, so positions and checkpoints do not know of
it; its rows are not decoded. That is done where nobody can tell, but by errors of those rows:

    a static table that is looked up       its rows are there before the first row of any stream
    a query that keeps no state            nothing waits for the watermark, nor does a lookup in a
                                           static table without RETAIN
    a stream without an event time         there is no watermark

Elsewhere all folders are read. Rows that WHERE drops move the watermark, by which windows are
full and rows are late; they are counted where messages are numbered, and known where an OFFSET
says which came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from sqlwin.plan.ir.nodes import Join, Node, Scalar, Scan, StaticScan, Stream
from sqlwin.plan.properties.facts import Stateful, counts, operator_of, plans_of, scans

Conditions: TypeAlias = tuple[Scalar, ...]
"""A folder is read where one of them is true."""
Source = Scan | StaticScan


def folders_read(plan: Node) -> dict[Stream, Conditions]:
    """Of each source of which not all folders are read."""
    found: dict[Stream, Conditions | None] = {}
    for made, scan in _sources(plan):
        known = found.get(scan.stream, ())
        condition = scan.folders if why_all(plan, made, scan) is None else None
        found[scan.stream] = None if known is None or condition is None else (*known, condition)
    return {stream: each for stream, each in found.items() if each is not None}


def why_all_folders(plan: Node) -> dict[Stream, str]:
    """Why of a source all folders are read although a WHERE says which."""
    found: dict[Stream, str] = {}
    pruned = folders_read(plan)
    for made, scan in _sources(plan):
        if scan.folders is not None and scan.stream not in pruned:
            other = "another part of the query reads them"
            found.setdefault(scan.stream, why_all(plan, made, scan) or other)
    return found


def why_all(plan: Node, made: Node, scan: Source) -> str | None:
    """Why a scan reads all folders, whatever WHERE says; None: it need not. made: the plan of its
    stage."""
    stream = scan.stream
    if stream.changelog is not None:
        return "a change may be of a row in another folder"
    if stream.offset is not None:
        return "an OFFSET that was there before may be in another folder"
    operators = [each for each in map(operator_of, plans_of(plan)) if each is not None]
    own = operator_of(made)
    if isinstance(scan, StaticScan) and isinstance(own, Join) and own.static:
        return None
    if all(
        isinstance(each, Join) and each.static and each.policy.retain is None for each in operators
    ):
        return None
    if any(counts(each) or _joins_relations(each) for each in operators):
        return "messages are counted before WHERE"
    return None if stream.ts is None else "rows that WHERE drops move the watermark"


def _joins_relations(operator: Stateful) -> bool:
    """Whose windows may be in ROWS on either side."""
    return isinstance(operator, Join) and operator.stays is not None


def _sources(plan: Node) -> Iterator[tuple[Node, Source]]:
    """Of each stage; those of rows that come from elsewhere have no folders."""
    for made in plans_of(plan):
        yield from ((made, scan) for scan in scans(made) if not scan.stream.of)
