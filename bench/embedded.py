"""sqlwin in this process, with no JVM; one file is one batch."""

from __future__ import annotations

import time
from pathlib import Path

from bench.data import Data
from bench.measure import Batch
from bench.queries import Query, script
from bench.run import Done, RunSpec
from sqlwin.embedded.run import run as run_script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch as Progressed
from sqlwin.sql import script as parsed


def run(spec: RunSpec, query: Query, data: Data) -> Done:
    plan = parsed(script(query, data, spec.results_path))
    batches: list[Batch] = []
    last = time.time()

    def noted(batch: Progressed) -> None:
        nonlocal last
        now = time.time()
        batches.append(Batch(last, now, batch.read))
        last = now

    summary = run_script(plan, RunOptions(Path(), on_batch=noted))
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))
