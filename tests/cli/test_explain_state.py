"""`sqlwin explain --rate --keys`: the state to expect, below the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.cli import MISTAKE, main

DECLARED = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
"""
TUMBLE = """
SELECT product, window_start, COUNT(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start
"""

MEDIAN = "SELECT product, MEDIAN(value) AS mid FROM orders GROUP BY product"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "q.sql"


def explained(file: Path, sql: str, *more: str) -> int:
    file.write_text(DECLARED + sql)
    return main(["explain", str(file), *more])


def test_there_are_as_many_ttl_entries_as_keys(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = (
        "SET 'state.ttl' = '7 days'; SELECT product, COUNT(*) AS n FROM orders GROUP BY product"
    )
    assert explained(file, counts, "--rate", "1000/s", "--keys", "50") == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["ttl_entries", "50", "records"] in [line.split()[:3] for line in lines]


def test_it_stands_below_the_plan(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(file, TUMBLE) == 0
    plan = capsys.readouterr().out
    assert explained(file, TUMBLE, "--rate", "6e4/min", "--keys", "50") == 0
    out = capsys.readouterr().out
    assert out.startswith(plan)
    state = out.removeprefix(plan).strip().splitlines()
    assert state[0] == "State of screen at 1,000 rows a second of 50 keys:"
    assert [line.split()[0] for line in state[1:]] == ["panes", "revisions", "total"]
    assert state[2].split()[1:] == ["0", "records", "0", "B"]


def test_wider_strings_are_more_bytes_of_as_many_records(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = []
    for width in ("0", "1000"):
        explained(file, TUMBLE, "--rate", "10/s", "--keys", "1e4", "--width", width)
        totals.append(capsys.readouterr().out.splitlines()[-1].split())
    assert totals[0][1] == totals[1][1]
    assert totals[0][3:] != totals[1][3:]


def test_unbounded_state_is_said_to_be_so_and_why(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explained(file, MEDIAN, "--rate", "1/s", "--keys", "9") == 0
    out = capsys.readouterr().out
    assert "messages   unbounded: an aggregate of the whole stream needs every message of it" in out
    assert out.splitlines()[-1].split() == ["total", "unbounded"]


def test_a_query_without_windows_has_none(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(file, "SELECT product FROM orders", "--rate", "1/s", "--keys", "9") == 0
    assert capsys.readouterr().out.endswith("State of screen at 1 rows a second of 9 keys: none\n")


@pytest.mark.parametrize("given", [["--rate", "1/s"], ["--keys", "9"], ["--width", "9"]])
def test_rate_and_keys_go_together(
    file: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert explained(file, TUMBLE, *given) == MISTAKE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: --rate and --keys go together: explain q.sql --rate 1000/s")


def test_a_bad_rate_is_a_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(file, TUMBLE, "--rate", "fast", "--keys", "9") == MISTAKE
    assert "legal: 1000/s, 5e4/min, 2/h, 10/day" in capsys.readouterr().err
