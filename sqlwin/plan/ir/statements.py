"""What a text asks for, each statement with its plan, and the script of them all."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.streams import Stream
from sqlwin.python_functions.function import PythonFunction
from sqlwin.schema import Schema

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Node


@dataclass(frozen=True)
class Sink:
    """Where a query's rows go. options: of the WITH clause, sorted."""

    name: str
    columns: Schema | None
    options: tuple[tuple[str, str], ...]

    @property
    def changelog(self) -> str:
        """What it can hold: append, upsert or retract; see `plan/options/sinks.py`."""
        return dict(self.options).get("changelog", "upsert")


@dataclass(frozen=True)
class Query:
    """One SELECT or INSERT INTO: a plan in normal form, and its sink (None: the screen).

    explain: it is to be shown, not run. analyze: and run as well, to be measured. errors: the sink
    that EXPIRED INTO names, where one of that name is declared. functions: those registered from
    Python that it calls; scalars: those of them that are computed of one row.
    errors_into: the name itself, of a query without a window; others have it in their policy.
    """

    plan: Node
    sink: Sink | None = None
    explain: bool = False
    errors: Sink | None = None
    functions: tuple[PythonAggregate, ...] = ()
    errors_into: str | None = None
    analyze: bool = False
    scalars: tuple[PythonFunction, ...] = ()

    @property
    def retracts(self) -> bool:
        """Whether its sink takes both halves of a change."""
        return self.sink is not None and self.sink.changelog == "retract"


@dataclass(frozen=True)
class Describe:
    """DESCRIBE of a stream, a view or a sink: its columns; stream: where it is one."""

    name: str
    columns: Schema
    stream: Stream | None = None


@dataclass(frozen=True)
class ShowDeclared:
    """SHOW STREAMS, TABLES, VIEWS, SINKS: names of those declared so far, and their columns."""

    declared: tuple[tuple[str, Schema], ...]


@dataclass(frozen=True)
class DescribeFunction:
    """DESCRIBE FUNCTION of a scalar or an aggregate. lines: of one that the script has made, or
    that was registered."""

    name: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShowFunctions:
    """SHOW FUNCTIONS. pattern: of their names, None for all. own: names of the script's own."""

    pattern: str | None = None
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShowCreate:
    """SHOW CREATE TABLE, VIEW, SINK, FUNCTION. text: the statement, without its secrets."""

    text: str


Statement = Query | Describe | ShowDeclared | DescribeFunction | ShowFunctions | ShowCreate


@dataclass(frozen=True)
class Script:
    """Everything a text declares and asks for, in the order of the text.

    statements: all that answers, queries to explain among them. source_text: what it was
    bound from, None for plans made by hand.
    """

    streams: tuple[Stream, ...]
    statements: tuple[Statement, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    source_text: SourceText | None = field(default=None, compare=False)

    @property
    def queries(self) -> tuple[Query, ...]:
        """Those to run."""
        return tuple(s for s in self.statements if isinstance(s, Query) and not s.explain)
