"""A script in this process, with its own sources and sinks.

Its queries take turns, a batch each (`script_query.py`). A run without `--follow` reads
the files that exist when it begins.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack

from sqlwin.embedded.checkpoint.folder import checkpoint_locked, note
from sqlwin.embedded.script_query import ScriptQuery
from sqlwin.embedded.shared_reads import SharedReads
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.missing_files import check_sources
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.outlets import outlets
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.runtime.files.incomplete_lines import IncompleteLines
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.rows.malformed import Malformed

POLL_SECONDS = 0.5


def run(script: Script, options: RunOptions) -> Summary:
    """Run every query of a script to the end of its input, or for ever with `follow`."""
    check_sources(script, options)
    summary, malformed = Summary(), Malformed(options.max_errors, options.on_warning)
    outs = outlets(script, options)
    with checkpoint_locked(options.checkpoint, len(outs)), ExitStack() as opened:
        chains = [chain(query) for query in script.queries]
        shared = SharedReads.of(each.streams.values() for each in chains)
        runners = [
            ScriptQuery(script, number, out, options, malformed, shared)
            for number, out in enumerate(outs)
        ]
        for runner in runners:
            opened.callback(runner.close)
        if options.checkpoint is not None:
            note(options.checkpoint, len(outs))
        try:
            _loop(runners, options, summary)
            if summary.stopped:
                _warn(_left(runners), options)
            else:
                malformed.end()
                for runner in runners:
                    _warn(runner.input.left(), options)
                    runner.finish(summary)
        except KeyboardInterrupt:
            if not options.follow:
                raise
            _warn(_left(runners), options)
        else:
            for runner in runners:
                runner.ended()
    return summary


def _loop(runners: list[ScriptQuery], options: RunOptions, summary: Summary) -> None:
    unsent_outputs = IncompleteLines()
    while True:
        worked = [runner.step(summary) for runner in runners if not _stops(options, summary)]
        if summary.stopped:
            return
        if not any(worked):
            if not options.follow:
                return
            time.sleep(POLL_SECONDS)
            for runner in runners:
                runner.tick(summary)
            if unsent_outputs.due(time.monotonic()):
                _warn(unsent_outputs.see(_left(runners), time.monotonic()), options)


def _stops(options: RunOptions, summary: Summary) -> bool:
    summary.stopped = summary.stopped or options.stop()
    return summary.stopped


def _left(runners: list[ScriptQuery]) -> dict[str, int]:
    """Last lines without a line end, see `Source.left`."""
    return {text: lo for runner in runners for text, lo in runner.input.left().items()}


def _warn(texts: Iterable[str], options: RunOptions) -> None:
    for text in texts:
        options.on_warning(text)
