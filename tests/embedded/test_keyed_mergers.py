"""KIP-94's Merger: `merger(key, one, two)` is passed the key of its group."""

from __future__ import annotations

from typing import Any

import pytest

import sqlwin
from sqlwin.aggregates.python import PythonAggregate, aggregate
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import QueryError

STREAM = """
CREATE STREAM clicks (
  who STRING, page BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);
"""
SESSIONS = "SELECT who, TRAIL(page) AS t FROM clicks WINDOW SESSION (10 SECONDS) GROUP BY who"
HOP = "HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)"


def trail(keys: list[Any]) -> PythonAggregate:
    """Pages in a row, and the keys that were merged."""

    def merger(key: Any, one: list[int], two: list[int]) -> list[int]:
        keys.append(key)
        return sorted(one + two)

    result = "ARRAY<BIGINT>"
    taking = lambda state, page: [*state, page]  # noqa: E731
    return aggregate(
        "trail", ["BIGINT"], result=result, initializer=list, aggregator=taking, merger=merger
    )


def run(sql: str, *rows: tuple[str | None, int, int]) -> tuple[list[Any], list[Any]]:
    """(who, page, second) a batch each: what is emitted, and the keys of merges."""
    keys: list[Any] = []
    query: EmbeddedQuery = sqlwin.query(STREAM + sql, functions=[trail(keys)])
    for who, page, second in rows:
        query.push("clicks", [{"who": who, "page": page, "ts": f"2024-01-01T09:00:{second:02}Z"}])
    query.drain()
    return query.results()["t"].to_pylist(), keys


def test_sessions_are_merged_with_their_key() -> None:
    """[0, 10) and [18, 28) become one by the row of 9."""
    found, keys = run(SESSIONS, ("ann", 1, 0), ("ann", 2, 18), ("bob", 3, 20), ("ann", 4, 9))
    assert sorted(found) == [[1, 2, 4], [3]]
    assert set(keys) == {"ann"}


def test_a_null_key_is_none() -> None:
    assert run(SESSIONS, (None, 1, 0), (None, 2, 5)) == ([[1, 2]], [None])


def test_panes_of_windows_are_merged_with_the_key_of_their_group() -> None:
    grouped = f"SELECT who, TRAIL(page) AS t FROM {HOP} GROUP BY who, window_start, window_end"
    found, keys = run(grouped, ("ann", 1, 0), ("bob", 2, 1), ("ann", 3, 12))
    assert [1, 3] in found and set(keys) == {"ann"}


def test_a_key_of_several_columns_is_a_tuple_and_none_of_none() -> None:
    several = f"SELECT TRAIL(page) AS t FROM {HOP} GROUP BY who, page % 2, window_start, window_end"
    assert set(run(several, ("ann", 1, 0), ("ann", 3, 12))[1]) == {("ann", 1)}
    none = f"SELECT TRAIL(page) AS t FROM {HOP} GROUP BY window_start, window_end"
    assert set(run(none, ("ann", 1, 0), ("bob", 3, 12))[1]) == {None}


def test_grouping_sets_pass_none_for_a_column_that_a_set_has_not() -> None:
    sets = f"""SELECT who, TRAIL(page) AS t FROM {HOP}
        GROUP BY GROUPING SETS ((who), ()), window_start, window_end"""
    assert set(run(sets, ("ann", 1, 0), ("ann", 3, 12))[1]) == {"ann", None}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TRAIL(page) OVER (ORDER BY ts RANGE 1 HOUR PRECEDING) AS t FROM clicks",
        "SELECT TRAIL(page) AS t FROM clicks OVER (ROWS 3 PRECEDING ADVANCE BY 3 ROWS)",
    ],
)
def test_where_no_group_has_a_key_it_is_refused(sql: str) -> None:
    with pytest.raises(QueryError, match="the merger of trail takes a key, which it is given for"):
        sqlwin.query(STREAM + sql, functions=[trail([])])


def test_a_merger_with_a_default_or_without_a_signature_takes_two() -> None:
    def merger(one: int, two: int, base: int = 0) -> int:
        return one + two + base

    for two in (merger, max):
        made = aggregate(
            "f", ["BIGINT"], result="BIGINT", initializer=int, aggregator=max, merger=two
        )
        assert not made.keyed
