"""Changes of a changelog as an input pipeline takes them: what each is, and which are none.

`op` is one of Flink's row kinds afterwards. Debezium's letters stand for them, and so does NULL,
which is an insertion.

>>> rows = pl.DataFrame({"op": [None, "u", "-D", "x"], "id": [1, None, 2, 3]})
>>> kinds(rows, "op")["op"].to_list()
['+I', '+U', '-D', 'x']
>>> refusals(kinds(rows, "op"), Changelog("op", ("id",)), None).to_list()
[None, 'no key: id is NULL', None, "no change: op is 'x', and none of +I, -U, +U, -D"]
"""

from __future__ import annotations

import polars as pl

from sqlwin.errors import InputError
from sqlwin.plan.ir.streams import Changelog, Stream

KINDS = ("+I", "-U", "+U", "-D")
DELETES = ("-U", "-D")
LETTERS = {"c": "+I", "r": "+I", "u": "+U", "d": "-D"}
"""Debezium's: create, read by a snapshot, update, delete."""


def kinds(rows: pl.DataFrame, op: str) -> pl.DataFrame:
    """The rows, `op` in Flink's words where it is a word."""
    return rows.with_columns(pl.col(op).fill_null(KINDS[0]).replace(LETTERS))


def refusals(rows: pl.DataFrame, changelog: Changelog, ts: str | None) -> pl.Series:
    """Why each row is no change, NULL where it is one.

    A deletion by key needs nothing but the key: what it retracts has an event time of its own.
    """
    op = pl.col(changelog.op)
    none = f"no change: {changelog.op} is '{{}}', and none of {', '.join(KINDS)}"
    why = [pl.when(~op.is_in(KINDS)).then(pl.format(none, op))]
    for name in changelog.key:
        why.append(pl.when(pl.col(name).is_null()).then(pl.lit(f"no key: {name} is NULL")))
    if ts is not None:
        comes = ~op.is_in(DELETES) if changelog.key else pl.lit(True)
        timeless = pl.col(ts).is_null() & comes
        why.append(pl.when(timeless).then(pl.lit(f"no event time: {ts} is NULL")))
    return rows.select(pl.coalesce(why).alias("reason"))["reason"]


def of_kind(frame: pl.DataFrame, op: str, stream: Stream) -> pl.DataFrame:
    """Rows that are all changes of one kind. InputError where they cannot be."""
    if stream.changelog is None:
        raise InputError(
            f"{stream.name} is no changelog, so its rows are insertions; changelog = 'upsert' "
            f"makes it one"
        )
    column, legal = stream.changelog.op, (*KINDS, *LETTERS)
    if op not in legal:
        raise InputError(f"op is {op!r}, and none of {', '.join(legal)}")
    if column in frame.columns and frame[column].null_count() < len(frame):
        raise InputError(f"the rows have a column {column} of their own, which says what they are")
    return frame.with_columns(pl.lit(op).alias(column))
