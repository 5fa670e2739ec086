"""What sqlwin raises, and how a mistake in a query is shown.

A `QueryError` points at text: line and column count from 1, and the message
says what is wrong, where, and what would be legal.

>>> text = "SELECT 1\\nFROM HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
>>> print(QueryError("HOP needs two durations: slide, then size", Span(2, 6, 3), text))
HOP needs two durations: slide, then size
  at line 2, column 6
  | FROM HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '1' HOUR)
  |      ^^^
"""

from __future__ import annotations

from dataclasses import dataclass

BESIDE = 120
"""Characters of a long line that are shown before and behind a place."""


@dataclass(frozen=True)
class Span:
    """A piece of one line of the query's text; line and column count from 1."""

    line: int
    column: int
    length: int = 1


class SqlwinError(Exception):
    """Whatever sqlwin raises on purpose."""


class QueryError(SqlwinError):
    """A mistake in the query: what, where, and what would be legal."""

    def __init__(
        self, message: str, span: Span | None = None, text: str = "", legal: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.text = text
        self.legal = legal

    def __str__(self) -> str:
        return "\n".join([self.message, *self._where(), *self._legal()])

    def _where(self) -> list[str]:
        if self.span is None:
            return []
        lines = self.text.split("\n")
        line = lines[min(self.span.line, len(lines)) - 1].rstrip("\r")
        shown, before = _around(line, self.span.column - 1)
        length = min(max(self.span.length, 1), max(len(shown) - before, 1))
        return [
            f"  at line {self.span.line}, column {self.span.column}",
            f"  | {shown}",
            f"  | {' ' * before}{'^' * length}",
        ]

    def _legal(self) -> list[str]:
        return [f"  legal: {self.legal}"] if self.legal else []


def _around(line: str, at: int) -> tuple[str, int]:
    """What is shown of a long line, and where in it the place is.

    >>> _around("a" * 300 + "b" + "c" * 300, 300)[1], len(_around("x" * 1000, 500)[0])
    (121, 242)
    """
    first, last = max(0, at - BESIDE), at + BESIDE
    if len(line) <= 2 * BESIDE:
        return line, at
    cut = first > 0
    return "…" * cut + line[first:last] + "…" * (last < len(line)), at - first + cut


class InputError(SqlwinError):
    """A call of the API that cannot be taken; nothing of it was."""


class RunError(SqlwinError):
    """A failure while a query runs; the last commit stands."""


class InputDisabled(RunError):
    """A refused output stops the input; the query itself is whole."""


class Incomplete(RunError):
    """A lost message store is not whole yet; nothing of the call was taken but what fills it."""


class FunctionError(RunError):
    """A function of the user's raised, or gave what does not fit its declared type."""

    def __init__(self, message: str) -> None:
        # Polars raises it again with words of its own behind: an expression, of no use here
        super().__init__(message.partition("\n\nThis error occurred")[0])


class OverflowInAggregate(RunError):
    """An exact aggregate left the range of its type. place: the window, and its last row."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__(
            f"{name} leaves the range of its type in {place}. "
            f"CAST its argument to DECIMAL(38, s) or DOUBLE."
        )


class StateError(RunError):
    """Stored state that cannot be read, or records that do not fit their store."""


class UnreadErrors(UserWarning):
    """The results of a query over Spark's DataFrames are read, and its error stream is not."""
