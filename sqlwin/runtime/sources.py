"""What a script reads from, checked before anything starts."""

from __future__ import annotations

from pathlib import Path

from sqlwin.errors import QueryError, RunError
from sqlwin.plan.facts import sources_of
from sqlwin.plan.nodes import Script, Stream
from sqlwin.runtime.files import FORMATS, listing
from sqlwin.runtime.options import RunOptions, only_known

OPTIONS = ("connector", "path", "format", "header", "delimiter")


def check_sources(script: Script, options: RunOptions) -> None:
    """QueryError for a stream that cannot be read; RunError where there is no file at all.

    A run that follows waits for its files; a checkpoint may have read its own already.
    """
    waits = options.follow or options.checkpoint is not None
    for query in script.queries:
        for stream in sources_of(query.plan):
            path = source_path(stream)
            if not waits and not listing(path, options.base):
                raise RunError(f"no file matches {_shown(path, options.base)} of {stream.name}")


def source_path(stream: Stream) -> str:
    """The path of a stream's files; QueryError where it has no such source."""
    options = dict(stream.options)
    connector = options.get("connector", "files" if "path" in options else "none")
    if connector != "files":
        raise QueryError(
            f"stream {stream.name} has no source to run from (connector {connector!r})",
            legal="WITH (connector = 'files', path = '…', format = 'json')",
        )
    own = [name for name in options if not name.startswith("state.ttl")]  # checked when bound
    only_known(f"stream {stream.name}", own, OPTIONS)
    if options.get("format", "json") not in FORMATS:
        raise QueryError(
            f"stream {stream.name} has an unknown format {options['format']!r}",
            legal=", ".join(FORMATS),
        )
    if len(options.get("delimiter", ",")) != 1:
        raise QueryError(
            f"stream {stream.name} has a delimiter of more than one character, or of none",
            legal="delimiter = ';'",
        )
    if not options.get("path"):
        raise QueryError(f"stream {stream.name} needs an option 'path'", legal="path = '…'")
    return options["path"]


def _shown(path: str, base: Path) -> str:
    return path if Path(path).is_absolute() else str(base / path)
