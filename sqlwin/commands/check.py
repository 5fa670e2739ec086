"""`sqlwin check`: mistakes and warnings of a script; nothing runs."""

from __future__ import annotations

import argparse

from sqlwin.commands import scripts
from sqlwin.errors import InputError
from sqlwin.plan.explain.warnings import warnings
from sqlwin.runtime.connectors.missing_files import without_files
from sqlwin.runtime.connectors.option_reader import read_options


def run(arguments: argparse.Namespace) -> int:
    parsed = scripts.script_of(arguments)
    queries = parsed.queries
    read_options(parsed)
    missing = without_files(parsed, scripts.base(arguments), opens=False)
    for each in missing:
        if each.certain:
            raise InputError(each.message)
    print(
        f"{arguments.file}: {len(queries)} quer{'y' if len(queries) == 1 else 'ies'}, no mistakes"
    )
    for number, query in enumerate(queries, 1):
        of = f"query {number}: " if len(queries) > 1 else ""
        for warning in warnings(query):
            print(f"warning: {of}{warning}")
    for each in missing:
        print(f"warning: {each.message}")
    return 0
