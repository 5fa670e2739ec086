"""`sqlwin explain`: the plans of a script's queries, and the state to expect."""

from __future__ import annotations

import argparse

from sqlwin.commands import scripts
from sqlwin.errors import InputError
from sqlwin.operators.load import Load
from sqlwin.runtime.connectors.option_reader import read_options
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.runtime.size.load import load


def run(arguments: argparse.Namespace) -> int:
    parsed = scripts.script_of(arguments)
    bearing = _load(arguments)
    read_options(parsed)
    print(explain_script(parsed))
    if bearing is not None:
        from sqlwin.runtime.size.estimate import state_text

        print("", state_text(parsed, bearing), sep="\n")
    return 0


def _load(arguments: argparse.Namespace) -> Load | None:
    given = [arguments.rate, arguments.keys]
    if None not in given:
        return load(arguments.rate, arguments.keys, arguments.width)
    if given != [None, None] or arguments.width is not None:
        raise InputError("--rate and --keys go together: explain q.sql --rate 1000/s --keys 1e6")
    return None
