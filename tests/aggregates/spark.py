"""Spark's batch answers: of each call its type, and the value of each group or its error class.

Calls are computed together, in one query of one task, so that rows stay in their order; where it
raises, halves of the calls, and for a single call halves of the groups. Those with DISTINCT have
queries of their own: beside them Spark groups the rows of all others by their values first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tests.aggregates.halves import by_halves
from tests.functions.canonical import Json, canonical
from tests.functions.oracle import Answer, failures


class Batch:
    """Spark over one table of groups."""

    def __init__(self, spark: SparkSession, rows: pa.Table) -> None:
        self.groups = sorted(set(rows["g"].to_pylist()))
        self._input: DataFrame = spark.createDataFrame(rows).coalesce(1)
        self._input.createOrReplaceTempView("input")
        self._spark = spark

    def answers(self, calls: Sequence[str]) -> Iterator[tuple[str, Answer]]:
        """Of calls, in their order."""
        analysed = {call: self._type(call) for call in calls}
        legal = [call for call in calls if not analysed[call].refused]
        values = {}
        for distinct in (False, True):
            some = [call for call in legal if ("DISTINCT" in call) == distinct]
            values |= by_halves(some, self.groups, self._values, Raised)
        for call in calls:
            found = analysed[call]
            rows = () if found.refused else tuple(values[call, group] for group in self.groups)
            yield call, Answer(found.type, rows, found.refused)

    def _type(self, call: str) -> Answer:
        try:
            made = self._spark.sql(f"SELECT {call} AS v FROM input")
        except failures() as refusal:
            return Answer("", refused=_class(refusal))
        return Answer(made.schema[0].dataType.simpleString())

    def _values(self, calls: Sequence[str], groups: Sequence[int]) -> dict[tuple[str, int], Json]:
        items = ", ".join(f"{call} AS c{at}" for at, call in enumerate(calls))
        wanted = ", ".join(map(str, groups))
        text = f"SELECT g, {items} FROM input WHERE g IN ({wanted}) GROUP BY g"
        try:
            # toArrow() refuses a NULL in an array that Spark's plan says has none
            batches = self._spark.sql(text)._collect_as_arrow()  # type: ignore[operator]
        except failures() as failure:
            raise Raised(_class(failure)) from None
        return dict(_cells(calls, pa.Table.from_batches(batches)))


class Raised(Exception):
    """A query raised. The message is Spark's error class."""


def _cells(calls: Sequence[str], found: pa.Table) -> Iterator[tuple[tuple[str, int], Json]]:
    for at, call in enumerate(calls):
        for group, value in zip(found["g"].to_pylist(), found[f"c{at}"], strict=True):
            yield (call, group), canonical(value)


def _class(failure: Any) -> str:
    of: Callable[[], str | None] | None = getattr(failure, "getCondition", None)
    return str((of and of()) or type(failure).__name__)
