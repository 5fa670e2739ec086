"""The error stream of a run: EXPIRED INTO a sink, batch by batch, and counted by reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwin.cli import main

SCRIPT = """
CREATE STREAM orders (
  value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = 'totals');
CREATE SINK bad WITH (connector = 'files', path = 'bad');
INSERT INTO totals
SELECT window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end
EXPIRED INTO bad;
"""
FILES = [
    [(1, "09:10:00"), ("two", "09:10:00")],
    [(3, "09:11:00")],
    [(4, "09:00:00"), (5, None), (6, "09:12:00")],
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "orders").mkdir()
    (tmp_path / "q.sql").write_text(SCRIPT)
    return tmp_path


def land(home: Path, *numbers: int) -> None:
    for number in numbers:
        rows = (
            {"value": value, "ts": time and f"2024-01-01T{time}Z"} for value, time in FILES[number]
        )
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (home / "orders" / f"{number}.jsonl").write_text(lines)


def run(home: Path, *more: object) -> int:
    return main(["run", str(home / "q.sql"), "--engine", "embedded", *map(str, more)])


def written(home: Path, sink: str) -> dict[str, list[dict[str, object]]]:
    return {
        file.name: [json.loads(line) for line in file.read_text().splitlines()]
        for file in sorted((home / sink).glob("*.jsonl"))
    }


def test_errors_go_to_their_sink_by_batch(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    land(home, 0, 1, 2)
    assert run(home) == 0
    found = written(home, "bad")
    assert {name: [row["reason"] for row in rows] for name, rows in found.items()} == {
        "part-00000001.jsonl": ["malformed: value is 'two', not a BIGINT"],
        "part-00000003.jsonl": ["no event time: ts is NULL", "expired"],
    }
    assert found["part-00000003.jsonl"][1] == {
        "stream": "orders",
        "reason": "expired",
        "ts": "2024-01-01T09:00:00Z",
        "watermark": "2024-01-01T09:11:00Z",
        "position": f"0:{2 * 2**32}",
        "row": '{"value": 4, "ts": "2024-01-01T09:00:00Z"}',
    }
    out = capsys.readouterr()
    reported = out.out + out.err
    assert "'two'" not in reported, "what has a sink is not shown"
    for count in ("1 rows, malformed", "1 rows, no event time", "1 rows, expired"):
        assert f"error stream: {count}" in reported


def test_a_run_that_goes_on_writes_no_error_twice(home: Path) -> None:
    land(home, 0)
    assert run(home, "--checkpoint", home / "state") == 0
    land(home, 1, 2)
    assert run(home, "--checkpoint", home / "state", "--drain") == 0
    rows = [row for rows in written(home, "bad").values() for row in rows]
    assert [row["reason"] for row in rows] == [
        "malformed: value is 'two', not a BIGINT",
        "no event time: ts is NULL",
        "expired",
    ]


def test_a_sink_that_is_not_declared_is_refused_when_run(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(home, 0)
    text = SCRIPT.replace("CREATE SINK bad WITH (connector = 'files', path = 'bad');\n", "")
    (home / "q.sql").write_text(text)
    assert run(home) == 2
    reported = capsys.readouterr().err
    assert "EXPIRED INTO bad: no sink is called bad" in reported
    assert "legal: CREATE SINK bad WITH (…) before the query" in reported
    assert not (home / "totals").exists()


def test_expired_count_writes_no_expired_row(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(home, 0, 1, 2)
    (home / "q.sql").write_text(SCRIPT.replace("EXPIRED INTO bad", "EXPIRED COUNT"))
    assert run(home) == 0
    reported = capsys.readouterr().err
    assert written(home, "bad") == {}
    assert "error stream: 1 rows, expired" in reported
    assert '"value": 4' not in reported
    assert "malformed: value is 'two', not a BIGINT" in reported, "others are shown as ever"


def test_results_and_errors_may_share_a_sink(home: Path) -> None:
    land(home, 0, 1, 2)
    (home / "q.sql").write_text(SCRIPT.replace("EXPIRED INTO bad", "EXPIRED INTO totals"))
    assert run(home) == 0
    found = written(home, "totals")
    assert [name for name in found if name.startswith("part-2-")] == [
        "part-2-00000001.jsonl",
        "part-2-00000003.jsonl",
    ]
    totals = [row["total"] for rows in found.values() for row in rows if "total" in row]
    assert sorted(totals) == [1, 3, 6]


def test_a_query_without_a_window_has_an_error_stream_too(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(home, 0, 2)
    windowed = SCRIPT[SCRIPT.index("SELECT") : SCRIPT.index("EXPIRED")]
    text = SCRIPT.replace(windowed, "SELECT value FROM orders ")
    (home / "q.sql").write_text(text)
    assert run(home) == 0
    found = [row for rows in written(home, "bad").values() for row in rows]
    assert [row["reason"] for row in found] == ["malformed: value is 'two', not a BIGINT"]
    (home / "q.sql").write_text(text.replace("INTO bad", "INTO worse"))
    assert run(home) == 2
    assert "EXPIRED INTO worse: no sink is called worse" in capsys.readouterr().err
