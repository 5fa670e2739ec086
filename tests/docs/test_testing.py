"""The commands of docs/testing.md, in a folder with the files they name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sqlwin.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
QUERY = """\
CREATE STREAM rides (zone STRING, fare DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rides.csv', format = 'csv');
SELECT zone, window_start, SUM(fare) AS total
FROM TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY zone, window_start;
"""
ROWS = "zone,fare,ts\nnorth,3.5,2024-01-01T09:00:10Z\nnorth,2,2024-01-01T09:01:10Z\n"


def test_the_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "fares.sql").write_text(QUERY)
    (tmp_path / "rides.csv").write_text(ROWS)
    shown = re.findall(r"^sqlwin test.*", PAGE.read_text(encoding="utf-8"), re.M)
    commands = [shlex.split(line, comments=True)[1:] for line in shown]
    assert len(commands) == 6
    for command in commands:
        assert main([word.replace("both", "embedded") for word in command]) == 0, command
    assert (tmp_path / "out" / "results.xml").is_file()
    assert "param minutes: 10" in (tmp_path / "tests" / "fares.golden").read_text()
    assert "passed" in capsys.readouterr().out
