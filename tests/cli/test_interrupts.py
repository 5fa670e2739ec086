"""Ctrl-C, once and again, at whatever moment: one line, and 130."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

CLOSING = """
import signal, sys, time
import sqlwin.embedded.run as run
from sqlwin import cli
from sqlwin.embedded.script_query import ScriptQuery

def interrupted(*_):
    signal.raise_signal(signal.SIGINT)

run._loop = interrupted
close = ScriptQuery.close

def closed(self):
    if "closing" in sys.argv[0]:
        signal.raise_signal(signal.SIGINT)
    close(self)

ScriptQuery.close = closed
if "ending" in sys.argv[0]:
    import atexit
    atexit.register(interrupted)
code = cli.main()
sys.exit(code)
"""
COMPUTING = """
import os, signal, sys, threading
from sqlwin import cli

def computing(*_):
    import polars as pl
    rows = pl.DataFrame({"n": range(300_000)}).lazy()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        rows.with_columns(k=pl.col("n").sin().sort()).group_by("k").agg(pl.len()).collect()

imported = cli._module

def module(command):
    found = imported(command)
    import sqlwin.embedded.run as run
    run._loop = computing
    return found

cli._module = module
sys.exit(cli.main())
"""
TEXT = """
CREATE STREAM orders (v BIGINT) WITH (connector = 'files', path = 'orders.jsonl');
SELECT v FROM orders;
"""


def interrupted(again: str) -> list[str]:
    begin = f"import sys; sys.argv[0] = '{again}'\n{CLOSING}"
    return [sys.executable, "-c", begin, "run", "q.sql", "--engine", "embedded"]


@pytest.mark.long
@pytest.mark.parametrize("again", ["never", "closing", "ending"])
def test_a_second_ctrl_c_leaves_no_traceback(tmp_path: Path, again: str) -> None:
    (tmp_path / "orders.jsonl").write_text('{"v": 1}\n')
    (tmp_path / "q.sql").write_text(TEXT)
    command = interrupted(again)
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    line = "interrupted: nothing is kept; with --checkpoint DIR a run can go on where it was\n"
    assert (ended.stderr, ended.returncode) == (line, 130)


def test_a_second_ctrl_c_leaves_a_cursor(tmp_path: Path) -> None:
    (tmp_path / "orders.jsonl").write_text('{"v": 1}\n')
    (tmp_path / "q.sql").write_text(TEXT)
    with Terminal(interrupted("closing"), tmp_path, os.environ) as run:
        assert run.ended() == 130
        assert "\ninterrupted: nothing is kept" in run.text
        assert not run.screen.cursor.hidden


def test_a_ctrl_c_while_polars_computes_is_one(tmp_path: Path) -> None:
    """It raises KeyboardInterrupt by itself, and Python would once more, where the run ends."""
    (tmp_path / "orders.jsonl").write_text('{"v": 1}\n')
    (tmp_path / "q.sql").write_text(TEXT)
    command = [sys.executable, "-c", COMPUTING]
    ended = subprocess.run(
        [*command, "run", "q.sql", "--engine", "embedded", "--follow"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.stderr.endswith(
        "stopped: nothing is kept; with --checkpoint DIR a run can go on where it was\n"
    )
    assert ended.returncode == 0
