"""EXPLAIN ANALYZE: the plan, with what each operator did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sqlwin.cli import main

CHAIN = """
CREATE STREAM taps (door STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'taps', format = 'csv');
CREATE SINK kept WITH (connector = 'files', path = 'kept', format = 'json');
{} INSERT INTO kept
SELECT window_start, MAX(n) AS most FROM TUMBLE(TABLE (
  SELECT door, window_start, window_time AS ts, COUNT(*) AS n
  FROM TUMBLE(TABLE taps, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  GROUP BY door, window_start, window_end, window_time
), DESCRIPTOR(ts), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;
"""
OPERATOR = re.compile(
    r"\(rows in (\d+), late (\d+), expired (\d+), rows out (\d+); ([^;]*); ([\d.]+) s\)"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taps").mkdir()
    Path("taps/1.csv").write_text("door,ts\na,2024-01-01T09:00:10Z\nb,2024-01-01T09:05:00Z\n")
    late = "a,2024-01-01T09:04:30Z\na,2024-01-01T09:00:20Z\n"
    Path("taps/2.csv").write_text(f"door,ts\n{late}b,2024-01-01T09:06:00Z\n")


@pytest.mark.parametrize(("statement", "options"), [("EXPLAIN ANALYZE", []), ("", ["--analyze"])])
def test_of_a_chain(statement: str, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sql").write_text(CHAIN.format(statement))
    command = (
        ["explain", "q.sql", *options] if options else ["run", "q.sql", "--engine", "embedded"]
    )
    assert main(command) == 0
    said = capsys.readouterr().out
    above, below = OPERATOR.findall(said)
    assert below[:4] == ("4", "1", "1", "4")  # a tap is late, another expired
    assert above[:4] == ("4", "1", "0", "1")  # so its minute is late in its hour
    assert "state at most" in below[4]
    assert "Measured: 5 rows read, 1 results in 3 batches; error stream: 1 expired" in said
    assert not Path("kept").exists()


def test_explain_alone_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sql").write_text(CHAIN.format("EXPLAIN"))
    assert main(["run", "q.sql", "--engine", "embedded"]) == 0
    assert "Measured" not in capsys.readouterr().out


def test_a_query_without_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell", "-c", "EXPLAIN ANALYZE SELECT door FROM 'taps' WHERE door = 'a'"]) == 0
    said = capsys.readouterr().out
    assert "Project door\n  (rows in 3," in said
    assert "no state" in said


@pytest.mark.spark
@pytest.mark.long
def test_on_spark(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sql").write_text(CHAIN.format("EXPLAIN ANALYZE"))
    assert main(["explain", "q.sql", "--analyze", "--engine", "spark"]) == 0
    above, below = OPERATOR.findall(capsys.readouterr().out)
    assert (below[0], below[3], above[3]) == ("5", "4", "1")  # both files are one batch
    assert "state at most" in above[4]
