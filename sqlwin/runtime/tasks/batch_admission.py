"""Admission of a batch: each input's rows by the input's own rule, see `admission`.

All inputs are judged by the state before the batch, so of a stream joined with itself both
inputs admit a new message. Rows of inputs without a rule are prepared by their pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from sqlwin.operators.contract import Joining, Stores
from sqlwin.runtime.inputs.admission import Admitted, admit
from sqlwin.runtime.inputs.message_numbers import Numbers
from sqlwin.runtime.inputs.positions import Positions
from sqlwin.runtime.inputs.watermarks import Watermarks
from sqlwin.runtime.lowering.lowered import Lowered


def admitted(
    query: Lowered,
    batch: Mapping[int, list[pl.DataFrame]],
    stores: Stores,
    positions: Positions,
    numbers: Numbers,
) -> dict[int, Admitted]:
    """Prepared rows of each input that has a batch; advances `positions` and `numbers`."""
    before = {name: dict(positions.of(name)) for name in query.streams}
    taken = {}
    for at, frames in batch.items():
        if frames:
            stream = query.inputs[at].stream.name
            offsets = dict(before[stream])
            judged = _judged(query, at, pl.concat(frames), stores, offsets)
            taken[at] = _numbered(query, at, judged, numbers)
            positions.note(stream, offsets)
    return taken


def _numbered(query: Lowered, at: int, judged: Admitted, numbers: Numbers) -> Admitted:
    read = query.inputs[at]
    if not read.numbered:
        return judged
    rows = numbers.give(at, judged.rows, by_offset=read.stream.offset is not None)
    return replace(judged, rows=query.prepare(rows, at))


def _judged(
    query: Lowered, at: int, rows: pl.DataFrame, stores: Stores, offsets: dict[int, int]
) -> Admitted:
    rule = query.inputs[at].admission
    if rule is None:
        return Admitted(rows)
    judged = admit(
        rule, rows, stores, offsets, _horizons(query, at, stores), stores.input_watermarks[at]
    )
    if query.inputs[at].numbered:
        return judged
    return replace(judged, rows=query.prepare(judged.rows, at))


def retire(query: Lowered, stores: Stores, clock: Watermarks, pinning: Sequence[str]) -> None:
    """Evict the positions of messages that can no longer be admitted.

    pinning: the stores that pin positions, see `StoreSpec`.
    """
    kept = [stores[name] for name in pinning]
    for at, each in enumerate(query.inputs):
        rule = each.admission
        if rule is not None and rule.store in stores.named:
            rule.retire(clock.of(each.stream.name), stores, _horizons(query, at, stores), kept)


def _horizons(query: Lowered, at: int, stores: Stores) -> pl.DataFrame | None:
    rule = query.inputs[at].admission
    if rule is None or rule.by_rows is None or query.operator is None:
        return None
    if len(query.inputs) == 1:
        return query.operator.horizons(stores)
    return cast(Joining, query.operator).horizons(stores, at)
