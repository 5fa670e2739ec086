"""Metrics of a batch of one query, as JSON lines and in the text format of Prometheus.

One value is one batch. A line has it whole; Prometheus has totals of what is counted, and the last
value of what is measured.

>>> one = OperatorMetrics("WindowAggregate", rows_in=3, rows_out=1)
>>> batch = QueryMetrics(0, 7, 1_700_000_000_000_000, 3, 1, {"expired": 1},
...     {"orders": 1_699_999_990_000_000}, {"operators": 0.25, "sinks": 0.5}, (one,))
>>> json.loads(batch.line())["watermark_lag_seconds"]
{'orders': 10.0}
>>> totals = Totals()
>>> totals.add(batch)
>>> totals.add(batch)
>>> [line for line in totals.text().splitlines() if line.startswith("sqlwin_errors")]
['sqlwin_errors_total{query="0",reason="expired"} 2']
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, field

from sqlwin.instants import END, SECOND, START, format_instant
from sqlwin.lazy_dataclass import dataclass

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class OperatorMetrics:
    """Of all buckets. operator: the node of the plan. late: rows older than the watermark that
    count. expired: rows beyond retention. state_rows, state_bytes: as written by the last commit;
    None where nothing is kept. seconds: that it worked, in all buckets together."""

    operator: str
    rows_in: int = 0
    late: int = 0
    expired: int = 0
    rows_out: int = 0
    replayed: int = 0
    state_rows: int | None = None
    state_bytes: int | None = None
    windows_open: int | None = None
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class QueryMetrics:
    """query: its number in the script, from 0. at: when the batch ended, microseconds. errors:
    rows by reason, also those that are counted only. seconds: of the batch, by what took them.
    operators: those of the stages below first. unread: what is known and not read yet, by stream.
    lag: by stream and partition of a topic, offsets that are not read yet. input_bytes: of each
    stream of files, those that were read, and those that there are.
    """

    query: int
    batch: int
    at: int
    rows_read: int
    rows_emitted: int
    errors: Mapping[str, int]
    watermarks: Mapping[str, int]
    seconds: Mapping[str, float]
    operators: tuple[OperatorMetrics, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    lag: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    input_bytes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def lags(self) -> dict[str, float]:
        """Seconds that each watermark is behind the clock; of those that there are."""
        return {name: (self.at - mark) / SECOND for name, mark in self._marks.items()}

    def line(self) -> str:
        """One JSON object."""
        return json.dumps(
            {
                "time": format_instant(self.at),
                "query": self.query,
                "batch": self.batch,
                "rows_read": self.rows_read,
                "rows_emitted": self.rows_emitted,
                "errors": dict(self.errors),
                "watermarks": {name: format_instant(mark) for name, mark in self._marks.items()},
                "watermark_lag_seconds": self.lags,
                "seconds": {name: round(taken, 6) for name, taken in self.seconds.items()},
                "unread_splits": dict(self.unread),
                "input_bytes": dict(self.input_bytes),
                "consumer_lag": {stream: dict(parts) for stream, parts in self.lag.items()},
                "operators": [asdict(each) for each in self.operators],
            }
        )

    @property
    def _marks(self) -> dict[str, int]:
        return {name: mark for name, mark in self.watermarks.items() if START < mark < END}


OnMetrics = Callable[[QueryMetrics], None]

COUNTED = ("rows_in", "late", "expired", "rows_out", "replayed")
MEASURED = ("state_rows", "state_bytes", "windows_open")
HELP = {
    "sqlwin_batches_total": "batches",
    "sqlwin_rows_read_total": "rows read",
    "sqlwin_rows_emitted_total": "results",
    "sqlwin_errors_total": "rows that were not taken, by reason",
    "sqlwin_batch_seconds_total": "seconds of batches, by what took them",
    "sqlwin_watermark_seconds": "the watermark of a stream, seconds since 1970",
    "sqlwin_unread_splits": "files or ranges that are known and not read yet",
    "sqlwin_consumer_lag": "offsets of a partition that are not read yet",
    "sqlwin_last_batch_seconds": "when the last batch ended, seconds since 1970",
    **{f"sqlwin_operator_{name}_total": f"rows: {name}, by operator" for name in COUNTED},
    "sqlwin_operator_seconds_total": "seconds of work, by operator",
    **{f"sqlwin_operator_{name}": f"{name}, by operator" for name in MEASURED},
}


@dataclass
class Totals:
    """All batches so far, for Prometheus: names that end in _total only grow."""

    values: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def add(self, batch: QueryMetrics) -> None:
        for name, labels, value in _samples(batch):
            known = self.values.get((name, labels), 0.0) if name.endswith("_total") else 0.0
            self.values = {**self.values, (name, labels): known + value}

    def text(self) -> str:
        """The exposition format, version 0.0.4."""
        lines: list[str] = []
        for name, about in HELP.items():
            found = [(labels, v) for (known, labels), v in self.values.items() if known == name]
            if found:
                kind = "counter" if name.endswith("_total") else "gauge"
                lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{{{_written(labels)}}} {value:.15g}" for labels, value in found]
        return "\n".join(lines) + "\n"


def _samples(batch: QueryMetrics) -> Iterator[tuple[str, Labels, float]]:
    query: Labels = (("query", str(batch.query)),)
    yield "sqlwin_batches_total", query, 1
    yield "sqlwin_rows_read_total", query, batch.rows_read
    yield "sqlwin_rows_emitted_total", query, batch.rows_emitted
    yield "sqlwin_last_batch_seconds", query, batch.at / SECOND
    for reason, rows in batch.errors.items():
        yield "sqlwin_errors_total", (*query, ("reason", reason)), rows
    for part, seconds in batch.seconds.items():
        yield "sqlwin_batch_seconds_total", (*query, ("part", part)), seconds
    for stream, mark in batch._marks.items():
        yield "sqlwin_watermark_seconds", (*query, ("stream", stream)), mark / SECOND
    yield from _unread(batch, query)
    for stage, operator in enumerate(batch.operators):
        labels = (*query, ("stage", str(stage)), ("operator", operator.operator))
        for name in (*COUNTED, "seconds"):
            yield f"sqlwin_operator_{name}_total", labels, getattr(operator, name)
        for name in MEASURED:
            if getattr(operator, name) is not None:
                yield f"sqlwin_operator_{name}", labels, getattr(operator, name)


def _unread(batch: QueryMetrics, query: Labels) -> Iterator[tuple[str, Labels, float]]:
    for stream, splits in batch.unread.items():
        yield "sqlwin_unread_splits", (*query, ("stream", stream)), splits
    for stream, parts in batch.lag.items():
        for part, offsets in parts.items():
            labels = (*query, ("stream", stream), ("partition", part))
            yield "sqlwin_consumer_lag", labels, offsets


def _written(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
