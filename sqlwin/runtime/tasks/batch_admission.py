"""Admission of a batch: each input's rows by the input's own rule, see `admission`.

All inputs are judged by the state before the batch, so of a stream joined with itself both
inputs admit a new message. Rows of inputs without a rule are prepared by their pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from sqlwin.instants import END
from sqlwin.operators.contract import (
    DOUBT,
    DOUBT_PART,
    DOUBT_SEQ,
    DOUBT_TEXT,
    JoinOperator,
    Judging,
    Stores,
)
from sqlwin.polars_frames import stacked
from sqlwin.policies import Expired
from sqlwin.runtime.inputs.admission import Admitted, admit
from sqlwin.runtime.inputs.message_numbers import Numbers
from sqlwin.runtime.inputs.positions import Positions
from sqlwin.runtime.inputs.watermarks import Watermarks
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.error_stream import EXPIRED, no_rejects, refused
from sqlwin.runtime.rows.error_stream import judged as judged_by
from sqlwin.schema import PART, POSITION, SEQ, TS
from sqlwin.state.stores.session_store import FROM


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
            judged = _judged(query, at, stacked(frames), stores, offsets)
            taken[at] = _numbered(query, at, judged, numbers)
            positions.note(stream, offsets)
    return taken


def counted(query: Lowered, numbers: Numbers, clock: Watermarks) -> tuple[int, ...]:
    """The greatest number of each input; of results of a join in ROWS, up to which all are here."""
    come = numbers.greatest(len(query.inputs))
    return tuple(
        max(0, clock.of(each.stream.name)) if each.spanned else last
        for each, last in zip(query.inputs, come, strict=True)
    )


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
    doubtful = _by_state(query, at, rows, stores)
    if rule is None:
        return doubtful
    judged = admit(
        rule,
        doubtful.rows,
        stores,
        offsets,
        _horizons(query, at, stores),
        stores.input_watermarks[at],
    )
    if query.inputs[at].numbered:
        return judged
    return Admitted(
        query.prepare(judged.rows, at),
        stacked([doubtful.errors, judged.errors]),
        doubtful.replayed + judged.replayed,
    )


def _by_state(query: Lowered, at: int, rows: pl.DataFrame, stores: Stores) -> Admitted:
    """The rows that count by what is stored, and the errors of those that were in doubt. Under
    EXPIRED EMIT the operator takes those as well."""
    kept = query.inputs[at].retention
    if kept is None or not kept.judged:
        return Admitted(rows)
    operator, watermark = cast(Judging, query.operator), stores.input_watermarks[at]
    gone = operator.judge(rows, stores, kept.ended(watermark))
    errors = _errors(query, at, gone, EXPIRED, watermark)
    rows = rows if query.expired is Expired.EMIT else _without(rows, gone, (DOUBT_PART, DOUBT_SEQ))
    if kept.window is not None:
        partly = rows.filter(pl.col(DOUBT_PART).is_not_null()).with_columns(pl.col(TS).alias(FROM))
        missed = _errors(query, at, partly, kept.in_part(watermark), watermark)
        errors = stacked([errors, missed])
    again = operator.repeated(rows, stores)
    rows = _without(rows, again)
    return Admitted(rows.drop(DOUBT, strict=False), errors, len(again))


def _errors(
    query: Lowered, at: int, doubtful: pl.DataFrame, reason: str, watermark: int
) -> pl.DataFrame:
    """The errors of rows in doubt, with `__from`."""
    if doubtful.is_empty():
        return no_rejects()
    late = doubtful.select(*DOUBT, FROM).rename({DOUBT_PART: PART, DOUBT_SEQ: SEQ, FROM: TS})
    whole = late[DOUBT_TEXT].to_list()
    stream = query.inputs[at].stream.name
    errors = refused(stream, late, whole, [reason] * len(late), watermark)
    return judged_by(errors, query.expired)


def _without(
    rows: pl.DataFrame, others: pl.DataFrame, on: tuple[str, ...] = POSITION
) -> pl.DataFrame:
    return (
        rows.join(others, on=list(on), how="anti", maintain_order="left") if len(others) else rows
    )


def retire(query: Lowered, stores: Stores, clock: Watermarks, pinning: Sequence[str]) -> None:
    """Evict the positions of messages that can no longer be admitted.

    pinning: the stores that pin positions, see `StoreSpec`.
    """
    kept = [stores[name] for name in pinning]
    for at, each in enumerate(query.inputs):
        rule = each.admission
        if rule is not None and rule.store in stores.named:
            watermark = clock.of(each.stream.name)
            horizons = _horizons(query, at, stores)
            rule.retire(watermark, stores, horizons, kept, _oldest(query, at, stores, watermark))


def _oldest(query: Lowered, at: int, stores: Stores, watermark: int) -> int:
    """Before this instant no row counts, whatever its key."""
    kept = query.inputs[at].retention
    if kept is None or not kept.judged:
        return END
    return cast(Judging, query.operator).oldest(stores, kept.ended(watermark))


def _horizons(query: Lowered, at: int, stores: Stores) -> pl.DataFrame | None:
    rule = query.inputs[at].admission
    if rule is None or rule.by_rows is None or query.operator is None:
        return None
    if len(query.inputs) == 1:
        return query.operator.horizons(stores)
    return cast(JoinOperator, query.operator).horizons(stores, at)
