"""How many attempts a late row costs: those that may reach it, and not all that are retained."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.instants import SECOND, format_instant
from sqlwin.operators.matches.matching import _Run
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script

STREAM = "CREATE STREAM s (id BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id);"
START = 1_704_099_600 * SECOND
ROWS = 2_000


WITHIN = "a b+) WITHIN INTERVAL '10' SECOND"


def attempts(
    monkeypatch: pytest.MonkeyPatch, values: list[int], late: int, pattern: str = WITHIN
) -> int:
    """Attempts for a row that comes half a second behind row `late` of those of each second."""
    text = (
        f"{STREAM} SELECT * FROM s MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n "
        f"PATTERN ({pattern} DEFINE a AS v = 1, b AS v = 2) "
        "EMIT LATE ON UPDATE RETAIN 10 HOURS"
    )
    query = EmbeddedQuery(script(text), explain)
    query.push("s", [row(at, value, at * SECOND) for at, value in enumerate(values)])
    query.results()
    counts: list[int] = []
    begun = _Run.begun

    def counted(self: _Run, at: int) -> Any:
        counts.append(at)
        return begun(self, at)

    monkeypatch.setattr(_Run, "begun", counted)
    query.push("s", [row(len(values), 2, late * SECOND + SECOND // 2)])
    assert len(query.results())
    return len(counts)


def row(at: int, value: int, ts: int) -> dict[str, Any]:
    return {"id": at, "v": value, "ts": format_instant(START + ts)}


def test_attempts_begin_where_a_match_may_reach_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for what changes and once for the values that go out."""
    values = [1, 2, 0, 0] * (ROWS // 4)
    assert attempts(monkeypatch, values, ROWS - 3) <= 2 * 20


def test_so_they_do_where_no_match_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0] * (ROWS - 10) + [1, 2] + [0] * 8
    assert attempts(monkeypatch, values, ROWS - 9) <= 2 * 25


@pytest.mark.parametrize("pattern", ["a b{1,3} c?)", "a b b?)"])
def test_so_they_do_where_a_match_has_a_greatest_length(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [1, 2, 0, 0] * (ROWS // 4)
    assert attempts(monkeypatch, values, ROWS - 3, pattern) <= 2 * 20
    assert attempts(monkeypatch, [0] * (ROWS - 10) + [1, 2] + [0] * 8, ROWS - 9, pattern) <= 2 * 25
