"""Texts in an expression that can never be what they are taken for.

`SUM(v) > 'abc'` reads the text as a number, and fails for whatever row comes. The engine
tries each expression that has a text on a row of NULLs; where it names one of the texts as
the reason why it fails, that one is refused before anything runs. `TRY_CAST` fails for none.

>>> told("Conversion Error: Could not convert string 'abc' to INT64")
'a BIGINT'
>>> told('Conversion Error: invalid date field format: "abc", expected format is (YYYY-MM-DD)')
'a DATE'
"""

from __future__ import annotations

import re

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.schema import Schema, with_article
from sqlwin.sql import ast
from sqlwin.sql.engine import failure
from sqlwin.sql.text import quoted, unquoted

_TO = re.compile(r"' to (\w+(?:\(\d+, ?\d+\))?)|invalid (date|time|timestamp) field")
_NAMES = {
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INT",
    "INT64": "BIGINT",
    "INT128": "DECIMAL(38, 0)",
    "BOOL": "BOOLEAN",
}


def refuse_unreadable(tree: exp.Expr, sql: str, schema: Schema, run: ast.Run) -> None:
    """sql: the tree in the engine's SQL, over columns of `schema`."""
    texts = [node for node in tree.find_all(exp.Literal) if node.is_string]
    reason = failure(sql, schema) if texts else ""
    for text in sorted(texts, key=lambda node: -len(node.name)):
        if f"'{text.name}'" in reason or f'"{text.name}"' in reason:
            message = f"{quoted(text.name)} is not {told(reason)}"
            legal = "a constant of that type; TRY_CAST, which gives NULL"
            raise QueryError(message, _place(text, run), legal=legal)


def told(reason: str) -> str:
    """The type that the engine wanted, with its article."""
    found = _TO.search(reason)
    if found is None:
        return f"what it is taken for: {reason}"
    name = (found[1] or found[2]).upper()
    name = _NAMES.get(name, name)
    return with_article(name)


def _place(text: exp.Literal, run: ast.Run) -> Span:
    """Where it was written, if that is in this run and not in a view's."""
    meta: dict[str, int] = text.meta
    start, end = meta.get("start", 0), meta.get("end", -1) + 1
    written = unquoted(run.original[start:end]) == text.name and end > start
    return run.at(start, end) if written else run.span
