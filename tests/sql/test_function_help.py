"""SHOW FUNCTIONS, DESCRIBE FUNCTION, and the page that is made of the same table."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.explain.functions import page
from sqlwin.plan.explain.statements import answers
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script


def answer(text: str) -> list[str]:
    (one,) = answers(script(text), explain)
    return one.splitlines()


def test_functions_are_listed_scalars_and_aggregates() -> None:
    names = answer("SHOW FUNCTIONS")
    assert {"upper", "ucase", "sum", "max_by"} <= set(names)
    assert names == sorted(names)
    assert not {"+", "[]"} & set(names)


def test_of_a_function_of_any_number_of_pairs_the_first_are_reported() -> None:
    assert answer("DESCRIBE FUNCTION named_struct")[1:5] == [
        "  NAMED_STRUCT(STRING!, ANY)",
        "  NAMED_STRUCT(STRING!, ANY, STRING!, ANY)",
        "  NAMED_STRUCT(STRING!, ANY, STRING!, ANY, STRING!, ANY)",
        "  …",
    ]


def test_a_pattern_has_stars_and_bars() -> None:
    assert answer("SHOW FUNCTIONS LIKE 'upp*|max_*'") == ["max_by", "upper"]
    assert answer("SHOW FUNCTIONS 'UCASE'") == ["ucase"]


def test_a_function_is_described() -> None:
    assert answer("DESCRIBE FUNCTION ucase")[1:] == [
        "  UPPER(STRING) -> STRING",
        "  also called: UCASE",
    ]
    assert answer("DESC FUNCTION EXTENDED avg")[0] == "avg: an aggregate of a number."


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(QueryError, match="no function is called uper; did you mean upper"):
        script("DESCRIBE FUNCTION uper")


def test_a_stream_may_be_called_function() -> None:
    assert answer("CREATE STREAM function (a INT); DESCRIBE function") == ["function", "  a  INT"]


def test_the_page_of_functions_is_that_of_the_table() -> None:
    path = Path(__file__).parents[2] / "docs" / "functions.md"
    assert path.read_text("utf-8") == page(), "make functions"
