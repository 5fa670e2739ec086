"""Where results go: files, nowhere, or a writer of the caller's.

A batch is written under its number, and writing it again replaces it, so that a
batch that is replayed after a crash does not stand there twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from sqlwin.errors import QueryError, RunError
from sqlwin.plan.nodes import Sink as Declared
from sqlwin.runtime.options import only_known
from sqlwin.runtime.render import csv_text, json_lines
from sqlwin.runtime.whole import replaced
from sqlwin.schema import SHOWN

Show = Callable[[pl.DataFrame], None]
CONNECTORS = ("console", "files", "none")
OPTIONS = ("connector", "path", "format", "changelog")
FORMATS = {"json": "jsonl", "csv": "csv", "parquet": "parquet"}


class Sink(Protocol):
    def write(self, batch: int, rows: pl.DataFrame) -> None:
        """Take the results of a batch; again with the same number, it replaces them."""


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
        if not self.begun:
            self._clear(batch)
            self.begun = True
        target = self.folder / f"{self._own}{batch:08d}.{FORMATS[self.format]}"
        if rows.is_empty():
            target.unlink(missing_ok=True)
            return
        try:
            with replaced(target) as unfinished:
                self._dump(rows, unfinished)
        except (OSError, pl.exceptions.PolarsError) as error:
            why = getattr(error, "strerror", None) or error
            raise RunError(f"cannot write {target}: {why}; the last commit stands") from error

    @property
    def _own(self) -> str:
        return "part-" if self.writer == 1 else f"part-{self.writer}-"

    def _clear(self, after: int) -> None:
        for part in self.folder.glob(f"{self._own}*.{FORMATS[self.format]}"):
            number = part.stem.removeprefix(self._own)
            if number.isdigit() and int(number) > after:
                part.unlink()

    def _dump(self, rows: pl.DataFrame, path: Path) -> None:
        if self.format == "parquet":
            rows.write_parquet(path)
        elif self.format == "csv":
            path.write_text(csv_text(rows, header=True), encoding="utf-8")
        else:
            path.write_text("".join(line + "\n" for line in json_lines(rows)), encoding="utf-8")


@dataclass
class Appending:
    """Rows that stay as they are, without what tells of changes."""

    sink: Sink

    def write(self, batch: int, rows: pl.DataFrame) -> None:
        self.sink.write(batch, rows.drop(SHOWN.values(), strict=False))


def open_sink(declared: Declared | None, base: Path, show: Show, writer: int = 1) -> Sink:
    """The sink of a query; no declared one is the screen. QueryError for bad options.

    writer: the number of this one among those that write to the same sink, from 1.
    """
    if declared is None:
        return Screen(show)
    only_known(f"sink {declared.name}", dict(declared.options), OPTIONS)
    made = _opened(declared, base, show, writer)
    appends = declared.changelog == "append" and not isinstance(made, Nowhere)
    return Appending(made) if appends else made


def _opened(declared: Declared, base: Path, show: Show, writer: int) -> Sink:
    options = dict(declared.options)
    connector = options.get("connector", "console")
    if connector == "files":
        folder = base / _required(declared, options, "path")
        return Files(folder, _format(declared, options), writer)
    plain: dict[str, Sink] = {"console": Screen(show), "none": Nowhere()}
    if connector not in plain:
        raise QueryError(
            f"sink {declared.name} has an unknown connector {connector!r}",
            legal=", ".join(CONNECTORS),
        )
    return plain[connector]


def _required(declared: Declared, options: dict[str, str], name: str) -> str:
    if name not in options:
        raise QueryError(f"sink {declared.name} needs an option {name!r}", legal=f"{name} = '…'")
    return options[name]


def _format(declared: Declared, options: dict[str, str]) -> str:
    format_ = options.get("format", "json")
    if format_ not in FORMATS:
        raise QueryError(
            f"sink {declared.name} has an unknown format {format_!r}", legal=", ".join(FORMATS)
        )
    return format_
