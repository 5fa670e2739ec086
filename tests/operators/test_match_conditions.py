"""How much a condition that reads the match lifts: each row once for each attempt that maps it."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.instants import SECOND, format_instant
from sqlwin.operators.matches.reading import Reading
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script

STREAM = "CREATE STREAM s (id BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id);"
START = 1_704_099_600 * SECOND
ROWS = 150


def lifted(monkeypatch: pytest.MonkeyPatch, pattern: str, define: str) -> tuple[int, list[Any]]:
    """Rows that are lifted for conditions over 150 rows, of which the last has v = 9, and the
    matches."""
    counts: list[int] = []
    flagged = Reading.flagged

    def counted(self: Reading, numbers: Any, *rest: Any) -> Any:
        counts.append(len(numbers))
        return flagged(self, numbers, *rest)

    monkeypatch.setattr(Reading, "flagged", counted)
    text = (
        f"{STREAM} SELECT * FROM s MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(id) AS last_id "
        f"PATTERN ({pattern}) DEFINE {define})"
    )
    query = EmbeddedQuery(script(text), explain)
    values = [1] * (ROWS - 1) + [9]
    query.push("s", [row(at, value) for at, value in enumerate(values)])
    counts.clear()
    query.drain()
    return sum(counts), [found["last_id"] for found in query.results().to_pylist()]


def row(at: int, value: int) -> dict[str, Any]:
    return {"id": at, "v": value, "ts": format_instant(START + at * SECOND)}


def test_a_row_that_is_mapped_is_lifted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lifted(monkeypatch, "^ a+ b", "a AS SUM(a.v) < 1000, b AS v = 9")
    assert found[1] == [ROWS - 1]
    assert found[0] <= 2 * ROWS


@pytest.mark.long
def test_so_are_those_of_nested_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """In which each row may be the next of a round, or the first of another."""
    found = lifted(monkeypatch, "^ (a+)+ b", "a AS SUM(a.v) < 1000, b AS v = 8")
    assert found[1] == []
    assert found[0] <= 4 * ROWS


def test_rows_that_were_mapped_without_the_condition_are_lifted_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The condition of b is asked behind each number of a, the greatest first."""
    found = lifted(monkeypatch, "^ a+ b", "a AS v > 0, b AS SUM(a.v) > 100000")
    assert found[1] == []
    assert found[0] <= 3 * ROWS
