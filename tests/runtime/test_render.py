"""Values as JSON and in cells, however deep they lie."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timezone
from decimal import Decimal

import polars as pl

from sqlwin.runtime.rows.error_stream import texts
from sqlwin.runtime.rows.render import csv_text, json_lines

DEEP = pl.DataFrame(
    {
        "at": [[datetime(2024, 1, 1, 9, tzinfo=timezone.utc), None]],
        "day": [[date(2024, 1, 2)]],
        "price": [[Decimal("1.50")]],
        "bytes": [[b"\x01\xff"]],
        "number": [[1.5, float("nan")]],
        "both": [{"at": datetime(2024, 1, 1, tzinfo=timezone.utc), "names": ["ä", "b"]}],
    }
)
PLAIN = {
    "at": ["2024-01-01T09:00:00Z", None],
    "day": ["2024-01-02"],
    "price": ["1.50"],
    "bytes": ["01ff"],
    "number": [1.5, None],
    "both": {"at": "2024-01-01T00:00:00Z", "names": ["ä", "b"]},
}


def test_lists_and_structs_are_json() -> None:
    (line,) = json_lines(DEEP)
    assert json.loads(line) == PLAIN


def test_lists_and_structs_are_json_in_a_cell() -> None:
    text = csv_text(DEEP.select("at", "both"), header=False)
    assert text == (
        '"[""2024-01-01T09:00:00Z"", null]",'
        '"{""at"": ""2024-01-01T00:00:00Z"", ""names"": [""ä"", ""b""]}"\n'
    )


def test_a_row_of_the_error_stream_is_json() -> None:
    """NaN is no word of JSON; what sqlwin added is not shown; a type it does not know is text."""
    row = pl.DataFrame({"x": [float("nan")], "t": [time(9)], "__seq": [1]})
    (text,) = texts(row)
    assert text == '{"x": null, "t": "09:00:00"}'
