"""The shell on a pseudo-terminal, as a person uses it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from prompt_toolkit.history import InMemoryHistory

from sqlwin.shell.terminal import _history
from tests.support.terminal import SQLWIN, Terminal

CSV = """\
zone,fare,ts
north,3.5,2024-01-01T09:00:10Z
south,4,2024-01-01T09:01:40Z
north,1,2024-01-01T09:00:20Z
"""


def test_a_session(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text(CSV)
    env = {**os.environ, "SQLWIN_HISTORY": str(tmp_path / "history")}
    with Terminal([*SQLWIN, "shell"], tmp_path, env) as shell:
        shell.wait("sqlwin>")
        _declares_over_two_lines(shell)
        _shows_a_mistake(shell)
        _completes(shell)
        _follows_until_ctrl_c(shell)
        shell.send("\x03exit\r")  # at the prompt, Ctrl-C does no more than forget the line
        assert shell.ended() == 0
    assert "+CREATE STREAM taps" in (tmp_path / "history").read_text()


def _declares_over_two_lines(shell: Terminal) -> None:
    shell.send("CREATE STREAM taps (n BIGINT,\r")
    shell.wait("...>")
    shell.send("ts TIMESTAMP, WATERMARK FOR ts AS ts);\r")
    shell.wait("sqlwin>", 2)
    shell.send("\\d\r")
    assert "taps  stream  n BIGINT, ts TIMESTAMP" in shell.wait("sqlwin>", 3)


def _shows_a_mistake(shell: Terminal) -> None:
    shell.send("SELECT zonne FROM 'rides.csv';\r")
    screen = shell.wait("sqlwin>", 4)
    assert "did you mean zone?" in screen
    assert "  |        ^^^^^" in screen


def _completes(shell: Terminal) -> None:
    shell.send("SELE\t")
    shell.wait("sqlwin> SELECT", 2)
    shell.send(" zone, fare FROM 'ri\t")
    shell.wait("zone, fare FROM 'rides.csv")
    shell.send("' ORDER BY fare DESC LIMIT 2;\r")
    screen = shell.wait("sqlwin>", 5)
    assert "zone   fare\nsouth   4.0\nnorth   3.5" in screen


def _follows_until_ctrl_c(shell: Terminal) -> None:
    shell.send("\\follow on\r")
    shell.wait("sqlwin>", 6)
    shell.send("SELECT zone, fare FROM 'rides.csv';\r")
    shell.wait("north   1.0  +I  full         0")
    shell.send("\x03")
    shell.wait("3 rows read, 3 results", 2)
    shell.wait("sqlwin>", 7)


def test_statements_that_explain(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text(CSV)
    env = {**os.environ, "SQLWIN_HISTORY": str(tmp_path / "history")}
    with Terminal([*SQLWIN, "shell"], tmp_path, env) as shell:
        shell.wait("sqlwin>")
        shell.send("SHOW FUNCTIONS LIKE 'ucas*'; EXPLAIN SELECT zone FROM 'rides.csv';\r")
        screen = shell.wait("sqlwin>", 2)
        assert "\nucase\nOutput: screen\n" in screen
        shell.send("EXPLAIN ANALYZE SELECT COUNT(*) AS n FROM 'rides.csv' GROUP BY zone;\r")
        screen = shell.wait("sqlwin>", 3)
        assert "(rows in 3, late 0, expired 0, rows out " in screen
        assert "Time: read " in screen
        shell.send("quit;\r")
        assert shell.ended() == 0


def test_ctrl_c_ends_each_query_that_follows(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text(CSV)
    env = {**os.environ, "SQLWIN_HISTORY": str(tmp_path / "history")}
    with Terminal([*SQLWIN, "shell", "--follow"], tmp_path, env) as shell:
        shell.wait("sqlwin>")
        shell.send("SELECT zone FROM 'rides.csv'; SELECT fare FROM 'rides.csv';\r")
        for result, times in (("north  +I", 2), (" 1.0  +I", 1)):
            shell.wait(result, times)
            shell.send("\x03")
        shell.wait("3 rows read, 3 results", 2)
        shell.wait("sqlwin>", 2)
        shell.send("\x04")
        assert shell.ended() == 0


def test_a_redirected_shell_writes_answers_only(tmp_path: Path) -> None:
    env = {**os.environ, "SQLWIN_HISTORY": str(tmp_path / "history")}
    command = f"exec {shlex.join(SQLWIN)} shell > answers"
    with Terminal(["sh", "-c", command], tmp_path, env) as shell:
        shell.wait("sqlwin>")
        shell.send("SHOW FUNCTIONS LIKE 'ucase';\r")
        shell.wait("sqlwin>", 2)
        shell.send("\x04")
        assert shell.ended() == 0
    assert (tmp_path / "answers").read_text() == "ucase\n"


def test_a_user_without_a_home_has_a_history_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    for name in ("SQLWIN_HISTORY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(_history(), InMemoryHistory)
