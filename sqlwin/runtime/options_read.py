"""The options of a script, read as a run reads them, and nothing opened.

Streams without a source are left alone, and where there is such a one a missing sink of
EXPIRED INTO, too: rows come from, and go to, whoever embeds the query.
"""

from __future__ import annotations

from pathlib import Path

from sqlwin.plan.facts import sources_of
from sqlwin.plan.nodes import Script
from sqlwin.runtime.options import RunOptions
from sqlwin.runtime.outlets import outlets
from sqlwin.runtime.sinks import open_sink
from sqlwin.runtime.sources import has_source, source_of


def read_options(script: Script) -> None:
    """QueryError for the first that a run would refuse."""
    options = RunOptions(Path(), opens=False)
    streams = [stream for query in script.queries for stream in sources_of(query.plan)]
    for stream in filter(has_source, streams):
        source_of(stream, opens=False)
    if all(map(has_source, streams)):
        outlets(script, options)
        return
    for query in script.queries:
        for sink in (query.sink, query.errors):
            open_sink(sink, options.base, options.show, opens=False)
