"""sqlwin on Spark, by the way that `sqlwin run` takes, and what each batch took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.data import Data
from bench.progress import Account
from bench.queries import Question, script
from bench.run import Asked, Done
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch
from sqlwin.spark.run import run as run_script
from sqlwin.spark.session import local_session
from sqlwin.sql import script as parsed


def run(asked: Asked, question: Question, data: Data) -> Done:
    size = asked.batch_files * data.file_bytes * len(data.folders)
    text = f"SET 'batch.bytes' = {size};" + script(question, data, asked.results_path)
    spark = local_session(asked.cores)
    account = Account()
    spark.streams.addListener(account)
    told: list[Batch] = []
    summary = run_script(parsed(text), RunOptions(Path(), on_batch=told.append), spark)
    batches = [
        replace(batch, rows=said.read) for batch, said in zip(account.worked(), told, strict=True)
    ]
    spark.stop()
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))
