"""A script's query in this process, on the reference: windows and joins by definition.

Rows that RETAIN n ROWS has left behind are sent to the error stream by the front here. It
keeps no stores.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.policies import Expired
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.input_pipeline import InputPipeline, PreparedRows
from sqlwin.runtime.rows.error_stream import EXPIRED, judged, rejects
from sqlwin.schema import POSITION, WEIGHT
from tests.reference.definitions.forgetting import Forgetting
from tests.reference.lowering import specified
from tests.reference.operator import ReferenceOperator


def reference(parsed: Script) -> EmbeddedQuery:
    """A script's query in this process, on the reference operator."""
    query = EmbeddedQuery(parsed, explain, specified)

    def begin() -> None:
        for task in query._task.tasks:
            operator = task.query.operator
            if isinstance(operator, Forgetting):
                operator.begin(query._position.now, task.stores)

    query._pipelines = [ReferencePipeline(f.query, begin, at=f.at) for f in query._chain.pipelines]
    return query


@dataclass(frozen=True)
class ReferencePipeline(InputPipeline):
    """As Front, and late rows that RETAIN n ROWS has left behind are expired.

    begin: has what has outlived its TTL forgotten.
    """

    begin: Callable[[], None]

    def process(
        self,
        raw: pl.DataFrame,
        watermark: int | None,
        lost: pl.DataFrame | None = None,
        now: int = 0,
    ) -> PreparedRows:
        prepared = super().process(raw, watermark, lost, now)
        self.begin()
        operator = self.query.operator
        if isinstance(operator, Forgetting):
            operator = operator.inner
        if watermark is None or not isinstance(operator, ReferenceOperator):
            return prepared
        if operator.policy.expired is Expired.EMIT:
            return prepared
        expired, in_part = operator.expired(prepared.rows), operator.missing(prepared.rows)
        if expired.is_empty() and in_part.is_empty():
            return prepared
        timed, _ = self._timed(raw, watermark, now)
        on = [name for name in (*POSITION, WEIGHT) if name in expired.columns]
        emitted = [prepared.errors]
        for found, reason in ((expired, EXPIRED), (in_part, operator.in_part)):
            rows = timed.join(found.select(on), on=on, how="semi", maintain_order="left")
            errors = rejects(self.query.stream.name, rows, [reason] * len(rows), watermark)
            emitted.append(judged(errors, self.query.expired))
        kept = prepared.rows.join(expired.select(on), on=on, how="anti", maintain_order="left")
        return PreparedRows(kept, pl.concat(emitted), prepared.marks)
