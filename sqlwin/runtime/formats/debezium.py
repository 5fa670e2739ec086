"""Debezium's JSON: each line an envelope with the row before a change, after it, and what it was.

A row is that of `after`, of a deletion that of `before`, and its last column is `op`. The envelope
may stand in the `payload` of a message that has its schema beside it. Lines and rows are decoded by
the rule of `json_lines`; all else in an envelope is passed over.

>>> from sqlwin.schema import Column
>>> columns = (Column("id", pa.int64()), Column("op", pa.string()))
>>> data = b'''{"before": null, "after": {"id": 1}, "op": "c", "ts_ms": 7}
... {"schema": {}, "payload": {"before": {"id": 1}, "after": null, "op": "d"}}
... {"before": null, "after": {"id": "one"}, "op": "c"}'''
>>> found = decode(data, columns).lines
>>> found.rows.rows(), found.numbers.tolist(), found.bad
([(1, 'c'), (1, 'd')], [0, 1], {2: "id is 'one', not a BIGINT"})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.runtime.formats import json_lines
from sqlwin.runtime.formats.json_lines import JsonLines
from sqlwin.runtime.formats.lines import Lines
from sqlwin.schema import Column, Schema

PARTS = ("before", "after", "op")
ENVELOPE = tuple(Column(name, pa.string()) for name in PARTS)
MESSAGE = (*ENVELOPE, Column("payload", pa.string()))
NOTHING = "{}"


def decode(data: bytes, columns: Schema) -> JsonLines:
    """columns: those of the rows, then the one of `op`."""
    outer = json_lines.decode(data, MESSAGE)
    envelopes = _unwrapped(outer.lines)
    *own, op = columns
    after, before = pl.col("after"), pl.col("before")
    chosen = pl.when(pl.col("op") == "d").then(before).otherwise(after)
    lines = _inner(envelopes, chosen, tuple(own))
    kinds = envelopes.rows.with_columns(pl.Series("at", envelopes.numbers))
    known = pl.DataFrame({"at": lines.numbers}).join(kinds, on="at", maintain_order="left")
    return replace(
        outer, lines=replace(lines, rows=lines.rows.with_columns(known["op"].alias(op.name)))
    )


def row(envelope: Mapping[str, Any], op: str) -> dict[str, Any]:
    """The row of an envelope that is no text; what was done is its field `op`.

    >>> row({"before": {"id": 1}, "after": None, "op": "d"}, "kind")
    {'id': 1, 'kind': 'd'}
    """
    done = envelope.get("op")
    held = envelope.get("before" if done == "d" else "after")
    return {**(held if isinstance(held, Mapping) else {}), op: done}


def _unwrapped(lines: Lines) -> Lines:
    """The envelopes, also those that are payloads."""
    wraps = lines.rows["payload"].is_not_null() & lines.rows["op"].is_null()
    if not wraps.any():
        return replace(lines, rows=lines.rows.select(PARTS))
    held, plain = (
        replace(lines, rows=lines.rows.filter(which), numbers=lines.numbers[which.to_numpy()])
        for which in (wraps, ~wraps)
    )
    found = _inner(held, pl.col("payload"), ENVELOPE)
    rows = pl.concat([plain.rows.select(PARTS), found.rows])
    numbers = np.concatenate([plain.numbers, found.numbers])
    order = np.argsort(numbers, kind="stable")
    return Lines(rows[order], numbers[order], found.bad)


def _inner(lines: Lines, text: pl.Expr, columns: Schema) -> Lines:
    """The objects that are the texts of lines, under the lines' numbers; NULL has no field."""
    texts = lines.rows.select(
        pl.when(text.str.contains(r"\S")).then(text).otherwise(pl.lit(NOTHING))
        .str.replace_all(r"[\r\n]", " ")
        .alias("text")
    )["text"]  # fmt: skip
    found = json_lines.decode("\n".join(texts).encode(), columns).lines
    bad = {int(lines.numbers[at]): why for at, why in found.bad.items()}
    return Lines(found.rows, lines.numbers[found.numbers], {**lines.bad, **bad})
