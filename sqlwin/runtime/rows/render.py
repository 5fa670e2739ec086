"""Results as text: JSON objects, CSV, and cells for a table on the screen.

Instants are ISO 8601 with a trailing Z everywhere, what clocks show without it;
decimals are strings in JSON, so that no reader rounds them; NaN and infinities are
null in JSON, which has no word for them.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl

from sqlwin.instants import format_datetime
from sqlwin.polars_frames import iso_columns


def json_lines(rows: pl.DataFrame) -> Iterator[str]:
    """One JSON object a row, no line ends."""
    for row in iso_columns(rows).iter_rows(named=True):
        yield _json(row)


def csv_text(rows: pl.DataFrame, header: bool) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow(rows.columns)
    writer.writerows([cell(value) for value in row] for row in iso_columns(rows).iter_rows())
    return out.getvalue()


def plain(value: Any) -> Any:
    """A value as JSON has it. `map` takes one frame of the stack a level, not two."""
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, dict):
        return dict(zip(value, map(plain, value.values()), strict=True))
    if isinstance(value, datetime):
        return format_datetime(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.hex() if isinstance(value, bytes) else value


def cell(value: Any) -> str:
    """A value as a table or CSV shows it; NULL is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return _json(value)
    return str(plain(value) if not isinstance(value, float) else value)


def _json(value: Any) -> str:
    """A type that nobody declared, in a row that was refused, is text."""
    return json.dumps(plain(value), default=str, ensure_ascii=False)
