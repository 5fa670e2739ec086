"""What a batch did, and how it reaches the sinks and the callbacks."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.connectors.metrics import OperatorMetrics, QueryMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import Outlet
from sqlwin.runtime.connectors.progress import Batch, BatchRows, Summary
from sqlwin.runtime.rows.error_stream import located, no_rejects, reasons
from sqlwin.runtime.rows.malformed import Malformed
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.sources.listing import Places, Reading
from sqlwin.spark.stages.wire import Done

RUN = "run.json"
"""The name of a checkpoint, for sinks that know batches by it."""


@dataclass(frozen=True)
class QueryBatch:
    """The outputs of one query in one batch. seconds: what all queries of the batch took.

    arrived: rows of its streams, of a run that is recorded. before: watermarks before the batch.
    """

    results: pl.DataFrame
    errors: pl.DataFrame
    done: list[Done]
    warnings: tuple[str, ...] = ()
    operators: tuple[OperatorMetrics, ...] = ()
    seconds: float = 0.0
    arrived: Sequence[tuple[str, pl.DataFrame]] = ()
    before: Mapping[str, int] = field(default_factory=dict)

    @property
    def emitted(self) -> int:
        return sum(done.emitted for done in self.done)

    @property
    def read(self) -> int:
        """Each bucket of a stage counts all its rows."""
        return sum({done.stage: done.read for done in self.done}.values())

    @property
    def watermarks(self) -> dict[str, int]:
        return {name: at for done in self.done for name, at in done.watermarks.items()}


OnBatch = Callable[[int, dict[int, QueryBatch]], None]
"""Number of the batch, and the outputs of each query in it."""


@dataclass
class Delivery:
    """Brings what a batch did to the sinks and the callbacks. places: see `located`.
    reading: how far streams are read after a batch.

    A batch that runs twice has the same outputs, so a sink that sends them once knows them by the
    run and the batch. run: the name of the checkpoint.
    """

    outlets: list[Outlet]
    options: RunOptions
    malformed: Malformed
    run: str = ""
    summary: Summary = field(default_factory=Summary)
    failure: BaseException | None = None
    places: Callable[[], Places] = dict
    reading: Callable[[int], Reading] = lambda _: Reading()

    def name_run(self, folder: Folder) -> None:
        """folder: of the checkpoint, which the name stays in."""
        if any(outlet.sends for outlet in self.outlets):
            self.run = _name_of_run(folder)

    def __call__(self, batch: int, results: dict[int, QueryBatch]) -> None:
        """failure: what was raised here, which Spark would give as a text with its traces."""
        try:
            self._deliver(batch, results)
        except BaseException as failure:
            self.failure = failure
            raise

    def _deliver(self, batch: int, given: dict[int, QueryBatch]) -> None:
        results = {query: self._located(what) for query, what in given.items()}
        for query, what in results.items():
            self.malformed.see(query, batch, what.read, what.errors)
        for query, what in results.items():
            began = time.perf_counter()
            self.outlets[query].write(batch, what.results, what.errors)
            if self.outlets[query].sends:
                self.outlets[query].send(self.run, batch, what.results, what.errors)
            self._measure(query, batch, what, time.perf_counter() - began)
            self._show(query, batch, what)
        errors = pl.concat([no_rejects(), *(what.errors for what in results.values())])
        progress = Batch(
            batch,
            sum(what.read for what in results.values()),
            sum(what.emitted for what in results.values()),
            len(errors),
            {name: at for what in results.values() for name, at in what.watermarks.items()},
        )
        self.summary.add(progress, errors)
        self.summary.replayed += sum(d.replayed for what in results.values() for d in what.done)
        for warning in dict.fromkeys(each for what in results.values() for each in what.warnings):
            self.options.on_warning(warning)
        self.options.on_batch(progress)

    def _show(self, query: int, batch: int, what: QueryBatch) -> None:
        if self.options.on_rows is None:
            return
        before, after, now = what.before, what.watermarks, time.time_ns() // 1_000
        made = (what.arrived, what.results, what.errors, before, after, now, what.read)
        self.options.on_rows(BatchRows(query, batch, *made))

    def _located(self, what: QueryBatch) -> QueryBatch:
        if what.errors.is_empty():
            return what
        return replace(what, errors=located(what.errors, self.places()))

    def _measure(self, query: int, batch: int, what: QueryBatch, sinks: float) -> None:
        if self.options.on_metrics is None:
            return
        reading = self.reading(batch)
        metrics = QueryMetrics(
            query,
            batch,
            time.time_ns() // 1_000,
            what.read,
            what.emitted,
            Counter(reasons(what.errors)),
            what.watermarks,
            {"operators": what.seconds, "sinks": sinks},
            what.operators,
            lag={name: each for name, each in reading.lags.items() if name in what.watermarks},
            input_bytes={n: size for n, size in reading.sizes.items() if n in what.watermarks},
        )
        self.options.on_metrics(metrics)


def _name_of_run(folder: Folder) -> str:
    """Unlike that of any other checkpoint."""
    if folder.json(RUN) is None:
        folder.write(RUN, json.dumps({"run": uuid.uuid4().hex}))
    return str(folder.json(RUN)["run"])
