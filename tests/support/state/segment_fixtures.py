"""Segments as each released version wrote them, which every later version reads.

When `codec.VERSION` rises, run

    python -m tests.support.state.segment_fixtures

once, and commit the file it writes. A file that is there is never written again:
it is what people's checkpoints hold.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import polars as pl

from sqlwin.state.segments.codec import VERSION, encode_segment

FOLDER = Path(__file__).parents[2] / "state" / "fixtures"

SCHEMA = pl.Schema(
    {
        "__ts": pl.Int64(),
        "__part": pl.Int32(),
        "name": pl.String(),
        "price": pl.Decimal(38, 2),
        "at": pl.Datetime("us", "UTC"),
        "day": pl.Date(),
        "ok": pl.Boolean(),
        "score": pl.Float64(),
        "small": pl.Int8(),
        "raw": pl.Binary(),
        "many": pl.List(pl.Int64()),
    }
)

ROWS = [
    (-5, 0, None, None, None, None, None, None, None, None, None),
    (
        0,
        1,
        "",
        Decimal("-0.01"),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        date(1969, 12, 31),
        False,
        -0.0,
        -128,
        b"",
        [],
    ),
    (
        7,
        1,
        "längere Zeichenkette, über zwölf Bytes",
        Decimal("999999999999999999999999999999999999.99"),
        datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc),
        date(2026, 1, 2),
        True,
        float("inf"),
        127,
        b"\x00\xff",
        [1, None, -1],
    ),
]


def known() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=SCHEMA, orient="row")


def path(version: int) -> Path:
    return FOLDER / f"segment_v{version}.bin"


def write() -> None:
    with path(VERSION).open("xb") as file:
        file.write(encode_segment(known(), "__ts"))


if __name__ == "__main__":
    write()
