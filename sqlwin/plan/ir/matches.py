"""MATCH_RECOGNIZE in a plan: rows of a partition, in order, that a pattern maps to variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass
from sqlwin.patterns import AfterMatch, AllRows, Navigation, Pattern, Start, contains
from sqlwin.plan.ir.once import hashed_once
from sqlwin.plan.ir.streams import Scalar
from sqlwin.policies import Policy
from sqlwin.schema import Column, Schema

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Aggregate, Node


@dataclass(frozen=True)
class MatchAggregate:
    """An aggregate over the rows of a match that are mapped to a variable; None: all.

    members: the variables of a SUBSET of that name. final: of the whole match, and not of it so
    far.
    """

    aggregate: Aggregate
    variable: str | None
    members: tuple[str, ...] = field(default=(), repr=False, metadata=ADDED)
    final: bool = field(default=False, repr=False, metadata=ADDED)

    @property
    def name(self) -> str:
        return self.aggregate.name


Term = Navigation | MatchAggregate


@dataclass(frozen=True)
class Condition:
    """What a row must fulfil to be mapped to `variable`. predicate: over `terms`, by their names.

    written: as in the query.
    """

    variable: str
    predicate: Scalar
    terms: tuple[Term, ...]
    written: str

    @property
    def of_rows(self) -> bool:
        """Whether the rows alone say it, and not what was mapped before."""
        return all(isinstance(t, Navigation) and t.of_row(self.variable) for t in self.terms)


@hashed_once
@dataclass(frozen=True)
class MatchRecognize:
    """One row for each match of a pattern among the rows of a partition, by event time.

    partition: input columns. conditions: of variables that have one; of others any row is. within:
    microseconds, between the first row of a match and its last, at most; None: any. measures: what
    is read of a match. Output: `partition`, then the measures. A match is known by its partition
    and the position of its first row.

    all_rows: there is a row for each row of a match, which has the columns `kept`, too, behind
    `partition`; it is known by its own position besides.
    """

    input: Node
    partition: tuple[str, ...]
    pattern: Pattern
    conditions: tuple[Condition, ...]
    measures: tuple[Term, ...]
    after: AfterMatch
    within: int | None
    policy: Policy
    all_rows: AllRows | None = field(default=None, repr=False, metadata=ADDED)
    kept: tuple[str, ...] = field(default=(), repr=False, metadata=ADDED)

    @cached_property
    def schema(self) -> Schema:
        below = {column.name: column for column in self.input.schema}
        types = {column.name: column.type for column in self.input.schema}
        return (
            *(below[key] for key in (*self.partition, *self.kept)),
            *(Column(term.name, type_of(term, types)) for term in self.measures),
        )


def type_of(term: Term, types: dict[str, pa.DataType]) -> pa.DataType:
    """types: of the columns of the input."""
    if isinstance(term, MatchAggregate):
        return term.aggregate.type
    return pa.string() if term.column is None else types[term.column]


def columns_read(terms: tuple[Term, ...]) -> Iterator[str]:
    """Columns of the input that terms are made of."""
    for term in terms:
        if isinstance(term, Navigation):
            yield from () if term.column is None else (term.column,)
        else:
            call = term.aggregate
            yield from call.args
            yield from () if call.where is None else (call.where,)
            yield from (key.column for key in call.order)


def looks_back(node: MatchRecognize) -> int:
    """How many rows before a match it looks at: PREV of its first row, or whether there is one."""
    terms = (*node.measures, *(term for each in node.conditions for term in each.terms))
    anchored = int(contains(node.pattern, Start))
    return max(anchored, *(term.back for term in terms if isinstance(term, Navigation)), 0)
