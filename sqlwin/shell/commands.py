r"""The shell's own commands: a backslash, a word, and maybe an argument.

>>> sorted(COMMANDS)[:3]
['?', 'd', 'engine']
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

import polars as pl

from sqlwin.errors import InputError
from sqlwin.inference.event_time import with_time
from sqlwin.inference.infer import infer
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import Schema, type_name
from sqlwin.shell.session import ENGINES, FORMATS, Left, Session
from sqlwin.shell.splitting import spoken
from sqlwin.sql.sources.files import name_of


@dataclass(frozen=True)
class Command:
    """argument: as the help shows it; "" where it takes none."""

    argument: str
    about: str
    run: Callable[[Session, str], None]
    choices: tuple[str, ...] = ()


def command(session: Session, line: str) -> None:
    r"""Do what `\word argument` says, or `exit`; InputError where there is no such command."""
    word, _, argument = spoken(line).strip().removeprefix("\\").partition(" ")
    found = COMMANDS.get(word.rstrip(";"))
    argument = argument.strip().rstrip(";").strip()
    if found is None:
        near = get_close_matches(word, COMMANDS, 1)
        meant = f"; did you mean \\{near[0]}?" if near else ""
        raise InputError(rf"there is no command \{word}{meant}; \? lists them")
    if argument and not found.argument:
        raise InputError(rf"\{word} takes no argument")
    if found.choices and argument and argument not in found.choices:
        raise InputError(rf"\{word} {argument}: legal is {', '.join(found.choices)}")
    found.run(session, argument)


def _help(session: Session, _: str) -> None:
    width = max(len(f"{name} {each.argument}") for name, each in COMMANDS.items())
    for name, each in COMMANDS.items():
        session.say(f"\\{f'{name} {each.argument}'.ljust(width)}  {each.about}")
    session.say(STATEMENTS)


def _list(session: Session, name: str) -> None:
    if name.startswith("'"):
        path = name.strip("'")
        session.say(with_time(infer(path)).ddl(name_of(path)))
        return
    if name:
        session.take(f"DESCRIBE {name}")
        return
    known = session.declarations
    columns, signatures = known.columns(), known.signatures()
    rows = [
        (each.name, each.kind, signatures.get(each.name) or _columns(columns[each.name]))
        for each in known.all
        if each.kind != "setting"
    ]
    if not rows:
        session.note("nothing is declared: CREATE STREAM, or SELECT … FROM 'rides.csv'")
        return
    session.show(pl.DataFrame(rows, ["name", "kind", "columns"], orient="row"))


def _columns(schema: Schema) -> str:
    return ", ".join(f"{column.name} {type_name(column.type)}" for column in schema)


def _engine(session: Session, wanted: str) -> None:
    session.engine = wanted or session.engine
    session.note(f"queries run on {session.engine}")


def _format(session: Session, wanted: str) -> None:
    session.format = wanted or session.format
    session.note(f"results are shown as {session.format}")


def _follow(session: Session, wanted: str) -> None:
    session.follow = session.follow if not wanted else wanted == "on"
    ends = "go on as files arrive, until Ctrl-C" if session.follow else "end with their input"
    session.note(f"queries {ends}")


def _file(session: Session, path: str) -> None:
    if not path:
        raise InputError(r"\i needs a file: \i orders.sql")
    session.file(path)


def _leave(session: Session, _: str) -> None:
    raise Left


COMMANDS = {
    "d": Command("[NAME|'FILE']", "list what is declared; the columns of one, or of a file", _list),
    "i": Command("FILE", "take the statements of a file", _file),
    "engine": Command("[embedded|spark]", "where queries run", _engine, ENGINES),
    "follow": Command("[on|off]", "whether queries go on as files arrive", _follow, ("on", "off")),
    "format": Command("[table|json|csv]", "how results are shown", _format, FORMATS),
    "?": Command("", "this list, as help does", _help),
    "q": Command("", "leave, as exit, quit and Ctrl-D do", _leave),
}
STATEMENTS = """
Statements end with a semicolon and may take several lines:
  CREATE STREAM|TABLE|VIEW|SINK …;  DROP STREAM|TABLE|VIEW|SINK name;  SET name = value;
  SELECT … FROM name | 'rides.csv' [ORDER BY … LIMIT n];  INSERT INTO sink SELECT …;
  EXPLAIN [ANALYZE] SELECT …;  DESCRIBE name;  SHOW STREAMS;  SHOW FUNCTIONS [LIKE 'to_*'];
Ctrl-C ends the query that runs, or forgets the line; Ctrl-R searches what was typed before."""
