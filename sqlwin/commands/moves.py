"""`sqlwin state` where it makes checkpoints and files: `--export`, `--import`, `--repartition`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sqlwin.embedded.checkpoint import moves as embedded
from sqlwin.embedded.checkpoint import reader as checkpoint_reader
from sqlwin.errors import InputError
from sqlwin.running.progress import Progress

MOVES = ("export", "import_", "repartition")
QUESTIONS = ("key", "since", "to", "store", "sql", "batch")


def moves(arguments: argparse.Namespace) -> bool:
    """Whether it is one of these; InputError where it is several things at once."""
    given = [name for name in MOVES if getattr(arguments, name) is not None]
    chosen = [name for name in QUESTIONS if getattr(arguments, name) is not None]
    named = [f"--{name.rstrip('_')}" for name in given]
    if given and (len(given) > 1 or chosen or arguments.status):
        raise InputError(f"{named[0]} stands alone: it asks nothing")
    only = {"buckets": ("import_",), "partitions": ("import_", "repartition")}
    for name, behind in {**only, "engine": ("import_",)}.items():
        if getattr(arguments, name) is not None and not set(given) & set(behind):
            legal = " or ".join(f"--{each.rstrip('_')}" for each in behind)
            raise InputError(f"--{name} goes with {legal}")
    return bool(given)


def move(arguments: argparse.Namespace) -> int:
    progress, path = Progress(sys.stderr), arguments.file
    if arguments.export is not None:
        _export(progress, path, arguments.export)
        progress.stopped(f"exported to {arguments.export}")
    elif arguments.import_ is not None:
        _import(progress, arguments)
        progress.stopped(f"imported into {path}; a run with --checkpoint {path} goes on from there")
    else:
        _repartition(progress, arguments)
    return 0


def _export(progress: Progress, path: Path, file: Path) -> None:
    if checkpoint_reader.is_checkpoint(path):
        embedded.export_checkpoint(path, file)
        return
    _check_sparks(path)
    from sqlwin.spark.checkpoint.exporting import export_checkpoint
    from sqlwin.spark.session.local import local_session

    progress.starting("Spark")
    export_checkpoint(local_session(), path, file)


def _import(progress: Progress, arguments: argparse.Namespace) -> None:
    if arguments.engine == "embedded":
        if arguments.buckets is not None or arguments.partitions is not None:
            raise InputError("a checkpoint in process has no buckets and no partitions")
        embedded.import_checkpoint(arguments.import_, arguments.file)
        return
    from sqlwin.spark.checkpoint.importing import import_checkpoint
    from sqlwin.spark.session.local import local_session

    progress.starting("Spark")
    import_checkpoint(
        local_session(),
        arguments.import_,
        arguments.file,
        arguments.buckets,
        arguments.partitions,
    )


def _repartition(progress: Progress, arguments: argparse.Namespace) -> None:
    path: Path = arguments.file
    if checkpoint_reader.is_checkpoint(path):
        raise InputError(f"{path} is a checkpoint in process, which has no buckets")
    _check_sparks(path)
    from sqlwin.spark.checkpoint.repartitioning import repartition
    from sqlwin.spark.session.local import local_session

    progress.starting("Spark")
    number = arguments.repartition
    before = repartition(local_session(), path, number, arguments.partitions)
    progress.stopped(f"{path} has {number} buckets; as it was before it is in {before}")


def _check_sparks(path: Path) -> None:
    if not (path / "sqlwin").is_dir():
        raise InputError(f"{path} is no checkpoint: it is of neither engine")
