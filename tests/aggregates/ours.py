"""sqlwin's answers to calls over one table of groups, as `spark.Batch` gives Spark's.

Rows go in as they stand. A call is refused, or has a type and the value of each group; a group for
which the query ends, or with a row whose argument fails, has `{"!": the message}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

import sqlwin
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.sql import script
from tests.aggregates.halves import by_halves
from tests.functions.canonical import Json, canonical, type_name
from tests.functions.ours import Ours

WHOLE = "SELECT g, {items} FROM input GROUP BY g"
TUMBLE = (
    "SELECT g, {items} FROM TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    " GROUP BY window_start, window_end, g"
)
SESSION = (
    "SELECT g, {items} FROM SESSION(TABLE input PARTITION BY g, DESCRIPTOR(ts),"
    " INTERVAL '1' HOUR) GROUP BY window_start, window_end, g"
)
FORMS = {"whole": WHOLE, "tumble": TUMBLE, "session": SESSION}
"""Queries whose only window holds all rows of a group."""


@dataclass(frozen=True)
class Batch:
    rows: pa.Table
    form: str = TUMBLE

    @property
    def groups(self) -> list[int]:
        return sorted(set(self.rows["g"].to_pylist()))

    @property
    def _stream(self) -> Stream:
        return sqlwin.stream(self.rows.schema, ts="ts")

    def answers(self, calls: Sequence[str]) -> Iterator[tuple[str, Ours]]:
        """Of calls, in their order."""
        bound = {call: self._type(call) for call in calls}
        legal = [call for call in calls if not bound[call].refused and not bound[call].crashed]
        values = by_halves(legal, self.groups, self._values, RunError)
        for call in calls:
            found = bound[call]
            rows = tuple(values[call, group] for group in self.groups) if found.type else ()
            yield call, Ours(found.type, rows, found.refused, found.crashed)

    def _type(self, call: str) -> Ours:
        text = self.form.format(items=f"{call} AS v")
        try:
            (query,) = script(text, {"input": self._stream}).queries
        except QueryError as refusal:
            return Ours(refused=str(refusal).splitlines()[0])
        except Exception as failure:  # noqa: BLE001  the next one is tried
            return Ours(crashed=f"{type(failure).__name__}: {failure}".splitlines()[0])
        (column,) = (column for column in query.plan.schema if column.name == "v")
        return Ours(type_name(column.type))

    def _values(self, calls: Sequence[str], groups: Sequence[int]) -> dict[tuple[str, int], Json]:
        items = ", ".join(f"{call} AS c{at}" for at, call in enumerate(calls))
        query = sqlwin.query(self.form.format(items=items), {"input": self._stream})
        query.push("input", self.rows.filter(pc.field("g").isin(list(groups))))
        query.drain()
        found = query.table()
        if query.refused():
            raise RunError(f"rows that fail: {query.refused()}")
        return {
            (call, group): canonical(value)
            for at, call in enumerate(calls)
            for group, value in zip(found["g"].to_pylist(), found[f"c{at}"], strict=True)
        }
