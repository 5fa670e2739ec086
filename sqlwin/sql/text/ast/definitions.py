"""What CREATE makes: streams, tables, views, sinks, named results and functions."""

from __future__ import annotations

from enum import Enum

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.python_functions.function import PythonFunction
from sqlwin.sql.text.ast.queries import Select
from sqlwin.sql.text.ast.terms import Name, Run


@dataclass(frozen=True)
class ColumnDef:
    """type: its text, for a declared column; expression: for a computed one."""

    name: Name
    type: Run | None = None
    expression: Run | None = None


@dataclass(frozen=True)
class Watermark:
    column: Name
    expression: Run


@dataclass(frozen=True)
class Position:
    word: Name
    column: Name
    trusted: bool


@dataclass(frozen=True)
class PrimaryKey:
    columns: tuple[Name, ...]


Options = tuple[tuple[str, str], ...]


Places = tuple[tuple[str, Span], ...]
"""Where each option of a WITH clause is given."""


class Existing(Enum):
    """What becomes of something that has the name already."""

    REFUSED = "refused"
    KEPT = "IF NOT EXISTS"
    REPLACED = "OR REPLACE"


@dataclass(frozen=True)
class Partitions:
    """columns: those that are declared there, as in Hive."""

    names: tuple[Name, ...]
    columns: tuple[ColumnDef, ...]
    span: Span


@dataclass(frozen=True)
class Buckets:
    span: Span


@dataclass(frozen=True)
class Like:
    """options: whether those of the other are taken too."""

    name: Name
    options: bool


@dataclass(frozen=True)
class CreateStream:
    """like: what it takes from another. written: the statement as it stands in the text. buckets:
    where it says by which columns they are."""

    name: Name
    kind: str
    columns: tuple[ColumnDef, ...]
    watermarks: tuple[Watermark, ...]
    positions: tuple[Position, ...]
    options: Options
    span: Span
    keys: tuple[PrimaryKey, ...] = ()
    places: Places = ()
    existing: Existing = Existing.REFUSED
    like: Like | None = None
    written: str = ""
    buckets: Span | None = None


@dataclass(frozen=True)
class CreateView:
    name: Name
    select: Select
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class CreateSink:
    name: Name
    columns: tuple[ColumnDef, ...]
    options: Options
    places: Places = ()
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class CreateAs:
    """A named result: a view, unless it is a sink, and a query of the text that gives its rows.

    kind: STREAM, TABLE, MATERIALIZED VIEW, SINK. sink: that its rows go to, None: the screen.
    """

    kind: str
    name: Name
    select: Select
    sink: CreateSink | None
    existing: Existing = Existing.REFUSED
    written: str = ""


@dataclass(frozen=True)
class Macro:
    """CREATE FUNCTION: an expression over its parameters, each a name and maybe a type."""

    name: Name
    parameters: tuple[tuple[Name, Run | None], ...]
    returns: Run | None
    body: Run


@dataclass(frozen=True)
class CreateFunction:
    macro: Macro
    written: str = ""


@dataclass(frozen=True)
class CreatePython:
    """CREATE FUNCTION … LANGUAGE PYTHON. name: where it stands in the text."""

    name: Name
    function: PythonFunction
    written: str = ""
