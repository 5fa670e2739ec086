"""Frames of records: checked, cut by time, matched by key, combined and sorted.

What both stores do to a frame lives here, so that they cannot differ.
A frame is *settled* when it is combined and sorted by the layout's identity;
time comes first in that order, so a range of time is a zero-copy slice of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.polars_frames import stacked
from sqlwin.state.combine import OneOf
from sqlwin.state.contract import Combine, Layout

FEW = 1_000
"""Rows of which a query costs what its set-up does."""


def accept(layout: Layout, records: pl.DataFrame) -> pl.DataFrame:
    """The records with the layout's column order; StateError when they do not fit."""
    ordered = _in_columns(layout, records)
    times = ordered.get_column(layout.time)
    if times.null_count():
        raise StateError(f"store {layout.name}: {layout.time} is NULL in a record")
    if len(times) and not (least(times) >= START and greatest(times) < END):
        raise StateError(f"store {layout.name}: {layout.time} is outside [{START}, {END})")
    return ordered


def _in_columns(layout: Layout, records: pl.DataFrame) -> pl.DataFrame:
    names, types = layout.names_and_types
    if records.columns == names and records.dtypes == types:  # a schema is dear to make
        return records
    want, got = dict(layout.schema), dict(records.schema)
    if want == got:
        return records[names]
    wrong = [f"{name} is missing ({type_})" for name, type_ in want.items() if name not in got]
    wrong += [f"{name} is not a column of it" for name in got if name not in want]
    wrong += [
        f"{name} is {got[name]}, not {type_}"
        for name, type_ in want.items()
        if name in got and got[name] != type_
    ]
    raise StateError(f"records do not fit store {layout.name}: {'; '.join(wrong)}")


def least(times: pl.Series) -> int:
    return int(times.min())  # type: ignore[arg-type]


def greatest(times: pl.Series) -> int:
    return int(times.max())  # type: ignore[arg-type]


