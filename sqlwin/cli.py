"""The command line: `sqlwin run`, `explain`, `check`, `state`, `test`, `infer`.

Results go to stdout, everything else to stderr. Exit codes: 0; 2 for a mistake
in the query, with one readable message; 1 for a failure while it runs; 130 where
it was interrupted, but for --follow, which ends so.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from sqlwin import __version__
from sqlwin.checkpoint_commands import add_moves, move, moves
from sqlwin.errors import InputError, QueryError, SqlwinError
from sqlwin.interrupts import INTERRUPTED, TERMINATED, acknowledged, interruptible, terminations
from sqlwin.metrics_outlet import metrics_outlet
from sqlwin.operators.load import Load
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.explain.warnings import warnings
from sqlwin.plan.ir.nodes import Script
from sqlwin.plan.options.settings import FIXED, SPARK
from sqlwin.runtime.checkpoint.snapshot import Snapshot
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.option_reader import read_options
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sources import without_files
from sqlwin.runtime.inputs.admission import MESSAGES
from sqlwin.runtime.lowering.explained import explain, explain_script
from sqlwin.runtime.rows.malformed import limit
from sqlwin.runtime.size.load import load
from sqlwin.screen import JsonProgress, Progress, screen
from sqlwin.sql import script

MISTAKE, FAILURE = 2, 1


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    with interruptible(f"interrupted{_left(arguments)}"):
        code = _ended(arguments)
    if argv is None:
        acknowledged()
    return code


def _ended(arguments: argparse.Namespace) -> int:
    try:
        if arguments.command == "state":
            return _state(arguments)
        if arguments.command == "test":
            return _test(arguments)
        if arguments.command == "infer":
            return _infer(arguments)
        command = {"run": _run, "explain": _explain, "check": _check}[arguments.command]
        return command(arguments, _script(arguments))
    except (QueryError, InputError) as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return MISTAKE
    except BrokenPipeError:  # whoever read has enough; what Python flushes at its end too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (SqlwinError, OSError) as failure:  # a sink's folder, say, that cannot be written
        print(f"failed: {failure}", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print(f"interrupted{_left(arguments)}", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sqlwin", description="streaming window SQL")
    parser.add_argument("--version", action="version", version=f"sqlwin {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a script over its own sources and sinks")
    explain_ = commands.add_parser("explain", help="show the plan of a script's queries")
    check = commands.add_parser("check", help="look for mistakes, run nothing")
    for command in (run, explain_, check):
        command.add_argument("file", type=Path, help="the script; - is standard input")
        command.add_argument(
            "--param", action="append", default=[], metavar="name=value", help="a :name parameter"
        )
    explain_.add_argument("--rate", metavar="ROWS/UNIT", help="and the state to expect: 1000/s")
    explain_.add_argument("--keys", metavar="N", help="of so many distinct keys: 1e6")
    explain_.add_argument("--width", metavar="BYTES", help="of a string, 16 where not given")
    run.add_argument("--engine", choices=("spark", "embedded"), default="spark")
    run.add_argument("--output", choices=("table", "json", "csv"), default="table")
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
    run.add_argument("--log", choices=("text", "json"), default="text", help="how stderr is")
    _add_test(commands.add_parser("test", help="run goldens: queries with what they are to emit"))
    infer = commands.add_parser("infer", help="print the CREATE STREAM that reads a file")
    infer.add_argument("file", help="CSV, JSON lines or Parquet; a folder or a pattern of them")
    infer.add_argument("--name", help="of the stream; else that of the file")
    _add_state(commands.add_parser("state", help="ask the state that a checkpoint keeps"))
    return parser


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
    add_moves(state)


def _add_test(test: argparse.ArgumentParser) -> None:
    test.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="goldens, or folders of them"
    )
    test.add_argument("--engine", choices=("embedded", "spark", "both"), default="embedded")
    test.add_argument("--only", default="", metavar="TEXT", help="goldens with this in their name")
    test.add_argument("--update", action="store_true", help="write what the queries emit now")
    test.add_argument("--junit", type=Path, metavar="FILE", help="results as JUnit's XML too")
    test.add_argument("--new", type=Path, metavar="QUERY.sql", help="write a golden of its rows")
    test.add_argument("-o", "--output", type=Path, metavar="FILE", help="of --new")
    test.add_argument("--rows", type=int, default=20, metavar="N", help="of each stream of --new")
    test.add_argument(
        "--param", action="append", default=[], metavar="name=value", help="a parameter of --new"
    )


def _script(arguments: argparse.Namespace) -> Script:
    asked = script(_text(arguments.file), params=_params(arguments.param))
    if not asked.statements and arguments.command != "check":
        raise InputError(f"{arguments.file} asks for nothing: it has no SELECT and no INSERT INTO")
    return asked


def _text(file: Path) -> str:
    try:
        if str(file) == "-":
            return sys.stdin.read()
        return file.read_text(encoding="utf-8-sig")  # some editors begin with a mark
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text, at byte {error.start}") from None


def _params(given: list[str]) -> dict[str, str]:
    for pair in given:
        if "=" not in pair:
            raise InputError(f"--param {pair!r} is not name=value")
    return dict(pair.split("=", 1) for pair in given)


def _base(arguments: argparse.Namespace) -> Path:
    """What paths of the script are relative to."""
    return Path() if str(arguments.file) == "-" else arguments.file.parent


def _run(arguments: argparse.Namespace, asked: Script) -> int:
    progress = (JsonProgress if arguments.log == "json" else Progress)(sys.stderr)
    options = RunOptions(
        base=_base(arguments),
        checkpoint=arguments.checkpoint,
        drain=arguments.drain,
        follow=arguments.follow,
        show=screen(arguments.output, sys.stdout),
        on_errors=progress.errors,
        on_batch=progress.batch,
        on_warning=progress.warning,
        max_errors=None if arguments.max_errors is None else limit(arguments.max_errors),
        conf=_conf(arguments),
        on_started=lambda: progress.started("Spark"),
    )
    for answer in answers(asked, explain):
        print(answer)
    if not asked.queries:
        return 0
    if arguments.engine == "embedded":
        from sqlwin.embedded.run import run
    else:
        progress.starting("Spark")  # which takes seconds to say anything itself
        # it logs traces of what is raised here, and would where Ctrl-C falls into its start
        logging.getLogger().addHandler(logging.NullHandler())
        from sqlwin.spark.run import run
    with terminations() as terminated, _metrics(arguments.metrics) as on_metrics:
        summary = run(asked, replace(options, stop=terminated.is_set, on_metrics=on_metrics))
    progress.done(summary)
    if arguments.follow or summary.stopped:  # or it was interrupted
        progress.stopped(f"stopped{_left(arguments)}")
    return 0 if arguments.follow or not summary.stopped else TERMINATED


def _conf(arguments: argparse.Namespace) -> dict[str, str]:
    for pair in arguments.conf:
        name, between, _ = pair.partition("=")
        if not between or not name.startswith(SPARK):
            raise InputError(f"--conf {pair!r} is not spark.name=value")
        if name in FIXED:
            raise InputError(f"--conf {name} cannot be set: {FIXED[name]}")
    if arguments.conf and arguments.engine == "embedded":
        raise InputError("--conf is of Spark, and the engine is embedded: leave it out")
    return dict(pair.split("=", 1) for pair in arguments.conf)


def _metrics(wanted: str | None) -> AbstractContextManager[OnMetrics | None]:
    return nullcontext() if wanted is None else metrics_outlet(wanted)


def _left(arguments: argparse.Namespace) -> str:
    """What a run that was interrupted leaves, and how to go on."""
    if arguments.command != "run":
        return ""
    if arguments.checkpoint is None:
        return ": nothing is kept; with --checkpoint DIR a run can go on where it was"
    return f": state is kept in {arguments.checkpoint}; the same command goes on from there"


def _explain(arguments: argparse.Namespace, asked: Script) -> int:
    bearing = _load(arguments)
    read_options(asked)
    print(explain_script(asked))
    if bearing is not None:
        from sqlwin.runtime.size.estimate import state_text

        print("", state_text(asked, bearing), sep="\n")
    return 0


def _load(arguments: argparse.Namespace) -> Load | None:
    given = [arguments.rate, arguments.keys]
    if None not in given:
        return load(arguments.rate, arguments.keys, arguments.width)
    if given != [None, None] or arguments.width is not None:
        raise InputError("--rate and --keys go together: explain q.sql --rate 1000/s --keys 1e6")
    return None


def _test(arguments: argparse.Namespace) -> int:
    from sqlwin.testing.command import test

    return test(arguments, print, _params(arguments.param))


def _infer(arguments: argparse.Namespace) -> int:
    from sqlwin.inference import infer

    name = arguments.name or re.sub(r"\W+", "_", Path(arguments.file).stem).strip("_")
    print(infer(arguments.file).ddl(name or "rows"))
    return 0


def _state(arguments: argparse.Namespace) -> int:
    if moves(arguments):
        return move(arguments)
    table = _status(arguments) if arguments.status else _asked(arguments, _snapshot(arguments))
    found: pl.DataFrame = pl.from_arrow(table)  # type: ignore[assignment]
    screen(arguments.format, sys.stdout)(found)
    return 0


def _status(arguments: argparse.Namespace) -> pa.Table:
    from sqlwin.embedded import checkpoint_reader as embedded
    from sqlwin.runtime.checkpoint.status import table

    options = ("key", "since", "to", "store", "sql", "batch")
    if any(getattr(arguments, name) is not None for name in options):
        raise InputError("--status stands alone: it is of the last commit, and of no window")
    path: Path = arguments.file
    if embedded.is_checkpoint(path):
        return table(embedded.status(path, arguments.query))
    if not (path / "sqlwin").is_dir():
        raise InputError(f"{path} is no checkpoint: it is of neither engine")
    from sqlwin.spark.checkpoint import status

    return table(status(path))


def _snapshot(arguments: argparse.Namespace) -> Snapshot:
    from sqlwin.embedded import checkpoint_reader as embedded

    path: Path = arguments.file
    if embedded.is_checkpoint(path):
        return embedded.state(path, arguments.query, arguments.batch)
    if not (path / "sqlwin").is_dir():
        raise InputError(f"{path} is no checkpoint: it is of neither engine")
    from sqlwin.spark.checkpoint import state
    from sqlwin.spark.session import local_session

    Progress(sys.stderr).starting("Spark")
    return state(local_session(), path, arguments.batch, arguments.query)


def _asked(arguments: argparse.Namespace, state: Snapshot) -> pa.Table:
    """A SELECT, messages, the records of a store, windows, or else the stores."""
    since, until = _at(arguments.since), _at(arguments.to)
    key = None if arguments.key is None else _key(arguments.key)
    narrowed = (since, until, key) != (None, None, None)
    if arguments.sql is not None and (narrowed or arguments.store is not None):
        raise InputError("--sql stands alone: say the rest in its WHERE")
    if arguments.sql is not None:
        return state.sql(arguments.sql)
    if arguments.store in MESSAGES and narrowed:
        if state.by_join_keys:
            return state.messages(start_time=since, end_time=until, join_keys=key)
        return state.messages(start_time=since, end_time=until, key=key)
    if arguments.store is not None and narrowed:
        raise InputError("--key, --from and --to ask windows, or --store messages")
    if arguments.store is not None:
        return state.records(arguments.store)
    return state.windows(since, until, key) if narrowed else state.stores()


def _key(text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError:
        raise InputError(
            f"--key is JSON, such as '\"tea\"' or '{{\"k\": 1}}', not {text}"
        ) from None
    return found if isinstance(found, dict | list) else [found]


def _at(text: str | None) -> str | int | None:
    """An instant, or a number of microseconds or of a message."""
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def _check(arguments: argparse.Namespace, asked: Script) -> int:
    queries = asked.queries
    read_options(asked)
    missing = without_files(asked, _base(arguments), opens=False)
    for each in missing:
        if each.certain:
            raise InputError(each.message)
    print(
        f"{arguments.file}: {len(queries)} quer{'y' if len(queries) == 1 else 'ies'}, no mistakes"
    )
    for number, query in enumerate(queries, 1):
        of = f"query {number}: " if len(queries) > 1 else ""
        for warning in warnings(query):
            print(f"warning: {of}{warning}")
    for each in missing:
        print(f"warning: {each.message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
