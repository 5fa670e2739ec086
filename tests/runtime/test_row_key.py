"""Row keys are JSON, and equal exactly where the keys are."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal

import polars as pl

from sqlwin.operators.emitter.changes import row_key
from sqlwin.schema import ROW_KEY


def keys(frame: pl.DataFrame) -> list[str]:
    return frame.select(row_key(dict(frame.schema)))[ROW_KEY].to_list()


def test_every_text_is_a_json_string() -> None:
    texts = ["", 'say "hi"', "back\\slash", "line\nbreak", "\x01\x1f", "tab\t", "é", "null", None]
    found = keys(pl.DataFrame({"k": texts}))
    assert [json.loads(key) for key in found] == [[text] for text in texts]
    assert len(set(found)) == len(texts)


def test_floats_that_are_one_key_have_one_text() -> None:
    zero, minus, nan, inf, half = keys(
        pl.DataFrame({"k": [0.0, -0.0, float("nan"), float("inf"), 0.5]})
    )
    assert zero == minus == "[0.0]"
    assert [json.loads(key) for key in (nan, inf, half)] == [["NaN"], ["inf"], [0.5]]


def test_instants_dates_decimals_and_others() -> None:
    frame = pl.DataFrame(
        {
            "at": [
                datetime(2024, 1, 1, 9, tzinfo=timezone.utc),
                datetime(1960, 1, 1, 0, 0, 0, 5, timezone.utc),
            ],
            "on": [date(2024, 1, 1), None],
            "price": [Decimal("1.50"), Decimal("-2.00")],
            "raw": [b"\x00\xff", b""],
            "yes": [True, False],
            "n": [1, None],
        }
    )
    first, second = (json.loads(key) for key in keys(frame))
    assert first == ["2024-01-01T09:00:00Z", "2024-01-01", "1.50", "00ff", True, 1]
    assert second == ["1960-01-01T00:00:00.000005Z", None, "-2.00", "", False, None]


def test_no_columns_are_an_empty_array() -> None:
    assert pl.DataFrame({"x": [1]}).select(row_key({}))[ROW_KEY].to_list() == ["[]"]


def test_lists_and_structs_are_json_and_each_their_own() -> None:
    structs = [{"a": 'x",{', "n": 1}, {"a": None, "n": 1}, {"a": "x", "n": None}, None]
    lists = [["a,b"], ["a", "b"], [None], []]
    for values in (structs, lists):
        found = keys(pl.DataFrame({"k": values}))
        assert [json.loads(key) for key in found] == [[value] for value in values]
        assert len(set(found)) == len(values)
    (within,) = keys(
        pl.DataFrame(
            {"k": [[{"on": date(2024, 1, 1), "f": -0.0, "g": float("nan"), "b": b"\xff"}]]}
        )
    )
    assert json.loads(within) == [[{"on": "2024-01-01", "f": 0.0, "g": "NaN", "b": "ff"}]]
