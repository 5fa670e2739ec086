"""`sqlwin run --record` and `--ui`: who looks at the rows of each batch."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field
from typing import Any

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.metrics import OnMetrics, QueryMetrics
from sqlwin.runtime.connectors.progress import BatchRows, OnRows


@dataclass
class Observers:
    rows: list[OnRows] = field(default_factory=list)
    metrics: list[OnMetrics] = field(default_factory=list)

    def hooks(self, on_metrics: OnMetrics | None) -> dict[str, Any]:
        """Of the options of a run; those that nobody wants are None."""
        metrics = [*([on_metrics] if on_metrics else []), *self.metrics]

        def all_metrics(batch: QueryMetrics) -> None:
            for each in metrics:
                each(batch)

        def all_rows(batch: BatchRows) -> None:
            for each in self.rows:
                each(batch)

        return {
            "on_metrics": all_metrics if metrics else None,
            "on_rows": all_rows if self.rows else None,
        }


@contextmanager
def observed(
    arguments: argparse.Namespace, script: Script, say: Callable[[str], None]
) -> Iterator[Observers]:
    """say: gets the address of the live page."""
    title, bounded = arguments.file.name, arguments.engine == "spark"
    found = Observers()
    with ExitStack() as opened:
        if arguments.record is not None:
            from sqlwin.timeline.observers import recording_file

            file = recording_file(arguments.record, script, title, bounded)
            found.rows.append(opened.enter_context(file))
        if arguments.ui is not None:
            from sqlwin.timeline.live import Live, served

            live = Live(script, title, bounded)
            say(opened.enter_context(served(live, arguments.ui)))
            found.rows.append(live.rows)
            found.metrics.append(live.metrics)
        yield found
