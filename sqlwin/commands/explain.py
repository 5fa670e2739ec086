"""`sqlwin explain`: the plans of a script's queries, and the state to expect."""

from __future__ import annotations

import argparse
import json
import sys

from sqlwin.commands import scripts
from sqlwin.errors import InputError
from sqlwin.operators.load import Load
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.runtime.connectors.option_reader import read_options
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.lowering.explained import explain_script


def run(arguments: argparse.Namespace) -> int:
    parsed = scripts.script_of(arguments)
    bearing = _load(arguments)
    read_options(parsed)
    if arguments.format != "text":
        if bearing is not None or arguments.analyze:
            raise InputError("--rate, --keys and --analyze go with --format text")
        print(_drawn(parsed, arguments.format))
        return 0
    print(_analyzed(parsed, arguments) if arguments.analyze else explain_script(parsed))
    if bearing is not None:
        from sqlwin.runtime.size.estimate import state_text

        print("", state_text(parsed, bearing), sep="\n")
    return 0


def _analyzed(parsed: Script, arguments: argparse.Namespace) -> str:
    """Each query is run, one after the other."""
    from sqlwin.running.analysis import analyzed
    from sqlwin.running.engines import engine
    from sqlwin.running.progress import Progress

    progress = Progress(sys.stderr)
    run = engine(arguments.engine, progress)
    options = RunOptions(scripts.base(arguments), on_warning=progress.warning)
    queries = [each for each in parsed.statements if isinstance(each, Query)]
    return "\n\n".join(analyzed(parsed, query, options, run) for query in queries)


def _drawn(parsed: Script, format: str) -> str:
    from sqlwin.plan.explain.structure import structure
    from sqlwin.runtime.lowering.explained import stores_of

    found = structure(parsed, stores_of)
    if format == "json":
        return json.dumps(found, indent=2, ensure_ascii=False)
    if format == "mermaid":
        from sqlwin.plan.explain.mermaid import mermaid

        return mermaid(found)
    from sqlwin.pictures.plan_diagram import svg

    return svg(found)


def _load(arguments: argparse.Namespace) -> Load | None:
    given = [arguments.rate, arguments.keys]
    if None not in given:
        from sqlwin.runtime.size.load import load

        return load(arguments.rate, arguments.keys, arguments.width)
    if given != [None, None] or arguments.width is not None:
        raise InputError("--rate and --keys go together: explain q.sql --rate 1000/s --keys 1e6")
    return None
