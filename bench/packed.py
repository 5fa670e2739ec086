"""sqlwin on Spark, by the way that `sqlwin run` takes, and what each batch took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.data import Data
from bench.progress import Account
from bench.queries import Query, script
from bench.run import Done, RunSpec
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch
from sqlwin.spark.run import run as run_script
from sqlwin.spark.session.local import local_session
from sqlwin.sql import script as parsed


def run(spec: RunSpec, query: Query, data: Data) -> Done:
    size = spec.batch_files * data.file_bytes * len(data.folders)
    text = f"SET 'batch.bytes' = {size};" + script(query, data, spec.results_path)
    spark = local_session(spec.cores)
    account = Account()
    spark.streams.addListener(account)
    done: list[Batch] = []
    summary = run_script(parsed(text), RunOptions(Path(), on_batch=done.append), spark)
    batches = [
        replace(batch, rows=each.read) for batch, each in zip(account.worked(), done, strict=True)
    ]
    spark.stop()
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))
