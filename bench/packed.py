"""sqlwin on Spark, by the way that `sqlwin run` takes, and what each batch took."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.data import Data
from bench.progress import Account
from bench.queries import Question, script
from bench.run import Asked, Done
from sqlwin.runtime.options import RunOptions
from sqlwin.runtime.progress import Batch
from sqlwin.spark.session import local_session
from sqlwin.spark.source import Settings
from sqlwin.sql import script as parsed

HOST = "sqlwin.spark.run"


def run(asked: Asked, question: Question, data: Data) -> Done:
    query = parsed(script(question, data.folder, asked.results_path))
    spark = local_session(asked.cores)
    account = Account()
    spark.streams.addListener(account)
    host = _host(asked.batch_files * data.file_bytes)
    told: list[Batch] = []
    summary = host.run(query, RunOptions(Path(), on_batch=told.append), spark)
    batches = [
        replace(batch, rows=said.read) for batch, said in zip(account.worked(), told, strict=True)
    ]
    spark.stop()
    return Done(batches, emitted=summary.emitted, refused=sum(summary.refused.values()))


def _host(size: int) -> Any:
    """The host, with as many bytes a batch as the others take in place of 256 MB."""
    host: Any = importlib.import_module(HOST)
    host.Settings = partial(Settings, batch_bytes=size)
    return host
