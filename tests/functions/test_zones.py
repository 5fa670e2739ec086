"""Expressions under a zone: what Spark answers in a session whose zone is America/New_York.

`zone_answers.csv` has an expression a line, Spark's type and Spark's text of the value, recorded
from the pinned PySpark with `spark.sql.session.timeZone`: instants around the days on which clocks
are put forward and back, one of a summer's night and one before there were zones.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import sqlglot

from sqlwin.functions.core.session_zone import of_a_script, set_session_zone
from sqlwin.functions.table import TABLE
from sqlwin.functions.times.by_clocks import RULES, UTC_ALONE, has_instants
from sqlwin.schema import Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from tests.functions.zoned import answers, recorded


@pytest.fixture(autouse=True)
def new_york() -> Iterator[None]:
    with of_a_script():
        set_session_zone("America/New_York")
        yield


def test_expressions_are_what_spark_answers_in_that_zone() -> None:
    rows = recorded("zone_answers.csv")
    assert len(rows) > 300
    found = answers([row[0] for row in rows])
    assert [each for each in zip(rows, found, strict=True) if tuple(each[0][1:]) != each[1]] == []


def test_every_function_of_instants_says_how_it_goes_by_a_zone() -> None:
    instants = {
        f.name for f in map(TABLE.__getitem__, TABLE) if any(map(has_instants, f.overloads))
    }
    assert instants == {*RULES, *UTC_ALONE}


@pytest.mark.parametrize(
    "text",
    [
        "SEQUENCE(t, t, INTERVAL '1' DAY)",
        "TIME_BUCKET(INTERVAL '1' DAY, t)",
        "TO_JSON(NAMED_STRUCT('a', t))",
        "FROM_JSON('{}', 'a TIMESTAMP')",
        "FROM_CSV('a', 'a TIMESTAMP')",
        "DATE_FORMAT(t, 'HH:mm XXX')",
        "DATE_FORMAT(t, s)",
        "TO_DATE(s, 'yyyy-MM-dd HH:mm XXX')",
        "FROM_UNIXTIME(0, 'HH:mm z')",
    ],
)
def test_what_does_not_follow_the_zone_is_refused_by_name(text: str) -> None:
    columns = (Column("t", pa.timestamp("us", "UTC")), Column("s", pa.string()))
    tree = sqlglot.parse_one(text, read=SqlwinSpark)
    with pytest.raises(
        Uncompiled, match=r"goes by UTC alone, and 'time\.zone' is America/New_York"
    ):
        compiled(tree, columns)
    set_session_zone("UTC")
    compiled(tree, columns)
