"""Names, numbers and durations, and the runs of text that are scalar expressions.

A scalar expression is a `Run` of text; the `OVER (…)` clauses in it are parsed
and stand in the run as `OVER` with one private letter, padded, so that every other
character keeps its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlwin.durations import LEGAL
from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.python_functions.function import UserFunction

if TYPE_CHECKING:
    from sqlwin.sql.text.ast.definitions import Macro
    from sqlwin.sql.text.ast.windows import Spec

PLACEHOLDER = 0xE000
"""The first of Unicode's private letters; the n-th OVER of a run is named by the n-th."""


@dataclass(frozen=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True)
class File(Name):
    """A path in FROM, in the place of a stream's name: its columns are inferred."""


@dataclass(frozen=True)
class Optioned(Name):
    """A declared name with a hint OPTIONS behind it, which are over those of the declaration.
    places: of each of them."""

    options: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True)
class Inline(Name):
    """Rows that the text itself has, in the place of a stream's name: of VALUES a run each, of a
    series its bounds. columns: their names, where they are given."""

    runs: tuple[Run, ...] = ()
    columns: tuple[Name, ...] = ()

    @property
    def values(self) -> bool:
        return self.text == "VALUES"


@dataclass(frozen=True)
class Duration:
    """exact: microseconds; None: it has no fixed length, or is none, as `problem` says. months:
    where it is of months alone. text: of one that is a text alone, which an argument may be.
    """

    exact: int | None
    span: Span
    months: int | None = None
    text: str | None = None
    problem: str = ""

    @property
    def micros(self) -> int:
        """QueryError where it has no fixed length, or is no duration."""
        if self.exact is None:
            raise QueryError(self.problem, self.span, legal=LEGAL)
        return self.exact


@dataclass(frozen=True)
class Count:
    """A number, of rows where a clause says so."""

    rows: int
    span: Span


Amount = Duration | Count


@dataclass(frozen=True)
class Part:
    """The `at`-th node of a run's tree, as a column called `name`. key: the run is a key of ORDER
    BY."""

    at: int
    name: str
    key: bool = False


@dataclass(frozen=True)
class Run:
    """text: for sqlglot. original: as written. overs: by placeholder, in order.

    functions: the aggregates registered from Python that it may call. macros: those of CREATE
    FUNCTION before it. part: of its tree that alone is meant. below: of its nodes those that a
    query in FROM gives as columns. made: columns that are expressions over the others, by their
    names in lower case.
    """

    text: str
    original: str
    span: Span
    overs: tuple[Name | Spec, ...] = ()
    functions: tuple[UserFunction, ...] = ()
    macros: tuple[Macro, ...] = ()
    part: Part | None = None
    below: tuple[Part, ...] = ()
    made: tuple[tuple[str, Run], ...] = ()

    def at(self, start: int, end: int) -> Span:
        """The span of characters `start` to `end` of the run; on its first line only."""
        before = self.original[:start]
        line = before.count("\n")
        column = start - (before.rfind("\n") + 1) + (1 if line else self.span.column)
        first = self.original[start:end].split("\n")[0]
        return Span(self.span.line + line, column, max(1, len(first)))


@dataclass(frozen=True)
class Made(Run):
    """A run that stands nowhere: its place is that of what it was made of."""

    def at(self, start: int, end: int) -> Span:
        return self.span


@dataclass(frozen=True)
class Led(Run):
    """A run whose first `lead` characters stand nowhere: `* EXCEPT (` of DROP. column: what a SET
    gives a value, which stands before it."""

    lead: int = 0
    column: Name | None = None

    def at(self, start: int, end: int) -> Span:
        made = super().at(start, end)
        moved = made.line == self.span.line
        return replace(made, column=made.column - self.lead) if moved else made
