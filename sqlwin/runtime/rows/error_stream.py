"""The error stream: rows that were rejected, each with its reason.

No row is dropped without a record: an expired row, a malformed one, one without
event time. `row` is the whole row as JSON text; a line that could not be parsed is
there as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import polars as pl

from sqlwin.instants import END, START
from sqlwin.polars_frames import INSTANT, empty, stacked
from sqlwin.policies import Expired
from sqlwin.runtime.rows.render import json_lines
from sqlwin.schema import PART, RESERVED, SEQ, TS

EXPIRED = "expired"
IN_PART = f"{EXPIRED} in part"
"""Of a row that counts in some of its windows, and came too late for others."""
LATE = "late"
"""Of a row that counts, though LATE NEVER corrects nothing by it: never in the error stream."""
COUNTED = "counted only"
"""Detail of a row that is not in the error stream: its stage emits it, or wants no more."""
WHOLE = "__whole"
_PLACE = "__place"
INTERNAL = (WHOLE,)
"""`__whole`: the row as JSON text, carried by rows that may yet turn out expired."""
REJECT_SCHEMA: dict[str, pl.DataType] = {
    "stream": pl.String(),
    "reason": pl.String(),
    "ts": INSTANT,
    "watermark": INSTANT,
    "position": pl.String(),
    "row": pl.String(),
}


@cache
def no_rejects() -> pl.DataFrame:
    """No error rows, made once: every batch asks a dozen times."""
    return empty(REJECT_SCHEMA)


def rejects(
    stream: str, rows: pl.DataFrame, reasons: Sequence[str], watermark: int | None
) -> pl.DataFrame:
    """Error rows of `rows` (with `__part`, `__seq` and maybe `__ts`), one reason each."""
    return refused(stream, rows, texts(rows), reasons, watermark)


def refused(
    stream: str,
    rows: pl.DataFrame,
    whole: Sequence[str],
    reasons: Sequence[str],
    watermark: int | None,
) -> pl.DataFrame:
    """As `rejects`, where the text of each row is known already."""
    at = [position(part, seq) for part, seq in rows.select(PART, SEQ).iter_rows()]
    return pl.DataFrame(
        {
            "stream": [stream] * len(rows),
            "reason": list(reasons),
            "ts": rows[TS].to_list() if TS in rows.columns else [None] * len(rows),
            "watermark": [_bounded(watermark)] * len(rows),
            "position": at,
            "row": list(whole),
        },
        schema={**REJECT_SCHEMA, "ts": pl.Int64, "watermark": pl.Int64},
    ).cast({"ts": INSTANT, "watermark": INSTANT})


def under(errors: pl.DataFrame, watermark: int) -> pl.DataFrame:
    """The errors of one query, where several share what was read."""
    return errors.with_columns(
        pl.lit(_bounded(watermark), pl.Int64).cast(INSTANT).alias("watermark")
    )


def once(found: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Errors of several readers of the same rows: what one has reported no other reports again."""
    if sum(errors.height > 0 for errors in found) < 2:
        return stacked([no_rejects(), *found])
    reported = no_rejects()
    for errors in found:
        if not reported.is_empty():
            on = list(REJECT_SCHEMA)
            errors = errors.join(
                reported, on=on, how="anti", nulls_equal=True, maintain_order="left"
            )
        reported = stacked([reported, errors])
    return reported


def judged(errors: pl.DataFrame, expired: Expired) -> pl.DataFrame:
    """The errors of one stage. expired: what becomes of its expired rows."""
    if expired is Expired.STREAM:
        return errors
    counted = pl.format(f"{{}}: {COUNTED}", _reason)
    return errors.with_columns(pl.when(_expired).then(counted).otherwise("reason").alias("reason"))


def delivered(errors: pl.DataFrame, expired: Expired) -> pl.DataFrame:
    """What the error stream gets: not the expired rows that are counted only, or emitted.

    expired: as the query says. A stage below it has said so already, see `judged`.
    """
    counted = _expired & pl.col("reason").str.ends_with(f": {COUNTED}")
    gone = counted if expired is Expired.STREAM else _expired
    return errors.filter(~gone & (_reason != LATE))


def located(errors: pl.DataFrame, places: Mapping[str, Mapping[int, str]]) -> pl.DataFrame:
    """With the topic in the positions of its records, `orders/0:17`. places: by stream and
    `__part`, what is called otherwise."""
    known = [(name, str(part), at) for name, of in places.items() for part, at in of.items()]
    if not known or errors.is_empty():
        return errors
    names = pl.DataFrame(known, schema=["stream", PART, _PLACE], orient="row")
    pair = pl.col("position").str.split_exact(":", 1)
    halves = pair.struct.field("field_0").alias(PART), pair.struct.field("field_1").alias(SEQ)
    joined = errors.with_columns(*halves).join(
        names, on=["stream", PART], how="left", maintain_order="left"
    )
    there = pl.concat_str(_PLACE, pl.lit(":"), SEQ)
    return joined.with_columns(pl.coalesce(there, "position").alias("position")).select(
        errors.columns
    )


_reason = pl.col("reason").str.split(":").list.first()
_expired = _reason.is_in([EXPIRED, IN_PART])


def reasons(errors: pl.DataFrame) -> list[str]:
    """Of each row, without the details."""
    return [reason.split(":")[0] for reason in errors["reason"]]


def of_reason(errors: pl.DataFrame, reason: str) -> int:
    """How many are there for this reason, without the details."""
    if errors.is_empty():
        return 0
    known = errors["reason"]
    return int(((known == reason) | known.str.starts_with(f"{reason}:")).sum())


def texts(rows: pl.DataFrame) -> list[str]:
    """Each row whole, as JSON text, without the columns sqlwin added."""
    return list(json_lines(rows.select(c for c in rows.columns if not c.startswith(RESERVED))))


def position(part: int, seq: int) -> str:
    return f"{part}:{seq}"


def _bounded(watermark: int | None) -> int | None:
    return watermark if watermark is not None and START < watermark < END else None
