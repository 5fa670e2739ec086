"""The command line: `sqlwin run`, `explain`, `check`, `state`, `test`, `infer`.

Results go to stdout, everything else to stderr. Exit codes: 0; 2 for a mistake
in the query, with one readable message; 1 for a failure while it runs; 130 where
it was interrupted, but for --follow, which ends so.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from sqlwin.commands.leaving import left
from sqlwin.commands.parser import parser
from sqlwin.interrupts import INTERRUPTED, acknowledged, interruptible, raised_once

MISTAKE, FAILURE = 2, 1


def main(argv: Sequence[str] | None = None) -> int:
    made = parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could stand there, see `completion`
        import_module("argcomplete").autocomplete(made)
    arguments = made.parse_args(argv)
    if arguments.command is None:
        made.print_help(sys.stderr)
        return MISTAKE
    with interruptible(f"interrupted{left(arguments)}"):
        code = _ended(arguments)
    if argv is None:
        acknowledged()
    return code


def _ended(arguments: argparse.Namespace) -> int:
    from sqlwin.errors import InputError, QueryError, SqlwinError  # not for --help and --version

    try:
        command = _module(arguments.command)
        raised_once()
        code: int = command.run(arguments)
        return code
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
        print(f"interrupted{left(arguments)}", file=sys.stderr)
        return INTERRUPTED


def _module(command: str) -> ModuleType:
    """Of what an import makes nothing is garbage: none is looked for, a tenth of its time. Nor is
    it afterwards: what is there is frozen, but at the end, when libraries look for leaks."""
    gc.disable()
    try:
        return import_module(f"sqlwin.commands.{command}")
    finally:
        gc.freeze()
        atexit.register(gc.unfreeze)
        gc.enable()


if __name__ == "__main__":
    sys.exit(main())
