"""The stages of a query: column pruning across derived streams, then common subplans merged.

The binder makes a derived stream where its subquery stands, before its readers are bound.
Here, from the top down, its plans lose the columns that no reader needs; from the bottom up equal
plans become one, whatever their names were; a name that is used already gets a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlwin.plan.ir.nodes import Filter, Join, Node, Project, Scan, StaticScan, Stream
from sqlwin.plan.properties.facts import (
    derived_streams,
    sources_of,
)
from sqlwin.plan.rules.optimizer import everywhere, optimize

Reads = dict[Stream, set[str]]


def staged(plan: Node) -> Node:
    """An optimized plan with all below it."""
    streams = derived_streams(plan)
    if not streams:
        return plan
    narrow = _narrowed(plan, streams)
    names = {stream.name.lower() for stream in sources_of(plan)}
    renamed: dict[Stream, Stream] = {}
    made: dict[Stream, Stream] = {}
    for stream in streams:
        one = narrow[stream]
        one = replace(one, name="", of=tuple(_over(below, made) for below in one.of))
        if one not in renamed:
            renamed[one] = replace(one, name=_free(stream.name, names))
        made[stream] = renamed[one]
    return _over(plan, made)


def _over(plan: Node, made: dict[Stream, Stream]) -> Node:
    """The plan, its Scans those of the streams that became of theirs."""

    def rule(node: Node) -> Node:
        if not isinstance(node, Scan | StaticScan) or not node.stream.of:
            return node
        return replace(node, stream=made[node.stream])

    return everywhere(rule, plan)


def _free(name: str, used: set[str]) -> str:
    names = (name, *(f"{name}#{number}" for number in range(2, len(used) + 3)))
    free = next(renamed for renamed in names if renamed.lower() not in used)
    used.add(free.lower())
    return free


# --- what is read -----------------------------------------------------------------------


def _narrowed(plan: Node, streams: Sequence[Stream]) -> dict[Stream, Stream]:
    """Each stream with the columns that plans above it read, or above one of its like; those
    below it are as they were."""
    wide = _widened(streams)
    alike = {one: [each for each in streams if wide[each].of == wide[one].of] for one in streams}
    renamed: Reads = {}
    while True:
        reads = {stream: set(names) for stream, names in renamed.items()}
        _read(plan, reads)
        made: dict[Stream, Stream] = {}
        for stream in reversed(streams):
            made[stream] = _of(wide[stream], reads.get(stream, set()))
            for below in made[stream].of:
                _read(below, reads)
        shared = {one: _read_of(alike[one], reads) for one in streams}
        if shared == renamed:
            return made
        renamed = shared


def _widened(streams: Iterable[Stream]) -> dict[Stream, Stream]:
    """Each with the columns of all that are projected from the same results: by whatever event
    times they are read, these are computed once."""
    groups: list[list[Stream]] = []
    for stream in streams:
        of = next((group for group in groups if _go_together([*group, stream])), None)
        if of is None:
            groups.append([stream])
        else:
            of.append(stream)
    return {one: _with_columns_of(group, one) for group in groups for one in group}


def _go_together(streams: Sequence[Stream]) -> bool:
    """Whether their plans differ in their columns only, and no name has two meanings."""
    if len({tuple(_projected(plan).input for plan in stream.of) for stream in streams}) > 1:
        return False
    for plans in zip(*(stream.of for stream in streams), strict=True):
        columns = {column for plan in plans for column in _projected(plan).columns}
        if len({name for name, _ in columns}) < len(columns):
            return False
    return True


def _with_columns_of(group: Sequence[Stream], stream: Stream) -> Stream:
    columns = {column: None for each in group for column in each.columns}
    plans = []
    for alike in zip(*(each.of for each in group), strict=True):
        named = {name: scalar for plan in alike for name, scalar in _projected(plan).columns}
        plans.append(replace(_projected(alike[0]), columns=tuple(named.items())))
    return replace(stream, columns=tuple(columns), of=tuple(plans))


def _projected(plan: Node) -> Project:
    assert isinstance(plan, Project)
    return plan


def _read_of(streams: Iterable[Stream], reads: Reads) -> set[str]:
    """What of one of them is read, and by which times."""
    always = (name for stream in streams for name in (stream.ts, stream.copies))
    return {name for name in always if name is not None}.union(
        *(reads.get(stream, set()) for stream in streams)
    )


def _of(stream: Stream, read: set[str]) -> Stream:
    """Of no column its rows would be nothing, so one stays."""
    always = {name for name in (stream.ts, stream.copies) if name is not None}
    read_columns = {*read, *always} or {stream.columns[0].name}
    plans = []
    for plan in map(_projected, stream.of):
        columns = tuple(column for column in plan.columns if column[0] in read_columns)
        plans.append(optimize(replace(plan, columns=columns)))
    columns_ = tuple(column for column in stream.columns if column.name in read_columns)
    return replace(stream, columns=columns_, of=tuple(plans))


def _read(node: Node, reads: Reads) -> None:
    """Add what a plan reads of each stream that it scans."""
    for scan, names in _scanned(node, ()):
        reads.setdefault(scan.stream, set()).update(names)


def _scanned(node: Node, above: tuple[str, ...]) -> Iterator[tuple[Scan | StaticScan, set[str]]]:
    if isinstance(node, Scan | StaticScan):
        yield node, set(above)
    elif isinstance(node, Join):
        yield from _scanned(node.left, ())
        yield from _scanned(node.right, ())
    elif isinstance(node, Project):
        yield from _scanned(node.input, tuple(n for _, s in node.columns for n in s.inputs))
    elif isinstance(node, Filter):
        yield from _scanned(node.input, (*above, *node.predicate.inputs))
    else:
        yield from _scanned(node.input, ())
