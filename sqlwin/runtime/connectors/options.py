"""How a script is run, the same for every engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.connectors.function_sink import TakeBatch
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.progress import OnBatch, OnErrors, OnRows, OnWarning
from sqlwin.runtime.rows.malformed import Limit

if TYPE_CHECKING:
    import polars as pl


def silent(_: object) -> None:
    pass


def never() -> bool:
    return False


def warned(text: str) -> None:
    """As a warning of Python's."""
    warnings.warn(text, stacklevel=2)


@dataclass(frozen=True)
class RunOptions:
    """base: what relative paths of the script are relative to.

    checkpoint: where state is kept between runs; None: nowhere. A run without one
    ends drained, with every window closed; a run with one keeps windows open for the
    next, unless `drain`. follow: go on as files arrive. show: results of queries
    that have no sink, or a console. on_errors: rows of the error stream. on_warning: what
    ends no run and should be looked at; it may come more than once. max_errors: malformed
    rows that are still taken; None: any number. opens: whether anything is opened; without,
    secrets of options are not looked up. functions: of the sinks that are Python functions, by
    name of the sink. stop: is called between batches; True ends the run there.
    on_metrics: gets the metrics of each batch; None: they are not measured.
    on_rows: gets the rows of each batch, once sinks have them; None: nobody looks at them.
    on_started: is called when Spark is up.
    conf: settings of Spark; those of the script's SET go before them. watched: somebody sees the
    results arrive, so batches in process are small, and state in memory is measured too.
    """

    base: Path
    checkpoint: Path | None = None
    drain: bool = False
    follow: bool = False
    show: Callable[[pl.DataFrame], None] = silent
    on_errors: OnErrors = silent
    on_batch: OnBatch = silent
    opens: bool = True
    on_warning: OnWarning = silent
    max_errors: Limit | None = None
    functions: Mapping[str, TakeBatch] = field(default_factory=dict)
    stop: Callable[[], bool] = never
    on_metrics: OnMetrics | None = None
    on_rows: OnRows | None = None
    on_started: Callable[[], object] = never
    conf: Mapping[str, str] = field(default_factory=dict)
    watched: bool = False

    @property
    def ends(self) -> bool:
        """Whether the run closes every window at its end."""
        return not self.follow and (self.drain or self.checkpoint is None)
