"""`sqlwin shell`: statements answered one by one, from a terminal or a pipe."""

from __future__ import annotations

import argparse
import io
import sys

from sqlwin.commands.scripts import piped
from sqlwin.shell.reading import read
from sqlwin.shell.session import Session


def run(arguments: argparse.Namespace) -> int:
    session = Session(arguments.engine, arguments.output, arguments.follow)
    if arguments.file is not None:
        session.file(str(arguments.file))
    if arguments.command_text is not None:
        read(session, io.StringIO(arguments.command_text))
    elif sys.stdin.isatty():
        from sqlwin.shell.terminal import interact

        interact(session)
    else:
        read(session, piped())
    return 0
