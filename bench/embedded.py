"""sqlwin in this process, with no JVM; one file is one batch."""

from __future__ import annotations

import time
from pathlib import Path

from bench.data import Data
from bench.measure import Batch
from bench.queries import Question, script
from bench.run import Asked, Done
from sqlwin.embedded.run import run as run_script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch as Told
from sqlwin.sql import script as parsed


def run(asked: Asked, question: Question, data: Data) -> Done:
    query = parsed(script(question, data, asked.results_path))
    batches: list[Batch] = []
    last = time.time()

    def told(batch: Told) -> None:
        nonlocal last
        now = time.time()
        batches.append(Batch(last, now, batch.read))
        last = now

    summary = run_script(query, RunOptions(Path(), on_batch=told))
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))
