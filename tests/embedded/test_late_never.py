"""LATE NEVER beside a RETAIN: what comes late corrects nothing, and is counted."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import sqlwin
from sqlwin.cli import main

START = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
CLICKS = "CREATE STREAM clicks (k STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
TUMBLE = f"""{CLICKS}
    SELECT k, window_start, COUNT(*) AS n
    FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY k, window_start, window_end"""
SESSION = f"""{CLICKS}
    SELECT k, window_start, COUNT(*) AS n
    FROM SESSION(TABLE clicks PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
    GROUP BY k, window_start, window_end"""
OVER = f"""{CLICKS}
    SELECT k, COUNT(*) OVER (ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS n FROM clicks"""
NEVER = "\nEMIT LATE NEVER RETAIN INTERVAL '10' MINUTE"
WARNING = "LATE NEVER corrects no result by rows within RETAIN; they are counted as late"


def fed(text: str, *minutes: float) -> sqlwin.EmbeddedQuery:
    query = sqlwin.query(text)
    for minute in minutes:
        query.push("clicks", [{"k": "a", "ts": START + timedelta(minutes=minute)}])
    return query


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (TUMBLE, {"late": 2, "expired": 1}),  # 20.5 lies in a minute that is open
        (SESSION, {"late": 2, "expired": 1}),
        (OVER, {"late": 3, "expired": 1}),
    ],
)
def test_rows_behind_a_full_window_are_counted(text: str, counts: dict[str, int]) -> None:
    query = fed(text + NEVER, 20.9, 20.5, 18, 12, 5)
    assert query.refused() == counts
    assert query.expired()["reason"].to_pylist() == ["expired"]


@pytest.mark.parametrize("emit", ["", "\nEMIT LATE NEVER", "\nEMIT FINAL RETAIN INTERVAL '1' HOUR"])
def test_none_is_counted_where_corrections_are_emitted_or_waited_for(emit: str) -> None:
    query = fed(TUMBLE + emit, 20.9, 20.5, 20.1)
    assert query.refused() == {}
    assert WARNING not in query.explain()


@pytest.mark.parametrize("frame", ["RANGE INTERVAL '1' MINUTE", "RANGE UNBOUNDED"])
@pytest.mark.parametrize("emit", ["LATE NEVER", "FINAL"])
def test_an_over_row_without_a_result_of_its_own_is_counted(frame: str, emit: str) -> None:
    """It is in the frames that are open, and nobody hears of it otherwise."""
    text = f"{CLICKS} SELECT COUNT(*) OVER (ORDER BY ts {frame} PRECEDING) AS n FROM clicks"
    query = fed(f"{text} EMIT {emit}", 20, 21, 20.5)
    query.drain()
    assert query.results()["n"].to_pylist() == [1, 3]
    assert query.refused() == {"late": 1}
    assert "Warning: no correction is emitted" in query.explain()


def test_explain_and_check_warn_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"Warning: {WARNING}" in fed(TUMBLE + NEVER).explain()
    assert WARNING in fed(SESSION + NEVER).explain()
    read = ") WITH (connector = 'files', path = 'clicks/*.jsonl', format = 'json');"
    (tmp_path / "q.sql").write_text((TUMBLE + NEVER).replace(");", read, 1))
    main(["check", str(tmp_path / "q.sql")])
    assert f"warning: {WARNING}" in capsys.readouterr().out
