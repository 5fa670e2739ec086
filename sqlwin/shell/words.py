"""The words that Tab proposes: keywords of the grammar, functions, and what is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from sqlwin.errors import SqlwinError
from sqlwin.inference.infer import infer
from sqlwin.plan.explain.functions import names
from sqlwin.schema import type_names
from sqlwin.shell.declared import Declarations, Declared
from sqlwin.sql.syntax.parsing.parser import grammar
from sqlwin.sql.windows.window_functions import table_functions

SCALAR = (
    *("AND", "OR", "NOT", "NULL", "IS", "IN", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN"),
    *("ELSE", "END", "CAST", "TRUE", "FALSE", "ASC", "DESC", "FILTER", "DROP"),
)
"""Of expressions, which the grammar reads as runs of any words."""
_FILES = re.compile(r"\b(?:FROM|JOIN|TABLE|,)\s*'((?:[^']|'')+)'", re.IGNORECASE)


@lru_cache(maxsize=1)
def keywords() -> tuple[str, ...]:
    """Of every statement and clause, as the grammar has them."""
    found = {
        word
        for terminal in grammar().terminals
        for word in re.findall(r"(?<![\\A-Za-z])[A-Z]{2,}(?![A-Za-z])", terminal.pattern.value)
    }
    return tuple(sorted(found | {*SCALAR, *type_names(), *table_functions()}))


@lru_cache(maxsize=1)
def functions() -> tuple[str, ...]:
    return tuple(f"{name.upper()}(" for name in names())


def declared(known: Declarations, text: str) -> list[str]:
    """Names of streams and columns, those of files that the text names among them."""
    found = dict.fromkeys(each.name for each in known.all if each.kind != "setting")
    for columns in _columns(known, tuple(known.all)):
        found |= dict.fromkeys(columns)
    for path in _FILES.findall(text):
        found |= dict.fromkeys(_of_file(path, _changed(path)))
    return list(found)


_cached: dict[tuple[Declared, ...], list[list[str]]] = {}


def _columns(known: Declarations, of: tuple[Declared, ...]) -> list[list[str]]:
    if of not in _cached:
        try:
            found = [[column.name for column in each] for each in known.columns().values()]
        except (SqlwinError, OSError):
            return []  # the file of a view is gone, maybe
        _cached.clear()
        _cached[of] = found
    return _cached[of]


@lru_cache(maxsize=20)
def _of_file(path: str, changed: float) -> tuple[str, ...]:
    try:
        return tuple(infer(path).columns)
    except (SqlwinError, OSError):
        return ()  # half a name, maybe


def _changed(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0


def matching(wanted: str, words: Iterator[str]) -> Iterator[str]:
    """Those that begin so, in the case in which it was typed where they are SQL's own.

    >>> list(matching("sel", iter(["SELECT", "selma", "a"])))
    ['select', 'selma']
    """
    for word in words:
        if word.lower().startswith(wanted.lower()):
            own = word.isupper() or word.endswith("(")
            yield word.lower() if own and wanted.islower() else word
