"""A shell that reads a pipe or a file: statement by statement, and the first mistake ends it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlwin.shell.commands import command
from sqlwin.shell.session import Left, Session
from sqlwin.shell.splitting import blank, is_command, split


def read(session: Session, lines: Iterable[str]) -> None:
    """Answer statements as they come. SqlwinError for the first that cannot be."""
    waiting = ""
    try:
        for line in lines:
            if blank(waiting) and is_command(line):
                command(session, line)
                continue
            found, waiting = split(waiting + line)
            for statement in found:
                session.take(statement)
        if not blank(waiting):
            session.take(waiting)
    except Left:
        return
