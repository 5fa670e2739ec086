"""`sqlwin state`: what a checkpoint keeps."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa

from sqlwin.commands.moves import move, moves
from sqlwin.errors import InputError
from sqlwin.running.progress import Progress
from sqlwin.running.screen import screen
from sqlwin.runtime.checkpoint.snapshot import Snapshot
from sqlwin.runtime.inputs.admission import MESSAGES


def run(arguments: argparse.Namespace) -> int:
    if moves(arguments):
        return move(arguments)
    table = _status(arguments) if arguments.status else _asked(arguments, _snapshot(arguments))
    found: pl.DataFrame = pl.from_arrow(table)  # type: ignore[assignment]
    screen(arguments.format, sys.stdout)(found)
    return 0


def _status(arguments: argparse.Namespace) -> pa.Table:
    from sqlwin.embedded.checkpoint import reader as embedded
    from sqlwin.runtime.checkpoint.status import table

    options = ("key", "since", "to", "store", "sql", "batch")
    if any(getattr(arguments, name) is not None for name in options):
        raise InputError("--status stands alone: it is of the last commit, and of no window")
    path: Path = arguments.file
    if embedded.is_checkpoint(path):
        return table(embedded.status(path, arguments.query))
    if not (path / "sqlwin").is_dir():
        raise InputError(f"{path} is no checkpoint: it is of neither engine")
    from sqlwin.spark.checkpoint.state_queries import status

    return table(status(path))


def _snapshot(arguments: argparse.Namespace) -> Snapshot:
    from sqlwin.embedded.checkpoint import reader as embedded

    path: Path = arguments.file
    if embedded.is_checkpoint(path):
        return embedded.state(path, arguments.query, arguments.batch)
    if not (path / "sqlwin").is_dir():
        raise InputError(f"{path} is no checkpoint: it is of neither engine")
    from sqlwin.spark.checkpoint.state_queries import state
    from sqlwin.spark.session.local import local_session

    Progress(sys.stderr).starting("Spark")
    return state(local_session(), path, arguments.batch, arguments.query)


def _asked(arguments: argparse.Namespace, state: Snapshot) -> pa.Table:
    """A SELECT, messages, the records of a store, windows, or else the stores."""
    since, until = _at(arguments.since), _at(arguments.to)
    key = None if arguments.key is None else _key(arguments.key)
    narrowed = (since, until, key) != (None, None, None)
    if arguments.sql is not None and (narrowed or arguments.store is not None):
        raise InputError("--sql stands alone: say the rest in its WHERE")
    if arguments.sql is not None:
        return state.sql(arguments.sql)
    if arguments.store in MESSAGES and narrowed:
        if state.by_join_keys:
            return state.messages(start_time=since, end_time=until, join_keys=key)
        return state.messages(start_time=since, end_time=until, key=key)
    if arguments.store is not None and narrowed:
        raise InputError("--key, --from and --to ask windows, or --store messages")
    if arguments.store is not None:
        return state.records(arguments.store)
    return state.windows(since, until, key) if narrowed else state.stores()


def _key(text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError:
        raise InputError(
            f"--key is JSON, such as '\"tea\"' or '{{\"k\": 1}}', not {text}"
        ) from None
    return found if isinstance(found, dict | list) else [found]


def _at(text: str | None) -> str | int | None:
    """An instant, or a number of microseconds or of a message."""
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text
