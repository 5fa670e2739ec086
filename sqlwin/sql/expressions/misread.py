"""What was meant by an expression that sqlglot cannot read.

Where it stops, and what it misses, decide the message: the first of `_KNOWN` whose pattern matches
the text up to there, or whose words are in what sqlglot says.

>>> from sqlwin.errors import QueryError, Span
>>> from sqlwin.sql.expressions.scalars import parsed
>>> try:
...     parsed(ast.Run("CAST(qty AS INTEGR)", "CAST(qty AS INTEGR)", Span(1, 1)))
... except QueryError as mistake:
...     print(mistake.message)
INTEGR is not a type; did you mean INT?
"""

from __future__ import annotations

import re

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import TYPES
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.schema import type_names
from sqlwin.sql.expressions.dialect.json_aggregates import NO_ARRAY, NO_OBJECT
from sqlwin.sql.expressions.dialect.misspelt import misspelt
from sqlwin.sql.text import ast

_CAST = "CAST(qty AS STRING)"
_TYPES = ", ".join(type_names())


@dataclass(frozen=True)
class _Known:
    """before: what the text up to the stop ends with. said: words of sqlglot's own message.
    message: with `{}` for the word it stopped at, or for what `before` captures."""

    message: str
    legal: str
    before: str = ""
    said: str = ""

    def found(self, text: str, said: str) -> re.Match[str] | None:
        if self.said not in said:
            return None
        return re.search(self.before + r"\Z", text, re.IGNORECASE | re.DOTALL)


_KNOWN = (
    _Known(NO_OBJECT, "JSON_OBJECTAGG(KEY name VALUE value ABSENT ON NULL)", said=NO_OBJECT),
    _Known(NO_ARRAY, "JSON_ARRAYAGG(value ORDER BY name NULL ON NULL)", said=NO_ARRAY),
    _Known(
        "{} takes its argument in brackets",
        "COUNT(*), SUM(qty)",
        r"\b(COUNT|SUM|AVG|MIN|MAX)\s*(?:\*|\s\w+)\s+\w+",
    ),
    _Known(
        "WINDOW {} stands between FROM and GROUP BY",
        "FROM orders WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY product",
        r"\bWINDOW\s+(?:TUMBLING|HOPPING|SESSION)",
    ),
    _Known("{} is not a type", _TYPES, said="Expected TYPE"),
    _Known("{} is not a type", _TYPES, said="Expected type"),
    _Known("CAST takes a value AS a type", _CAST, r"\b(?:TRY_)?CAST\s*\([^()]*,\s*\w+"),
    _Known("CONVERT is CAST here", "CAST(product AS INT)", r"\bCONVERT\s*\([^()]*"),
    _Known(
        "CASE is not closed with END",
        "CASE WHEN qty > 1 THEN 'many' ELSE 'one' END",
        r"\bCASE\b(?:(?!\bEND\b).)*",
    ),
    _Known(
        "TOP is not supported: a rank says how many",
        "QUALIFY ROW_NUMBER() OVER (PARTITION BY product ORDER BY qty DESC) <= 3",
        r"\bTOP\s+\d+",
    ),
    _Known(
        "there is nothing between {} and {}",
        "qty > 1 AND price > 2",
        r"\b(AND|OR)\s+(AND|OR)",
    ),
    _Known(
        "{} needs something on its right",
        "qty > 1 AND price > 2",
        r"(\w+|[^\w\s()]+)[\s)]*",
        said="'expression' missing",
    ),
    _Known("&& is AND here", "qty > 1 AND price > 2", "&&"),
    _Known(
        "a comma too many stands before {}",
        "PARTITION BY product ORDER BY ts",
        r"(?:ORDER|PARTITION)(?:\s+BY)?",
    ),
    _Known(
        "a comma or an operator is missing before {}",
        "product, qty",
        r"(?:\w|[)'])\s+\w+\s+(?:[^\W\d]\w*|\d+)",
    ),
    _Known(
        "a comma or an operator is missing before {}",
        "product, qty",
        r"\w\s+(?:\d+|'[^']*')",
    ),
    _Known(
        "a comma or an operator is missing before {}",
        "product, qty",
        r"\(\s*\w+\s+(?!TO\b)\w+",
    ),
    _Known(
        "{} takes one argument",
        "SUM(qty)",
        r"\b(SUM|AVG|MIN|MAX)\s*\((?:[^()]*,[^()]*)?\)",
    ),
    _Known(
        "a comma or an operator is missing before this call",
        "product, COUNT(*)",
        r"(?:\w|[)'])\s+\w+\s*\(",
    ),
    _Known("{} is no comparison", ">=", "=>"),
)


def misread(problem: Exception, run: ast.Run) -> QueryError:
    """problem: of sqlglot, whose ParseError says where it stopped."""
    errors_ = getattr(problem, "errors", None)
    if not errors_:
        return QueryError("this expression cannot be read", run.span)
    first = errors_[0]
    highlight, said = str(first.get("highlight") or ""), str(first.get("description") or "")
    lines = run.text.split("\n")[: int(first["line"]) - 1]
    end = sum(len(line) + 1 for line in lines) + int(first["col"])
    start = max(0, end - len(highlight)) if highlight else max(0, end - 1)
    at = run.at(start, max(start + 1, end))
    slip = None if "type" in said.lower() else misspelt(run, start)
    if slip is not None:
        return slip
    for known in (*_of_json(), *_KNOWN):
        found = known.found(run.text[:end], said)
        if found:
            shown = found.groups() or (highlight,)
            near = nearest(highlight, type_names(), TYPES) if known.legal == _TYPES else ""
            return QueryError(known.message.format(*shown) + near, at, legal=known.legal)
    message = "this expression cannot be read" + (f" at {highlight}" if highlight else "")
    return QueryError(message, at, legal=_hint(said))


def _of_json() -> list[_Known]:
    from sqlwin.sql.expressions.dialect.json_made import LEGAL  # by need

    return [_Known(said, legal, said=said) for said, legal in LEGAL.items()]


def _hint(said: str) -> str:
    return said[len("Expecting ") :] if said.startswith("Expecting ") else ""
