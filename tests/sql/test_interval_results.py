"""An INTERVAL is a type within expressions; in a result it is text, and nowhere else a column."""

from __future__ import annotations

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Project
from sqlwin.schema import type_name
from tests.support.sql.cases import bound, plan

OF_RESULTS = [
    ("ts - ts", "STRING"),
    ("INTERVAL '1' YEAR", "STRING"),
    ("ARRAY(ts - ts)", "ARRAY<STRING>"),
    ("MAP(id, ts - ts)", "MAP<BIGINT, STRING>"),
    ("STRUCT(id, ts - ts AS d)", "STRUCT<id: BIGINT, d: STRING>"),
    ("ts - ts > INTERVAL '1' DAY", "BOOLEAN"),
]


@pytest.mark.parametrize(("text", "wanted"), OF_RESULTS)
def test_result(text: str, wanted: str) -> None:
    made = plan(f"SELECT {text} AS x FROM orders")
    assert isinstance(made, Project)
    assert type_name(made.columns[0][1].type) == wanted


def test_view_keeps_the_interval() -> None:
    """What reads a view of rows reads its expressions."""
    view = "CREATE VIEW v AS SELECT id, ts - at AS d FROM orders;"
    made = bound(f"{view} SELECT id, d / 2 AS half FROM v WHERE d > INTERVAL '1' HOUR").queries[0]
    assert isinstance(made.plan, Project)
    assert type_name(made.plan.columns[1][1].type) == "STRING"


REFUSED = [
    "SELECT MAX(ts - at) AS x FROM orders",
    "SELECT COUNT(*) AS n FROM orders GROUP BY ts - at",
    "SELECT DISTINCT ts - at AS d FROM orders",
    "SELECT MAX(d) AS x FROM (SELECT ts - at AS d, ts FROM orders)",
    "SELECT ts - at AS d FROM orders UNION ALL SELECT ts - at AS d FROM orders",
]


@pytest.mark.parametrize("text", REFUSED)
def test_no_column_between_queries(text: str) -> None:
    with pytest.raises(QueryError, match="cannot be INTERVAL DAY TO SECOND; CAST it"):
        bound(text)


def test_sink_takes_the_text() -> None:
    sink = "CREATE SINK s (d STRING) WITH (connector = 'none');"
    bound(f"{sink} INSERT INTO s SELECT ts - at AS d FROM orders")


@pytest.mark.parametrize("text", ["interval + interval", "+interval", "2 * interval"])
def test_a_column_may_be_called_interval(text: str) -> None:
    made = bound(f"CREATE STREAM i (interval INT); SELECT {text} AS x FROM i").queries[0].plan
    assert isinstance(made, Project)
    assert type_name(made.columns[0][1].type) == "INT"