def by_slice(layout: Layout, records: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """(slice, its records in the order written) for every slice they touch."""
    if not records.height:
        return
    times = records.get_column(layout.time)
    first, last = layout.slice_of(least(times)), layout.slice_of(greatest(times))
    if first == last:  # the common case: a batch is short against a slice
        yield first, records
        return
    slices = times.to_numpy() // layout.slice_width
    order = np.argsort(slices, kind="stable")
    slices = slices[order]
    begins = np.flatnonzero(np.diff(slices, prepend=slices[0] - 1))
    counts = np.diff(begins, append=len(slices))
    places = pl.Series(order, dtype=pl.UInt32)  # of an array each is checked and converted
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        # taken, not cut: a view would keep the whole batch in memory
        yield int(slices[begin]) * layout.slice_width, records[places.slice(begin, count)]


def between(layout: Layout, frame: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
    """The rows of any frame with lo <= time < hi, in their order."""
    times = frame[layout.time]
    if not frame.height or (lo <= least(times) and greatest(times) < hi):
        return frame
    lo, hi = max(lo, START), min(hi, END)
    return frame.filter((pl.col(layout.time) >= lo) & (pl.col(layout.time) < hi))


def sliced(layout: Layout, settled: pl.DataFrame, lo: int, hi: int) -> pl.DataFrame:
    """The same of a settled frame, without a copy."""
    times = settled[layout.time]
    if settled.height and lo <= times[0] and times[-1] < hi:
        return settled
    start, stop = np.searchsorted(times.to_numpy(), [max(lo, START), min(hi, END)]).tolist()
    return settled.slice(start, max(stop - start, 0))


def accept_keys(layout: Layout, keys: pl.DataFrame | None) -> pl.DataFrame | None:
    """Keys to match by, without repeats; None where they leave nothing out."""
    if keys is None or (not keys.width and not layout.keys):
        return None
    schema = layout.schema
    for name, type_ in keys.schema.items():
        if name not in layout.keys or type_ != schema[name]:
            legal = ", ".join(f"{key} {schema[key]}" for key in layout.keys) or "none"
            raise StateError(f"store {layout.name} has no key {name} {type_}; its keys: {legal}")
    if not keys.width:
        raise StateError(f"store {layout.name}: keys without columns; pass None to read all")
    return keys.unique()


def matching(frame: pl.DataFrame, keys: pl.DataFrame | None) -> pl.DataFrame:
    """The rows that agree with a row of `keys`, NULL with NULL, in their order."""
    if keys is None or not frame.height:
        return frame
    return frame.join(keys, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left")


def without(frame: pl.DataFrame, erased: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The rows that agree with no row of any of `erased`, NULL with NULL, in their order."""
    for gone in erased:
        if gone.height:
            on = gone.columns
            frame = frame.join(gone, on=on, how="anti", nulls_equal=True, maintain_order="left")
    return frame


def accept_gone(layout: Layout, gone: pl.DataFrame) -> pl.DataFrame:
    """What `Store.erase` is given; StateError where it does not fit."""
    legal = {name: layout.schema[name] for name in layout.identity}
    if not gone.width or any(legal.get(name) != type_ for name, type_ in gone.schema.items()):
        raise StateError(f"store {layout.name} cannot erase by {dict(gone.schema)}; legal: {legal}")
    return gone


def settle(layout: Layout, combine: Combine, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Frames in the order written, as one settled frame of one chunk."""
    ordered = in_order(layout, stacked(frames)) if frames else layout.empty()
    if not _repeats(layout, ordered):  # nothing to combine
        return ordered.rechunk()
    numbers = _numbers(layout, ordered) if isinstance(combine, OneOf) else None
    if numbers is not None:  # the last of each identity, in order already
        again = np.all([column[1:] == column[:-1] for column in numbers], axis=0)
        return ordered.filter(pl.Series(np.append(~again, True))).rechunk()
    combined = combine(ordered)
    if combined.schema != layout.schema:
        raise StateError(
            f"combine of store {layout.name} returned {dict(combined.schema)},"
            f" the layout has {dict(layout.schema)}"
        )
    return in_order(layout, combined).rechunk()


def in_order(layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
    """Sorted by identity; records of one identity in the order given.

    What was written in order needs no more than a stable sort by time, which is
    several times as fast as one by every column: that is tried first. Where it is not
    enough, it has made the other one faster. Of few rows, each sort costs the same.
    """
    if frame.height < 2 or _rises(layout, frame):
        return frame
    if frame.height < FEW:
        return frame.sort(layout.identity, maintain_order=True)
    by_time = frame.sort(layout.time, maintain_order=True)
    if _at_distinct_times(layout, by_time) or _ascends(layout, by_time):
        return by_time
    return by_time.sort(layout.identity, maintain_order=True)


def _rises(layout: Layout, frame: pl.DataFrame) -> bool:
    """Whether each row is later than the one before."""
    return frame[layout.time].is_sorted() and _at_distinct_times(layout, frame)


def _at_distinct_times(layout: Layout, ordered: pl.DataFrame) -> bool:
    return ordered[layout.time].n_unique() == ordered.height


def _ascends(layout: Layout, by_time: pl.DataFrame) -> bool:
    """Whether no row's identity is below that of the row before; known for plain numbers only."""
    identity = _numbers(layout, by_time)
    if identity is None:
        return False
    times, *others = identity
    tied = np.flatnonzero(times[1:] == times[:-1]) + 1  # so far no greater than the row before
    for column in others:
        now, before = column[tied], column[tied - 1]
        if (now < before).any():
            return False
        tied = tied[now == before]
    return True


def _numbers(layout: Layout, frame: pl.DataFrame) -> list[npt.NDArray[Any]] | None:
    """The columns of the identity, where all of them are integers and none is NULL."""
    identity = [frame[name] for name in layout.identity]
    if any(not column.dtype.is_integer() or column.null_count() for column in identity):
        return None
    return [column.to_numpy() for column in identity]


def _repeats(layout: Layout, ordered: pl.DataFrame) -> bool:
    """Whether any two records have one identity, which then stand side by side."""
    if ordered.height < 2 or _at_distinct_times(layout, ordered):
        return False
    numbers = _numbers(layout, ordered)
    if numbers is not None:
        return bool(np.all([column[1:] == column[:-1] for column in numbers], axis=0).any())
    if ordered.height < FEW:
        return bool(ordered[list(layout.identity)].is_duplicated().any())
    same = [pl.col(name).eq_missing(pl.col(name).shift(1)) for name in layout.identity]
    return bool(ordered.select(pl.all_horizontal(same).any()).item())


def assemble(
    layout: Layout, combine: Combine, slices: Iterable[list[pl.DataFrame]]
) -> pl.DataFrame:
    """One settled frame from the settled frames of each slice, oldest write first.

    Identities of two slices differ (their times do), so slices with one frame need
    no combining, and all others share one call of it, however many there are.
    """
    single: list[pl.DataFrame] = []
    several: list[pl.DataFrame] = []
    for frames in slices:
        full = [frame for frame in frames if frame.height]
        (several if len(full) > 1 else single).extend(full)
    if not several:  # slices come in order of time, so their concatenation is sorted
        return stacked(single) if single else layout.empty()
    settled = settle(layout, combine, several)
    return in_order(layout, pl.concat([*single, settled])) if single else settled
