"""Files that a script reads from and that are not there: found before anything starts.

Invariant: only a run that follows, or that goes on, starts without a file of a stream, and it is
warned of each.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.facts import sources_of, tables_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.files.globbing import is_glob
from sqlwin.system.secrets import refers

if TYPE_CHECKING:  # the connectors that a script has not, and readers, are not imported
    from sqlwin.runtime.connectors.reloads import Table
from sqlwin.runtime.connectors.sources import FileSource, Source, has_source, source_of


def check_sources(script: Script, options: RunOptions) -> None:
    """QueryError for a stream that cannot be read; InputError where there is no file at all.

    A run that follows waits for its files, and a run that goes on may have read its own already:
    these are warned. The files of a static table are there before the first run. Warned, too, is
    what lacks a WATERMARK.
    """
    from sqlwin.plan.explain.warnings import undeclared

    texts = (text for query in script.queries for text in undeclared(query))
    for text in dict.fromkeys(texts):
        options.on_warning(text)
    for query in script.queries:
        for stream in sources_of(query.plan):
            source_of(stream)
    goes_on = options.checkpoint is not None and _has_any(options.checkpoint)
    static = {stream for query in script.queries for stream in tables_of(query.plan)}
    for missing in without_files(script, options.base):
        if not goes_on and (missing.stream in static or not options.follow):
            raise InputError(missing.message)
        options.on_warning(missing.message)


@dataclass(frozen=True)
class Missing:
    """A stream without a file. certain: its path is no pattern, and nothing has that name."""

    stream: Stream
    message: str
    certain: bool


def without_files(script: Script, base: Path, opens: bool = True) -> list[Missing]:
    """The streams and tables that queries read from files, and that have none now.

    opens: whether references are looked up; without, those that have one are left out.
    """
    read = (stream for query in script.queries for stream in sources_of(query.plan))
    known = (each for each in read if has_source(each) and (opens or not _refers(each)))
    found = ((each, _as_it_is(source_of(each))) for each in dict.fromkeys(known))
    return [
        Missing(stream, _none(source, base), not is_glob(source.path) and not _there(source, base))
        for stream, source in found
        if isinstance(source, FileSource) and not source.splits(base)
    ]


def _as_it_is(source: Source) -> Source | Table:
    """Without the interval that it is read again by."""
    table: Source | Table = getattr(source, "table", source)
    return table


def _refers(stream: Stream) -> bool:
    return any(refers(value) for _, value in stream.options)


def _none(source: FileSource, base: Path) -> str:
    under = "" if Path(source.path).is_absolute() else f"; it is relative to {base}"
    return f"no file matches {source.path} of {source.stream.name}{under}"


def _there(source: FileSource, base: Path) -> bool:
    try:
        return (base / source.path).exists()
    except OSError:  # a name that is too long
        return False


def _has_any(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
