"""The options of a script, validated as a run validates them, without opening anything.

A stream without a connector is not checked, and then neither is a missing sink of
EXPIRED INTO: the embedding program supplies rows and reads the outputs.
"""

from __future__ import annotations

from pathlib import Path

from sqlwin.plan.ir.statements import Script
from sqlwin.plan.properties.facts import sources_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import outlets
from sqlwin.runtime.connectors.sinks import open_sink
from sqlwin.runtime.connectors.sources import has_source, source_of


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
