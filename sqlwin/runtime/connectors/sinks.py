"""Where results go: files, tables, topics, nowhere, or a writer of the caller's.

A batch is written under its number, and writing it again replaces it, so a
batch that is replayed after a crash is there once. What a topic has stays; it is sent after the
commit, see `Outlet.sends`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Sink as Declared
from sqlwin.plan.options.checks import check_whole
from sqlwin.plan.options.connectors import LAKES, PARTITIONED, SINKS, STATIC, connector_of
from sqlwin.plan.options.table_options import key_columns
from sqlwin.runtime.connectors.function_sink import PYTHON, TakeBatch, function_sink
from sqlwin.runtime.files.atomic_files import removed, replaced, synced
from sqlwin.schema import CHANGELOG_NAMES
from sqlwin.system.secrets import opened

if TYPE_CHECKING:
    import polars as pl

Show = Callable[["pl.DataFrame"], None]
FORMATS = {"json": "jsonl", "csv": "csv", "parquet": "parquet"}


class Sink(Protocol):
    def write(self, batch: int, rows: pl.DataFrame) -> None:
        """Take the results of a batch; again with the same number, it replaces them."""


@runtime_checkable
class SendingSink(Sink, Protocol):
    """One whose batches stay: it knows those of each run by their numbers."""

    run: str


@dataclass
class Screen:
    """Hands every batch to a function; what was shown cannot be taken back."""

    show: Show

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        if not rows.is_empty():
            self.show(rows)


@dataclass
class Nowhere:
    def write(self, batch: int, rows: pl.DataFrame) -> None:
        pass


@dataclass
class Files:
    """One file a batch; a reader never sees half of one. writer: its number among several.

    begun: whether a batch was written. Batches come in the order of their numbers, so
    parts behind the first of them are of another run, and go.
    """

    folder: Path
    format: str
    writer: int = 1
    begun: bool = False

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        from polars.exceptions import PolarsError

        target = self.folder / self._name(batch)
        try:
            self._write(batch, rows, target)
        except (OSError, PolarsError) as failure:
            why = getattr(failure, "strerror", None) or failure
            raise RunError(f"cannot write {target}: {why}; the last commit stands") from failure

    def _name(self, batch: int) -> str:
        return f"{self._own}{batch:08d}.{FORMATS[self.format]}"

    def _write(self, batch: int, rows: pl.DataFrame, target: Path) -> None:
        if not self.begun:
            self._clear(batch, self.folder)
            synced(self.folder)  # a run that was killed may have left that to us
            self.begun = True
        self._put(rows, target)

    def _put(self, rows: pl.DataFrame, target: Path) -> None:
        if rows.is_empty():
            removed(target)
            return
        with replaced(target) as unfinished:
            self._dump(rows, unfinished)

    @property
    def _own(self) -> str:
        return "part-" if self.writer == 1 else f"part-{self.writer}-"

    def _clear(self, after: int, folder: Path) -> None:
        for part in folder.glob(f"{self._own}*.{FORMATS[self.format]}"):
            number = part.stem.removeprefix(self._own)
            if number.isdigit() and int(number) > after:
                removed(part)
        for unfinished in folder.glob(f".{self._own}*.{FORMATS[self.format]}.*"):
            number = unfinished.name.removeprefix(f".{self._own}").partition(".")[0]
            if number.isdigit():  # a process that was killed left it
                removed(unfinished)

    def _dump(self, rows: pl.DataFrame, path: Path) -> None:
        from sqlwin.runtime.rows.render import csv_text, json_lines

        if self.format == "parquet":
            rows.write_parquet(path)
        elif self.format == "csv":
            path.write_text(csv_text(rows, header=True), encoding="utf-8")
        else:
            path.write_text("".join(line + "\n" for line in json_lines(rows)), encoding="utf-8")


@dataclass
class Appending:
    """Rows that stay as they are, without what says how they change."""

    sink: Sink

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        self.sink.write(batch, rows.drop(CHANGELOG_NAMES.values(), strict=False))


def sent_once(sink: Sink) -> SendingSink | None:
    """The sink, or the one within, where what is written stays."""
    inner = sink.sink if isinstance(sink, Appending) else sink
    return inner if isinstance(inner, SendingSink) else None


def open_sink(
    declared: Declared | None,
    base: Path,
    show: Show,
    writer: int = 1,
    opens: bool = True,
    errors: bool = False,
    functions: Mapping[str, TakeBatch] | None = None,
) -> Sink:
    """The sink of a query; no declared one is the screen. QueryError for bad options.

    writer: the number of this one among those that write to the same sink, from 1. opens:
    whether it is going to be written, so that secrets and files are looked up. errors: whether
    it takes an error stream, whose rows never change, whatever it can hold. functions: of sinks
    that are Python functions, by name.
    """
    if declared is None:
        return Screen(show)
    written = dict(declared.options)
    declared = replace(declared, options=opened(declared.options)) if opens else declared
    check_whole(f"sink {declared.name}", dict(declared.options), SINKS, written)
    appends = errors or declared.changelog == "append"
    if opens and connector_of(dict(declared.options), SINKS) == PYTHON:
        made: Sink = function_sink(declared.name, functions or {}, writer)
    else:
        made = _opened(declared, base, show, writer, appends)
    return Appending(made) if appends and not isinstance(made, Nowhere) else made


def _opened(declared: Declared, base: Path, show: Show, writer: int, appends: bool) -> Sink:
    options = dict(declared.options)
    connector = connector_of(options, SINKS)
    if connector in STATIC:
        from sqlwin.runtime.tables.table_sink import table_sink

        return table_sink(declared.name, options, base, writer, appends)
    if connector in LAKES:
        from sqlwin.runtime.lakes.open import lake_sink

        return lake_sink(declared.name, options, base, writer, appends)
    if connector == "kafka":
        from sqlwin.runtime.kafka.sink import kafka_sink

        changelog = "append" if appends else declared.changelog
        return kafka_sink(declared.name, options, writer, changelog)
    if connector == "files":
        if PARTITIONED in options:
            from sqlwin.runtime.connectors.partitioned_files import PartitionedFiles  # by need

            names = key_columns(options[PARTITIONED])
            return PartitionedFiles(
                base / options["path"], options.get("format", "json"), writer, names=names
            )
        return Files(base / options["path"], options.get("format", "json"), writer)
    return Screen(show) if connector == "console" else Nowhere()
