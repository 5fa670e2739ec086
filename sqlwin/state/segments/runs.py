"""Runs: the segments of one slice that were written together, and what must hold of them.

>>> def segment(slice_: int, order: int, lo: int) -> Segment:
...     return Segment(f"s-{order}-{lo}", slice_, order, lo, lo + 1, 1, 100)
>>> found = runs_of([segment(0, 1, 3), segment(0, 1, 4), segment(0, 5, 3), segment(10, 2, 10)])
>>> [(start, [[s.lo for s in run] for run in runs]) for start, runs in found.items()]
[(0, [[3, 4], [3]]), (10, [[10]])]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import polars as pl

from sqlwin.state.contract import Combine, Layout
from sqlwin.state.records import greatest, least, settle
from sqlwin.state.segments.codec import decode_segment
from sqlwin.state.segments.files import SegmentFiles
from sqlwin.state.segments.index import Segment

Run = list[Segment]


def runs_of(segments: Iterable[Segment]) -> dict[int, list[Run]]:
    """By slice its runs, oldest first, from segments in the order of an index."""
    slices: dict[int, list[Run]] = {}
    for segment in segments:
        runs = slices.setdefault(segment.slice, [])
        if not runs or runs[-1][0].order != segment.order:
            runs.append([])
        runs[-1].append(segment)
    return slices


def written_over(
    layout: Layout, run: Run, fresh: pl.DataFrame, read: Callable[[Run], pl.DataFrame]
) -> bool:
    """Whether at least half of a run's records have a newer one in `fresh`, settled.

    Merging it then shrinks the slice: so a ring, whose records replace each other at
    every flush, lies there once and not once a run. The run is not read where `fresh` is
    far smaller, or mostly beyond it in time, as rows that are only added are.
    """
    middle = int(fresh[layout.time][fresh.height // 2])
    if sum(s.rows for s in run) > 2 * fresh.height or middle >= max(s.hi for s in run):
        return False
    old = read(run)
    left = old.join(fresh, on=list(layout.identity), how="anti", nulls_equal=True)
    return 2 * left.height <= old.height


def check_slice(
    layout: Layout, combine: Combine, files: SegmentFiles, start: int, runs: list[Run]
) -> None:
    """Assert what holds of the runs of one slice and, read from their bytes, of their records."""
    orders = [run[0].order for run in runs]
    assert orders == sorted(set(orders)) and orders[-1] < files.next
    for run in runs:
        _check_run(layout, combine, files, start, run)


def _check_run(layout: Layout, combine: Combine, files: SegmentFiles, start: int, run: Run) -> None:
    """What held of the same bytes before holds still, also where a horizon has taken some away."""
    contents = {segment.name: files.blobs.get(segment.name) for segment in run}
    if contents.items() <= files.checked.items():
        return
    frames = [decode_segment(data, layout.schema) for data in contents.values()]
    whole = pl.concat(frames)
    assert whole.equals(settle(layout, combine, [whole]))
    for segment, frame in zip(run, frames, strict=True):
        times = frame[layout.time]
        assert (segment.slice, segment.order) == (start, run[0].order)
        assert (segment.lo, segment.hi) == (least(times), greatest(times) + 1)
        assert start <= segment.lo and segment.hi <= start + layout.slice_width
        assert 0 < segment.rows == frame.height
    files.checked |= contents
