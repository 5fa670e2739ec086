"""The query of a golden, bound: one of its script, with the functions it may call."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.python_functions.function import UserFunction
from sqlwin.sql import script
from sqlwin.testing.golden import Golden


def bound(golden: Golden, functions: Sequence[UserFunction] = ()) -> Script:
    """Its script, with no query but the one that is tested. QueryError for a mistake in it.

    functions: those that may be called beside the golden's own.
    """
    own = golden.head.get("functions")
    loaded = () if own is None else _functions(golden.folder / own)
    whole = _bound(golden.query, tuple(golden.params.items()), (*functions, *loaded))
    return replace(whole, statements=(_chosen(golden, whole),))


@cache
def _bound(
    query: str, params: tuple[tuple[str, str], ...], functions: tuple[UserFunction, ...]
) -> Script:
    """Once for all hosts: a script is a value, which no host can change."""
    return script(query, params=dict(params), functions=functions)


def _chosen(golden: Golden, whole: Script) -> Query:
    named = golden.head.get("query")
    queries = whole.queries
    if named is None and len(queries) == 1:
        return queries[0]
    found = {_name(number, query): query for number, query in enumerate(queries, start=1)}
    if named is None or named not in found:
        wanted = "" if named is None else f" has no query {named}:"
        raise InputError(
            f"{golden.name}:{wanted} the script has {len(queries)} queries; `query: …` in the head "
            f"of the golden, or --query of --new, says which, one of {', '.join(found) or 'none'}"
        )
    return found[named]


def _name(number: int, query: Query) -> str:
    """Of its sink; of a query without one its number."""
    return str(number) if query.sink is None else query.sink.name


@cache
def _functions(path: Path) -> tuple[UserFunction, ...]:
    """Every aggregate and scalar function that a module has by name."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None or not path.is_file():
        raise InputError(f"cannot read the functions of {path}: it is no Python module")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return tuple(each for each in vars(module).values() if isinstance(each, UserFunction))
