"""A query as a host runs it: its inputs, an operator, and the projection of its results."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, cast

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import JoinOperator, Operator
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.plan.ir.nodes import Scalar, Stream, WindowAggregate
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import (
    counts,
    hands_numbers,
    window_of,
    window_policy,
)
from sqlwin.plan.properties.processing_time import behind_clock, by_clock
from sqlwin.plan.properties.recovery import corrects
from sqlwin.policies import Expired, Policy
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.rows.scalars import Columns


class Unnests(Protocol):
    def unnest(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Changes of rows as changes of the rows of their elements."""


@dataclass(frozen=True)
class Lowered:
    """having, output: of the projection. inputs: in the order of FROM; most queries have one.

    operator: `JoinOperator` where there are several inputs. derives: its results are rows of a
    derived stream, emitted with both halves of each change. unnesting: of rows without an operator,
    what makes one of each element of an array.
    """

    query: Query
    inputs: tuple[Input, ...]
    operator: Operator | JoinOperator | None
    having: Scalar | None
    output: Columns
    derives: bool = False
    unnesting: Unnests | None = None

    @property
    def stream(self) -> Stream:
        """Of the first input, mostly the only one."""
        return self.inputs[0].stream

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """Those it reads, by name, each once."""
        return {each.stream.name: each.stream for each in self.inputs}

    @cached_property
    def clocks(self) -> tuple[str, ...]:
        """The streams whose watermarks count; one read without event time holds up no other."""
        timed = [each.stream.name for each in self.inputs if each.timed]
        return tuple(dict.fromkeys(timed or self.streams))

    @cached_property
    def by_clock(self) -> frozenset[str]:
        """Names of the streams whose watermark is processing time."""
        return frozenset(name for name, each in self.streams.items() if by_clock(each))

    @cached_property
    def behind_clock(self) -> int | None:
        """As of `plan.properties.processing_time`."""
        return behind_clock(self.query.plan)

    @cached_property
    def tables(self) -> frozenset[str]:
        """Names of the static ones among `streams` that are declared."""
        return frozenset(each.stream.name for each in self.inputs if each.first)

    def readers(self, stream: str) -> list[int]:
        """Numbers of the inputs that read a stream."""
        return [at for at, each in enumerate(self.inputs) if each.stream.name == stream]

    @cached_property
    def stores(self) -> tuple[StoreSpec, ...]:
        """All that a task of it keeps: those of its operator, then of its admission.

        Once for all tasks: their columns are those of calls on no rows."""
        own = [] if self.operator is None else self.operator.stores()
        return (*own, *(spec for each in self.inputs for spec in each.stores()))

    @property
    def pairs(self) -> bool:
        """Whether both halves of a change are emitted."""
        return self.derives or self.query.retracts

    @cached_property
    def policy(self) -> Policy | None:
        """Of its window, None where it has none."""
        return window_policy(self.query.plan)

    @cached_property
    def hands_numbers(self) -> bool:
        """As of `plan.properties.facts`."""
        return hands_numbers(self.query.plan)

    @cached_property
    def spanned(self) -> bool:
        """Whether an input tells by numbers how far it has come."""
        return any(each.spanned for each in self.inputs)

    def opened(self, newest: int) -> int | None:
        """Which window of time an instant opens; None where each row may open one."""
        window = window_of(self.query.plan)
        if not isinstance(window, WindowAggregate) or counts(window):
            return None
        return window.window.opened(newest)

    @property
    def corrects(self) -> bool:
        """As of `plan.properties.recovery`."""
        return corrects(self.query, self.having is not None)

    @property
    def expired(self) -> Expired:
        return Expired.STREAM if self.policy is None else self.policy.expired

    def prepare(self, rows: pl.DataFrame, at: int = 0) -> pl.DataFrame:
        """Rows of an input as the operator takes them."""
        if self.operator is None:
            return rows
        if len(self.inputs) == 1:
            return cast(Operator, self.operator).prepare(rows)
        return cast(JoinOperator, self.operator).prepare(rows, at)
