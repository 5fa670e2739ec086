"""sqlwin on Spark, by the way that `sqlwin run` takes, and what each batch took."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.data import Data
from bench.measure import Batch
from bench.progress import Account
from bench.queries import Question, script
from bench.run import Asked, Done
from sqlwin.runtime.options import RunOptions
from sqlwin.runtime.progress import Batch as Told
from sqlwin.spark import run as host
from sqlwin.spark.session import local_session
from sqlwin.spark.source import Settings
from sqlwin.sql import script as parsed


def run(asked: Asked, question: Question, data: Data) -> Done:
    query = parsed(script(question, data.folder, asked.results_path))
    spark = local_session(asked.cores)
    account, told = Account(), list[Told]()
    spark.streams.addListener(account)
    _batch_bytes(asked.batch_files * data.file_bytes)
    summary = host.run(query, RunOptions(Path(), on_batch=told.append), spark)
    batches = [
        replace(batch, rows=said.read)
        for batch, said in zip(account.worked(), told, strict=True)
    ]
    spark.stop()
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))


def _batch_bytes(size: int) -> None:
    """As much a batch as the others take, in place of the 256 MB of `sqlwin run`."""

    class Sized(Settings):
        def __init__(self, *args: object, **named: object) -> None:
            super().__init__(*args, **{"batch_bytes": size, **named})  # type: ignore[arg-type]

    host.Settings = Sized  # type: ignore[misc]
