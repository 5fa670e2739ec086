"""`sqlwin explain`: the plans of a script's queries, and the state to expect."""

from __future__ import annotations

import argparse
import json

from sqlwin.commands import scripts
from sqlwin.errors import InputError
from sqlwin.operators.load import Load
from sqlwin.plan.explain.mermaid import mermaid
from sqlwin.plan.explain.structure import structure
from sqlwin.plan.ir.nodes import Script
from sqlwin.runtime.connectors.option_reader import read_options
from sqlwin.runtime.lowering.explained import explain_script, stores_of
from sqlwin.runtime.size.load import load


def run(arguments: argparse.Namespace) -> int:
    asked = scripts.script_of(arguments)
    bearing = _load(arguments)
    read_options(asked)
    if arguments.format != "text":
        if bearing is not None:
            raise InputError("--rate and --keys go with --format text")
        print(_drawn(asked, arguments.format))
        return 0
    print(explain_script(asked))
    if bearing is not None:
        from sqlwin.runtime.size.estimate import state_text

        print("", state_text(asked, bearing), sep="\n")
    return 0


def _drawn(asked: Script, format: str) -> str:
    found = structure(asked, stores_of)
    if format == "json":
        return json.dumps(found, indent=2, ensure_ascii=False)
    if format == "mermaid":
        return mermaid(found)
    from sqlwin.plan_diagram import svg

    return svg(found)


def _load(arguments: argparse.Namespace) -> Load | None:
    given = [arguments.rate, arguments.keys]
    if None not in given:
        return load(arguments.rate, arguments.keys, arguments.width)
    if given != [None, None] or arguments.width is not None:
        raise InputError("--rate and --keys go together: explain q.sql --rate 1000/s --keys 1e6")
    return None
