"""EXPLAIN ANALYZE: a query runs, its results go nowhere, and its plan says what each operator did.

State is kept in a folder that goes when the run has ended, so that its size is known; it is
greatest after some batch, and that is what is shown. Nothing else differs from a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Query, Script, Sink
from sqlwin.runtime.connectors.metrics import OperatorMetrics, QueryMetrics
from sqlwin.runtime.connectors.options import RunOptions, silent
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.runtime.lowering.explained import explain, explain_measured

Run = Callable[[Script, RunOptions], Summary]
NOWHERE = ("connector", "none")


@dataclass
class Measured:
    """Batches of one query, together. operators: of the stages below first."""

    batches: int = 0
    read: int = 0
    emitted: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    operators: list[OperatorMetrics] = field(default_factory=list)

    def add(self, batch: QueryMetrics) -> None:
        self.batches += 1
        self.read += batch.rows_read
        self.emitted += batch.rows_emitted
        self.errors.update(batch.errors)
        self.seconds.update(batch.seconds)
        before = self.operators or [OperatorMetrics(each.operator) for each in batch.operators]
        self.operators = [*map(_both, before, batch.operators)]

    def lines(self) -> list[str]:
        return [_did(each) for each in self.operators]

    def summary(self) -> str:
        refused = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.errors.items()))
        parts = ", ".join(f"{part} {taken:.3f} s" for part, taken in self.seconds.items())
        return (
            f"Measured: {self.read:,} rows read, {self.emitted:,} results in {self.batches:,} "
            f"batches; error stream: {refused or 'nothing'}\nTime: {parts or 'none'}"
        )


def analyzed(script: Script, query: Query, options: RunOptions, run: Run) -> str:
    """What EXPLAIN says of a query, with what was measured; as `run` fails where it fails.

    options: where paths are, what ends a run early and how it warns; nothing else of them counts.
    """
    measured = Measured()
    alone = replace(
        query,
        explain=False,
        analyze=False,
        sink=_nowhere(query.sink),
        errors=_nowhere(query.errors),
    )
    with TemporaryDirectory(prefix="sqlwin-analyze-", ignore_cleanup_errors=True) as folder:
        measuring = replace(
            options,
            checkpoint=Path(folder) / "state",
            drain=True,
            follow=False,
            show=silent,
            on_batch=silent,
            on_errors=silent,
            on_metrics=measured.add,
        )
        run(replace(script, statements=(alone,)), measuring)
    if not measured.operators:
        return f"{explain(query)}\n{measured.summary()}"
    return f"{explain_measured(query, measured.lines())}\n{measured.summary()}"


def explained(script: Script, options: RunOptions, run: Run) -> Callable[[Query], str]:
    """What answers EXPLAIN, and EXPLAIN ANALYZE, of a script's queries."""

    def answer(query: Query) -> str:
        return analyzed(script, query, options, run) if query.analyze else explain(query)

    return answer


def _nowhere(sink: Sink | None) -> Sink | None:
    """What holds the same changes, and writes nothing."""
    if sink is None:
        return Sink("", None, (NOWHERE,))
    kept = [option for option in sink.options if option[0] == "changelog"]
    return replace(sink, options=(*kept, NOWHERE))


def _both(before: OperatorMetrics, after: OperatorMetrics) -> OperatorMetrics:
    """Counts of both, and the larger state."""
    return OperatorMetrics(
        after.operator,
        rows_in=before.rows_in + after.rows_in,
        late=before.late + after.late,
        expired=before.expired + after.expired,
        rows_out=before.rows_out + after.rows_out,
        replayed=before.replayed + after.replayed,
        state_rows=_larger(before.state_rows, after.state_rows),
        state_bytes=_larger(before.state_bytes, after.state_bytes),
        windows_open=_larger(before.windows_open, after.windows_open),
        seconds=before.seconds + after.seconds,
    )


def _larger(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _did(operator: OperatorMetrics) -> str:
    """One line of the plan, below its operator.

    >>> _did(OperatorMetrics("TopN", 9, 1, 0, 3, state_rows=2, state_bytes=1400, seconds=0.25))
    'rows in 9, late 1, expired 0, rows out 3; state at most 2 records, 1,400 bytes; 0.250 s'
    """
    state = "no state"
    if operator.state_rows and operator.state_bytes:
        state = f"state at most {operator.state_rows:,} records, {operator.state_bytes:,} bytes"
    if operator.windows_open is not None:
        state += f", {operator.windows_open:,} open windows"
    return (
        f"rows in {operator.rows_in:,}, late {operator.late:,}, expired {operator.expired:,}, "
        f"rows out {operator.rows_out:,}; {state}; {operator.seconds:.3f} s"
    )
