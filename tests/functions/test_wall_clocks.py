"""Expressions over TIMESTAMP_NTZ: what Spark answers in a session whose zone is America/New_York.

`wall_clock_answers.csv` has an expression a line, Spark's type and Spark's text of the value, `!`
for what it refuses, recorded from the pinned PySpark: clocks in the hour that is skipped in spring,
in the one that is there twice, of a summer's night and before there were zones.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import sqlglot

from sqlwin.functions.core.session_zone import of_a_script, set_session_zone
from sqlwin.functions.table import TABLE
from sqlwin.functions.times.by_clocks import has_instants
from sqlwin.functions.times.by_wall_clocks import WALL
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ, Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from tests.functions.zoned import answers, recorded

COLUMNS = (Column("n", TIMESTAMP_NTZ), Column("t", TIMESTAMP), Column("s", pa.string()))


@pytest.fixture(autouse=True)
def new_york() -> Iterator[None]:
    with of_a_script():
        set_session_zone("America/New_York")
        yield


def test_expressions_are_what_spark_answers_in_that_zone() -> None:
    rows = recorded("wall_clock_answers.csv")
    assert len(rows) > 1100
    found = answers([row[0] for row in rows])
    assert [each for each in zip(rows, found, strict=True) if tuple(each[0][1:]) != each[1]] == []


def test_functions_of_the_wall_clock_are_functions_of_instants() -> None:
    assert all(any(map(has_instants, TABLE[each].overloads)) for each in WALL)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "TO_JSON(STRUCT(n), MAP('timestampNTZFormat', 'HH:mm XXX'))",
            "a TIMESTAMP_NTZ is of no zone, which its format prints or reads",
        ),
        (
            "FROM_CSV(s, 'a TIMESTAMP_NTZ', MAP('timestampNTZFormat', 'HH:mm VV'))",
            "a TIMESTAMP_NTZ is of no zone, which its format prints or reads",
        ),
        ("TO_JSON(STRUCT(n), MAP('timestampNTZFormat', 'b'))", "b stands for nothing"),
        ("TIME_BUCKET(INTERVAL '1' DAY, n, t)", "takes an origin of the type of what is in"),
        ("TIME_BUCKET(INTERVAL '1' DAY, t, n)", "takes an origin of the type of what is in"),
        ("TIME_BUCKET(INTERVAL '0' DAY, n)", "a bucket is longer than 0"),
        ("LOCALTIMESTAMP(3)", "LOCALTIMESTAMP does not take INT"),
        ("TO_DATE(n, 'yyyy')", "TO_DATE of a TIMESTAMP_NTZ takes no pattern"),
        ("TO_TIMESTAMP_NTZ(s, 'HH:mm XXX')", "TO_TIMESTAMP_NTZ takes no pattern that reads a zone"),
        ("TO_TIMESTAMP_NTZ(s, s)", "TO_TIMESTAMP_NTZ takes no pattern that is no constant"),
        ("CAST(n AS BIGINT)", "TIMESTAMP_NTZ cannot be cast to BIGINT"),
        ("n + 1", r"\+ does not take TIMESTAMP_NTZ, INT"),
    ],
)
def test_what_is_refused_of_a_wall_clock_is_refused_by_name(text: str, message: str) -> None:
    for zone in ("UTC", "America/New_York"):
        set_session_zone(zone)
        with pytest.raises(Uncompiled, match=message):
            compiled(sqlglot.parse_one(text, read=SqlwinSpark), COLUMNS)
