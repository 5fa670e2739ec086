"""Every command on a pseudo-terminal: its exit code, what it writes, and how it leaves things."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from sqlwin import __version__
from sqlwin.commands.parser import parser
from tests.support.terminal import COMMANDS, PATIENCE, SQLWIN, Terminal

COLUMNS = 60
TABLE = [
    ("new .", 0, "written: fares.sql, rides.csv, fares.golden"),
    ("new .", 2, "error: fares.sql is there already"),
    ("check fares.sql", 0, "fares.sql: 1 query, no mistakes"),
    ("check none.sql", 2, "error: cannot read none.sql"),
    ("explain fares.sql", 0, "WindowAggregate tumbling 5 minutes"),
    ("explain fares.golden", 2, "error: "),
    ("explain fares.sql --format mermaid", 0, "flowchart TD"),
    ("fmt --check fares.sql", 0, ""),
    ("fmt fares.golden", 2, "error: fares.golden: "),
    ("infer rides.csv", 0, "CREATE STREAM rides ("),
    ("infer none.csv", 2, "error: no file matches none.csv"),
    ("test", 0, "1 golden on embedded: 1 passed"),
    ("test none", 2, "error: "),
    ("timeline fares.golden -o fares.svg", 0, "fares.svg"),
    ("timeline fares.sql -o fares.doc", 2, "error: fares.doc is none of .html, .svg, .png"),
    ("run fares.sql --engine embedded --checkpoint kept", 0, "done: 10 rows read"),
    ("run fares.sql --engine embedded --plain", 0, "done: 10 rows read"),
    ("run fares.sql --engine embedded --plain --ui 0 --record r.jsonl", 0, "http://127.0.0.1:"),
    ("timeline r.jsonl -o r.html", 0, "r.html"),
    ("run fares.sql --engine embedded --param x", 2, "error: --param 'x' is not name=value"),
    ("state kept", 0, "revisions  (zone"),
    ("state none", 2, "error: none is no checkpoint"),
    ("shell -c \"SHOW FUNCTIONS LIKE 'ucase'\"", 0, "ucase"),
    ("shell -c 'SELECT a FROM b'", 2, "error: no stream or view is called b"),
    ("completion fish", 0, "complete --command sqlwin"),
    ("doctor --quick", 0, "Notebooks"),
]
"""Command lines, one after the other in one folder; the exit code, and what is said once."""
VIEW = "--checkpoint kept"
"""Of the command line that draws a view; all others write lines, of no colour."""
TABULAR = (f"run fares.sql --engine embedded {VIEW}", "state")
"""What draws tables alone, which are no wider than the terminal."""


def test_the_table_has_every_command() -> None:
    (commands,) = (each for each in parser()._actions if each.dest == "command")
    assert {line.split()[0] for line, *_ in TABLE} == {*(commands.choices or ())}


@pytest.mark.long
def test_every_command(tmp_path: Path) -> None:
    """In one process, for the imports take longest."""
    with Terminal(COMMANDS, tmp_path, os.environ, size=(100, COLUMNS)) as terminal:
        terminal.wait("$")
        modes = terminal.modes
        for line, code, wanted in TABLE:
            said = _answered(terminal, line)
            assert said[-1] == f"exit code {code}", said
            assert "\n".join(said).count(wanted) == 1 or not wanted, (line, said)
            assert not line.startswith(TABULAR) or max(map(len, said)) <= COLUMNS, said
            assert (terminal.modes, terminal.left_clean) == (modes, True), line


@pytest.mark.parametrize(
    ("option", "wanted"), [("--version", f"sqlwin {__version__}"), ("--help", "doctor")]
)
def test_an_option_that_ends_the_command(option: str, wanted: str, tmp_path: Path) -> None:
    with Terminal([*SQLWIN, option], tmp_path, os.environ) as terminal:
        assert terminal.ended() == 0
        assert wanted in terminal.text
        assert terminal.left_clean


def _answered(terminal: Terminal, line: str) -> list[str]:
    before, prompts = len(terminal.written), terminal.text.count("\n$")
    terminal.send(f"{line}\r")
    terminal.wait("\n$", prompts + 1)
    said = terminal.written[before:].decode()
    assert ("\x1b" in said) == (VIEW in line), said
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said)
    return [each.rstrip() for each in re.split(r"[\r\n]+", plain)][1:-1]


INTERRUPTED = ["run", "check", "explain", "fmt", "test", "timeline", "shell"]


@pytest.mark.parametrize("command", INTERRUPTED)
def test_ctrl_c_while_a_file_is_read(command: str, tmp_path: Path) -> None:
    """It is a pipe that nobody writes to."""
    file = tmp_path / ("a.golden" if command == "test" else "a.sql")
    os.mkfifo(file)
    with Terminal([*SQLWIN, command, file.name], tmp_path, os.environ) as terminal:
        modes, writer = terminal.modes, _opened(file)
        terminal.send("\x03")
        assert terminal.ended() == 130
        os.close(writer)
        assert terminal.written.decode().split("\r\n")[0].startswith("^Cinterrupted")
        assert terminal.written.count(b"\r\n") == 1
        assert (terminal.modes, terminal.left_clean) == (modes, True)


def _opened(pipe: Path) -> int:
    """Once somebody reads from it."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < until, "nobody reads"
            time.sleep(0.05)
