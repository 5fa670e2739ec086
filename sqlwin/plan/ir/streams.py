"""The leaves of a plan: scalar expressions, and streams, declared or derived.

Scalars carry their text for display (Spark SQL) and for the engine that runs them
(DuckDB).

>>> column_of(Column("n", pa.int64())).is_column
True
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.errors import Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.once import hashed_once
from sqlwin.schema import RESERVED, Column, Schema

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Node


INLINE = VALUES, SERIES = "values", "series"
"""Connectors of rows that the text has itself."""


class ClockCall(NamedTuple):
    """A call such as `NOW()`, and where it is written."""

    text: str
    span: Span


@hashed_once
@dataclass(frozen=True)
class Scalar:
    """A scalar expression over the columns of the node below.

    sql: Spark SQL, for EXPLAIN and messages. duckdb: what runs. inputs: the
    columns it reads, in order of first use. clock: a call that reads processing time, None where
    there is none.
    """

    sql: str
    duckdb: str
    type: pa.DataType
    inputs: tuple[str, ...]
    clock: ClockCall | None = field(default=None, repr=False, compare=False)  # `duckdb` has it

    @cached_property
    def is_column(self) -> bool:
        return len(self.inputs) == 1 and self.duckdb == quoted(self.inputs[0])


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def column_of(column: Column) -> Scalar:
    return Scalar(column.name, quoted(column.name), column.type, (column.name,))


@dataclass(frozen=True)
class Changelog:
    """How the rows of a declared stream change those before them.

    op: the column that says what a row is. key: the columns that identify a row, of which the
    last change counts; none: a row is retracted by its values. See `sql/sources/changelogs.py`.
    """

    op: str
    key: tuple[str, ...] = ()


@hashed_once
@dataclass(frozen=True)
class Stream:
    """A declared stream or, where `of` has plans, a derived one: their results, one after another.

    columns: as the source delivers them. computed: further columns, each over
    the ones before it. ts: the event-time column. delay: microseconds the
    watermark stays behind the greatest event time; of a derived stream behind the least
    watermark of what its plans read. offset: the column that is the position, if declared.
    options: of the WITH clause, sorted. of: each plan has the stream's columns. Equal
    streams are one, and computed once. change: ISTREAM or DSTREAM, of a derived one whose rows
    are those that its plans insert, or delete; None: their results, which may change.
    undeclared: no WATERMARK says so, the query's window has named its event time.
    changelog: of a declared one whose rows may be changes. copies: the column of a derived one
    that says how many equal rows each row is. key: PRIMARY KEY. inferred: from the file that FROM
    names. bounded: it is a static table, or rows of the text, read by itself: once, to its end.
    whole: such a one whose rows are all there before the first row of any other stream, for its
    results are looked up.
    """

    name: str
    columns: Schema
    ts: str | None
    delay: int = 0
    computed: tuple[tuple[str, Scalar], ...] = ()
    offset: str | None = None
    trusted: bool = False
    options: tuple[tuple[str, str], ...] = ()
    of: tuple[Node, ...] = field(default=(), repr=False)  # distinguished by `facts.fingerprint`
    undeclared: bool = field(default=False, repr=False, compare=False)
    change: str | None = None
    changelog: Changelog | None = field(default=None, repr=False)  # `options` and keys have it
    copies: str | None = field(default=None, repr=False)  # so have the plans in `of`
    key: tuple[str, ...] = field(default=(), repr=False)
    inferred: bool = field(default=False, repr=False, compare=False)
    bounded: bool = field(default=False, repr=False, compare=False)
    whole: bool = field(default=False, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        for column in self.schema:
            if column.name.startswith(RESERVED):
                raise ValueError(f"column names must not begin with {RESERVED}: {column.name}")

    @cached_property
    def inline(self) -> bool:
        """Whether its rows are in the text, see `plan/ir/inline.py`."""
        return not self.of and dict(self.options).get("connector") in INLINE

    @cached_property
    def schema(self) -> Schema:
        return self.columns + tuple(Column(name, s.type) for name, s in self.computed)
