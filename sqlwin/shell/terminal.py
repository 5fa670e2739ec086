"""A shell on a terminal: lines that can be edited, history, colours, Tab."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output.defaults import create_output
from pygments.lexers.sql import SqlLexer

from sqlwin import __version__
from sqlwin.errors import SqlwinError
from sqlwin.interrupts import interruptible_statements
from sqlwin.shell.commands import command
from sqlwin.shell.completion import ShellCompleter
from sqlwin.shell.session import Left, Session
from sqlwin.shell.splitting import blank, is_command, split, whole

PROMPT, MORE = "sqlwin> ", "   ...> "
HELLO = rf"sqlwin {__version__}: statements end with ;, \? is help, \q leaves"


def interact(session: Session) -> None:
    """Until it is left; whatever goes wrong with a statement is said, and the next is asked for."""
    session.note(HELLO)
    prompt = _prompt(session)
    while True:
        try:
            text = prompt.prompt(PROMPT)
        except KeyboardInterrupt:  # the line is forgotten
            continue
        except EOFError:
            return
        try:
            with interruptible_statements() as session.begins:
                _answer(session, text)
        except KeyboardInterrupt:
            session.note("interrupted; the shell goes on")
        except Left:
            return


def _answer(session: Session, text: str) -> None:
    """A mistake ends what was typed with it, so that nothing behind it is run unawares."""
    try:
        if is_command(text):
            command(session, text)
            return
        for statement in split(text)[0]:
            session.take(statement)
    except (SqlwinError, OSError) as error:
        session.note(f"error: {error}")


def _prompt(session: Session) -> PromptSession[str]:
    return PromptSession(
        history=_history(),
        lexer=PygmentsLexer(SqlLexer),
        completer=ShellCompleter(session.declarations),
        complete_while_typing=False,
        multiline=Condition(_unfinished) & has_focus(DEFAULT_BUFFER),
        prompt_continuation=MORE,
        enable_open_in_editor=True,
        output=create_output(always_prefer_tty=True),  # answers may go to a file
    )


def _unfinished() -> bool:
    text = get_app().current_buffer.text
    return not (whole(text) or blank(text))


def _history() -> History:
    """`SQLWIN_HISTORY`, else a file where the system has a program's state."""
    given = os.environ.get("SQLWIN_HISTORY")
    try:
        home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        file = Path(given) if given else home / "sqlwin" / "history"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)  # a statement may hold a password
    except (OSError, RuntimeError):  # read-only, or a user without a home
        return InMemoryHistory()
    return FileHistory(str(file))
