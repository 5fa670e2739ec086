"""The other statements, and what any of them is."""

from __future__ import annotations

from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.text.ast.definitions import (
    CreateAs,
    CreateFunction,
    CreatePython,
    CreateSink,
    CreateStream,
    CreateView,
)
from sqlwin.sql.text.ast.queries import Select
from sqlwin.sql.text.ast.terms import Name


@dataclass(frozen=True)
class Drop:
    """kind: STREAM, TABLE, VIEW, MATERIALIZED VIEW, SINK. if_exists: or nothing is dropped."""

    kind: str
    name: Name
    if_exists: bool


@dataclass(frozen=True)
class Insert:
    sink: Name
    select: Select


@dataclass(frozen=True)
class ExplainOf:
    """of_set: the first INSERT of a statement set, all of which are explained."""

    query: Select | Insert
    analyze: bool = False
    of_set: bool = False


@dataclass(frozen=True)
class EndOfSet:
    """END of a statement set, which nothing does by itself."""


@dataclass(frozen=True)
class DropFunction:
    """Of one that the text has made; the parser knows whether there is one."""

    name: Name


@dataclass(frozen=True)
class DescribeOf:
    name: Name


@dataclass(frozen=True)
class Show:
    """kind: STREAMS, TABLES, VIEWS, SINKS."""

    kind: str


@dataclass(frozen=True)
class ShowCreateOf:
    """kind: as DROP has it, or FUNCTION."""

    kind: str
    name: Name


@dataclass(frozen=True)
class DescribeFunctionOf:
    name: Name


@dataclass(frozen=True)
class ShowFunctionsLike:
    """pattern: with `*` and `|`, as Spark has them; None: all."""

    pattern: str | None


@dataclass(frozen=True)
class Set:
    name: str
    value: str
    span: Span


Statement = (
    CreateStream
    | CreateView
    | CreateSink
    | CreateAs
    | CreateFunction
    | CreatePython
    | Drop
    | DropFunction
    | Insert
    | Select
    | ExplainOf
    | DescribeOf
    | Show
    | ShowCreateOf
    | DescribeFunctionOf
    | ShowFunctionsLike
    | Set
)
