"""The options of a sink that is a table of a database: its name, its key, its columns.

A name is as in SQL: a quoted one may have any characters, the parts of one have dots between.

>>> table_name('sales."by day"'), key_columns("product, day")
(('sales', 'by day'), ('product', 'day'))
>>> renamed('n = total, "a=b" = c')
{'n': 'total', 'a=b': 'c'}
"""

from __future__ import annotations

import re

RESTARTS = ("refuse", "replace")
"""What becomes of the rows of another run."""
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^\s".,=]+))\s*')


def table_name(text: str) -> tuple[str, ...]:
    """Its parts, at most the schema and the table. ValueError for what is no name."""
    parts = _names(text, ".")
    if len(parts) > 2:
        raise ValueError(text)
    return parts


def key_columns(text: str) -> tuple[str, ...]:
    """ValueError for what is no list of different names."""
    names = _names(text, ",")
    if len(set(names)) < len(names):
        raise ValueError(text)
    return names


def renamed(text: str) -> dict[str, str]:
    """Columns of the table by columns of results. ValueError for what is no list of pairs."""
    names = _names(text, "=,")
    pairs = dict(zip(names[::2], names[1::2], strict=True))
    if len(set(pairs.values())) * 2 < len(names):
        raise ValueError(text)
    return pairs


def _names(text: str, between: str) -> tuple[str, ...]:
    """Names with one of `between` after each but the last, in turns."""
    names: list[str] = []
    at = 0
    while True:
        found = _NAME.match(text, at)
        if found is None:
            raise ValueError(text)
        names.append(found[2] or found[1].replace('""', '"'))
        at = found.end()
        if at == len(text):
            return tuple(names)
        if text[at] != between[(len(names) - 1) % len(between)]:
            raise ValueError(text)
        at += 1
