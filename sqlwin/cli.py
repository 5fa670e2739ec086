"""The command line: `sqlwin run`, `sqlwin explain`, `sqlwin check`.

Results go to stdout, everything else to stderr. Exit codes: 0; 2 for a mistake
in the query, with one readable message; 1 for a failure while it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sqlwin.errors import InputError, QueryError, SqlwinError
from sqlwin.plan.answer import answers
from sqlwin.plan.explain import explain_script
from sqlwin.plan.nodes import Script
from sqlwin.runtime.load import Load, load
from sqlwin.runtime.options import RunOptions
from sqlwin.screen import Progress, screen
from sqlwin.sql import script

MISTAKE, FAILURE = 2, 1


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
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
        return FAILURE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sqlwin", description="streaming window SQL")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a script over its own sources and sinks")
    explain = commands.add_parser("explain", help="show the plan of a script's queries")
    check = commands.add_parser("check", help="look for mistakes, run nothing")
    for command in (run, explain, check):
        command.add_argument("file", type=Path, help="the script; - is standard input")
        command.add_argument(
            "--param", action="append", default=[], metavar="name=value", help="a :name parameter"
        )
    explain.add_argument("--rate", metavar="ROWS/UNIT", help="and the state to expect: 1000/s")
    explain.add_argument("--keys", metavar="N", help="of so many distinct keys: 1e6")
    explain.add_argument("--width", metavar="BYTES", help="of a string, 16 where not told")
    run.add_argument("--engine", choices=("spark", "embedded"), default="spark")
    run.add_argument("--output", choices=("table", "json", "csv"), default="table")
    run.add_argument("--checkpoint", type=Path, metavar="DIR", help="keep state here between runs")
    run.add_argument("--drain", action="store_true", help="close every window at the end")
    run.add_argument("--follow", action="store_true", help="go on as files arrive")
    return parser


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


def _run(arguments: argparse.Namespace, asked: Script) -> int:
    progress = Progress(sys.stderr)
    options = RunOptions(
        base=Path() if str(arguments.file) == "-" else arguments.file.parent,
        checkpoint=arguments.checkpoint,
        drain=arguments.drain,
        follow=arguments.follow,
        show=screen(arguments.output, sys.stdout),
        on_errors=progress.errors,
        on_batch=progress.batch,
    )
    for answer in answers(asked):
        print(answer)
    if not asked.queries:
        return 0
    if arguments.engine == "embedded":
        from sqlwin.embedded.run import run
    else:
        progress.starting("Spark")  # which takes seconds to say anything itself
        from sqlwin.spark.run import run
    progress.done(run(asked, options))
    return 0


def _explain(arguments: argparse.Namespace, asked: Script) -> int:
    bearing = _load(arguments)
    print(explain_script(asked))
    if bearing is not None:
        from sqlwin.runtime.bounds import state_text

        print("", state_text(asked, bearing), sep="\n")
    return 0


def _load(arguments: argparse.Namespace) -> Load | None:
    given = [arguments.rate, arguments.keys]
    if None not in given:
        return load(arguments.rate, arguments.keys, arguments.width)
    if given != [None, None] or arguments.width is not None:
        raise InputError("--rate and --keys go together: explain q.sql --rate 1000/s --keys 1e6")
    return None


def _check(arguments: argparse.Namespace, asked: Script) -> int:
    queries = len(asked.queries)
    print(f"{arguments.file}: {queries} quer{'y' if queries == 1 else 'ies'}, no mistakes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
