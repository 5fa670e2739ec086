"""`sqlwin timeline`: a picture of a query, a golden or a recorded run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sqlwin.commands import scripts
from sqlwin.errors import InputError
from sqlwin.instants import parse_instant
from sqlwin.pictures.charting import charting
from sqlwin.system.secrets import masked
from sqlwin.testing.golden import SUFFIX as GOLDEN
from sqlwin.testing.golden import load
from sqlwin.timeline import chart, files
from sqlwin.timeline.page import page
from sqlwin.timeline.recording import Recording
from sqlwin.timeline.replays import BATCHES, PACE, ROWS, of_golden, of_query
from sqlwin.timeline.selection import Part, fitted

OUTPUTS = (".html", ".svg", ".png")


def run(arguments: argparse.Namespace) -> int:
    file: Path = arguments.file
    output: Path = arguments.output or Path(f"{file.stem}.html")
    if output.suffix not in OUTPUTS:
        raise InputError(f"{output} is none of {', '.join(OUTPUTS)}")
    charting()  # before anything that takes long
    recording, query = _recording(arguments)
    drawn = fitted(_part(arguments).of(recording))
    if not any(batch.arrivals or batch.emissions or batch.expired for batch in drawn.batches):
        raise InputError(f"{file} has nothing to draw: no row and no emission")
    if output.suffix == ".html":
        output.write_text(page(drawn, query), encoding="utf-8")
    elif output.suffix == ".svg":
        output.write_text(chart.svg(chart.spec(drawn)), encoding="utf-8")
    else:
        output.write_bytes(chart.png(chart.spec(drawn)))
    for note in drawn.notes:
        print(f"note: {note}", file=sys.stderr)
    print(output)
    return 0


def _recording(arguments: argparse.Namespace) -> tuple[Recording, str]:
    """And the text of the query, where it is known."""
    file: Path = arguments.file
    if file.suffix == files.SUFFIX:
        _only_of_scripts(arguments, "a recording")
        found = files.load(file)
        return found, found.query
    if file.suffix == GOLDEN:
        _only_of_scripts(arguments, "a golden")
        golden = load(file)
        return of_golden(golden), golden.query
    script = scripts.script_of(arguments)
    number = _number(len(script.queries), arguments.query)
    text = "" if script.source_text is None else masked(script.source_text.text)
    rows, batches = arguments.rows or ROWS, arguments.batches or BATCHES
    pace = PACE if arguments.pace is None else round(arguments.pace * 1_000_000)
    title = file.name if len(script.queries) == 1 else f"{file.name}, query {number + 1}"
    base = scripts.base(arguments)
    return of_query(script, number, title, base, rows, batches, pace), text


def _only_of_scripts(arguments: argparse.Namespace, what: str) -> None:
    for name in ("rows", "batches", "pace", "query"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name} is of a script that is run; {what} has been")


def _number(count: int, asked: int | None) -> int:
    """From 0."""
    if asked is None and count != 1:
        raise InputError(f"the script has {count} queries; --query says which, from 1")
    if asked is not None and not 1 <= asked <= count:
        raise InputError(f"--query {asked} is not there: the script has {count}")
    return (asked or 1) - 1


def _part(arguments: argparse.Namespace) -> Part:
    only = {}
    for pair in arguments.only:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"--only {pair!r} is not column=value")
        only[name] = value
    return Part(only, _at("from", arguments.since), _at("to", arguments.to))


def _at(name: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_instant(text)
    except ValueError:
        raise InputError(f"--{name} {text!r} is not an ISO 8601 instant") from None
