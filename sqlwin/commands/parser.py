"""What the command line takes: each command with its arguments."""

from __future__ import annotations

import argparse
import re
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from sqlwin import __version__
from sqlwin.commands.numbers import within

ROWS, BATCHES, SECONDS = within(1, 1_000_000_000), within(1, 100_000), within(0.0, 1e9)


_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(?P<given>[^']*)'.*", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Of the command line, and of each command."""

    def error(self, message: str) -> NoReturn:
        """With the command that was meant, as of `sqlwin rnu`."""
        unknown = _NO_COMMAND.fullmatch(message)
        if unknown is not None:
            (commands,) = (each for each in self._actions if each.dest == "command")
            near = get_close_matches(unknown["given"], names := list(commands.choices or ()), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            message = f"there is no command {unknown['given']}{meant}\nlegal: {', '.join(names)}"
        super().error(message)


def parser() -> argparse.ArgumentParser:
    made = Parser(prog="sqlwin", description="streaming window SQL")
    made.add_argument("--version", action="version", version=f"sqlwin {__version__}")
    commands = made.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    run = commands.add_parser("run", help="run a script over its own sources and sinks")
    explain_ = commands.add_parser("explain", help="show the plan of a script's queries")
    check = commands.add_parser("check", help="look for mistakes, run nothing")
    for command in (run, explain_, check):
        command.add_argument("file", type=Path, help="the script; - is standard input")
        command.add_argument(
            "--param", action="append", default=[], metavar="name=value", help="a :name parameter"
        )
    explain_.add_argument("--format", choices=("text", "json", "mermaid", "svg"), default="text")
    explain_.add_argument("--rate", metavar="ROWS/UNIT", help="and the state to expect: 1000/s")
    explain_.add_argument("--keys", metavar="N", help="of so many distinct keys: 1e6")
    explain_.add_argument("--width", metavar="BYTES", help="of a string, 16 where not given")
    explain_.add_argument("--analyze", action="store_true", help="run it, and what was measured")
    explain_.add_argument(
        "--engine", choices=("spark", "embedded"), default="embedded", help="of --analyze"
    )
    run.add_argument(
        "--engine", choices=("spark", "embedded"), default="spark", help="where; spark if left out"
    )
    run.add_argument(
        "--output", choices=("table", "json", "csv"), default="table", help="how results are shown"
    )
    run.add_argument("--checkpoint", type=Path, metavar="DIR", help="keep state here between runs")
    run.add_argument("--drain", action="store_true", help="close every window at the end")
    run.add_argument("--follow", action="store_true", help="go on as files arrive")
    run.add_argument(
        "--max-errors", metavar="N|P%", help="malformed rows that are still taken, or their share"
    )
    run.add_argument(
        "--metrics", metavar="FILE|PORT", help="of each batch: JSON lines, or for Prometheus"
    )
    run.add_argument(
        "--conf", action="append", default=[], metavar="spark.name=value", help="a setting of Spark"
    )
    run.add_argument("--plain", action="store_true", help="lines, and no view that is redrawn")
    run.add_argument(
        "--record", type=Path, metavar="FILE", help="keep what happened, for sqlwin timeline"
    )
    run.add_argument("--ui", type=int, metavar="PORT", help="a live page on this machine")
    run.add_argument("--log", choices=("text", "json"), default="text", help="how stderr is")
    _add_test(commands.add_parser("test", help="run goldens: queries with what they are to emit"))
    infer = commands.add_parser("infer", help="print the CREATE STREAM that reads a file")
    infer.add_argument("file", help="CSV, JSON lines or Parquet; a folder or a pattern of them")
    infer.add_argument("--name", help="of the stream; else that of the file")
    _add_timeline(commands.add_parser("timeline", help="draw what came, and what was emitted"))
    _add_state(commands.add_parser("state", help="ask the state that a checkpoint keeps"))
    _add_shell(commands.add_parser("shell", help="type statements, or pipe them in"))
    new = commands.add_parser("new", help="write a first project: a query, its data, a test")
    new.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    fmt = commands.add_parser("fmt", help="lay out scripts, and nothing else of them")
    fmt.add_argument("files", nargs="+", type=Path, metavar="FILE", help="- is standard input")
    fmt.add_argument("--check", action="store_true", help="write nothing; 1 where one would change")
    completion = commands.add_parser("completion", help="complete this command in a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    doctor = commands.add_parser("doctor", help="look whether this machine has what a run needs")
    doctor.add_argument("--quick", action="store_true", help="start no engine")
    return made


def _add_shell(shell: argparse.ArgumentParser) -> None:
    shell.add_argument("file", nargs="?", type=Path, help="statements to begin with")
    shell.add_argument(
        "--engine", choices=("embedded", "spark"), default="embedded", help="where queries run"
    )
    shell.add_argument(
        "--output", choices=("table", "json", "csv"), default="table", help="how results are shown"
    )
    shell.add_argument("--follow", action="store_true", help="queries go on as files arrive")
    shell.add_argument(
        "-c", "--command", dest="command_text", metavar="TEXT", help="answer this, and leave"
    )


def _add_state(state: argparse.ArgumentParser) -> None:
    state.add_argument("file", type=Path, metavar="CHECKPOINT", help="of either engine")
    state.add_argument("--key", metavar="JSON", help='the windows of a key: \'"tea"\', {"k": 1}')
    state.add_argument("--from", dest="since", metavar="TS", help="windows, or messages, from here")
    state.add_argument("--to", metavar="TS", help="to here, both included")
    state.add_argument("--store", metavar="NAME", help="the records of one store")
    state.add_argument("--sql", metavar="SELECT", help="a SELECT over the stores by name")
    state.add_argument("--batch", type=int, metavar="N", help="as of an earlier batch")
    state.add_argument("--query", type=int, default=0, metavar="N", help="of the script, from 0")
    state.add_argument(
        "--status", action="store_true", help="batch, watermarks, input positions, sizes"
    )
    state.add_argument("--format", choices=("table", "json", "csv"), default="table")
    _add_moves(state)


def _add_moves(state: argparse.ArgumentParser) -> None:
    state.add_argument("--export", type=Path, metavar="FILE", help="the checkpoint as one file")
    state.add_argument(
        "--import", dest="import_", type=Path, metavar="FILE", help="make it of such a file"
    )
    state.add_argument(
        "--engine", choices=("spark", "embedded"), help="with --import: whose checkpoint"
    )
    state.add_argument("--repartition", type=int, metavar="N", help="cut it into N buckets")
    state.add_argument(
        "--buckets", type=int, metavar="N", help="with --import: of each stage on Spark"
    )
    state.add_argument(
        "--partitions", type=int, metavar="N", help="with the same two: of Spark's shuffle"
    )


def _add_test(test: argparse.ArgumentParser) -> None:
    test.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="goldens, or folders of them"
    )
    test.add_argument(
        "--engine", choices=("embedded", "spark", "both"), default="embedded", help="where"
    )
    test.add_argument("--only", default="", metavar="TEXT", help="goldens with this in their name")
    test.add_argument("--update", action="store_true", help="write what the queries emit now")
    test.add_argument("--junit", type=Path, metavar="FILE", help="results as JUnit's XML too")
    test.add_argument("--new", type=Path, metavar="QUERY.sql", help="write a golden of its rows")
    test.add_argument("-o", "--output", type=Path, metavar="FILE", help="of --new")
    test.add_argument("--query", metavar="SINK", help="of --new: which of several queries")
    test.add_argument("--rows", type=ROWS, default=20, metavar="N", help="of each stream of --new")
    test.add_argument(
        "--param", action="append", default=[], metavar="name=value", help="a parameter of --new"
    )


def _add_timeline(timeline: argparse.ArgumentParser) -> None:
    timeline.add_argument("file", type=Path, help="a script, a .golden, or a .jsonl of --record")
    timeline.add_argument("-o", "--output", type=Path, metavar="FILE", help=".html, .svg or .png")
    timeline.add_argument(
        "--only", action="append", default=[], metavar="column=value", help="rows and results of it"
    )
    timeline.add_argument("--from", dest="since", metavar="TS", help="event time from here")
    timeline.add_argument("--to", metavar="TS", help="event time to here")
    timeline.add_argument("--rows", type=ROWS, metavar="N", help="of a script: of each stream")
    timeline.add_argument("--batches", type=BATCHES, metavar="N", help="that they are cut into")
    timeline.add_argument(
        "--pace", type=SECONDS, metavar="SECONDS", help="of processing time between two batches"
    )
    timeline.add_argument("--query", type=int, metavar="N", help="of a script with several")
    timeline.add_argument(
        "--param", action="append", default=[], metavar="name=value", help="a :name parameter"
    )
