"""The parts of a SELECT as it is written: its items, and what follows FROM.

>>> split("SELECT a + 1 AS b, f(x, y) FROM VALUES (1, 2) AS t(x, y)")
Select(items=('a + 1', 'f(x, y)'), source='VALUES (1, 2) AS t(x, y)')
>>> split("select extract(year from ts) is distinct from 1")
Select(items=('extract(year from ts) is distinct from 1',), source='')
>>> split("SELECT a FROM t WHERE a > 1") is split("SET x=1") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot.dialects import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

_OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSED = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_CLAUSES = (
    *("WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "INTERSECT", "EXCEPT"),
    *("LATERAL", "WINDOW", "QUALIFY", "SORT"),
)
_NOT_ITEMS = re.compile(r"\*|(ALL|DISTINCT|TRANSFORM\s*\()\b", re.I)
_ALIAS = re.compile(r"\s+AS\s+(\w+|`[^`]*`|\([\w\s,]*\))\s*\Z", re.I)


@dataclass(frozen=True)
class Select:
    items: tuple[str, ...]
    source: str = ""


def split(text: str) -> Select | None:
    """None for what is no SELECT of items over at most VALUES."""
    try:
        tokens = Spark().tokenize(text)
    except SqlglotError:
        return None
    if not tokens or tokens[0].token_type is not TokenType.SELECT:
        return None
    ends = list(_ends(tokens))
    if any(token.text.upper() in _CLAUSES for token, depth in _deep(tokens) if depth == 0):
        return None
    starts = [tokens[0].end + 1, *(end + 1 for end, comma in ends if comma)]
    stops = [end for end, _ in ends]
    source = next((end for end, comma in ends if not comma), len(text))
    stops = [*[end for end, comma in ends if comma and end < source], source]
    items = [text[start:stop].strip() for start, stop in zip(starts, stops, strict=False)]
    if not all(items) or any(_NOT_ITEMS.match(item) for item in items):
        return None
    given = text[source + 4 :].strip() if source < len(text) else ""
    if given and not re.match(r"VALUES\b|\(\s*VALUES\b", given, re.I):
        return None
    return Select(tuple(_ALIAS.sub("", item) for item in items), given)


def _ends(tokens: Sequence[Token]) -> Iterator[tuple[int, bool]]:
    """Where an item ends, and whether by a comma; by FROM otherwise, after which none ends."""
    before = None
    for token, depth in _deep(tokens):
        if depth == 0 and token.token_type is TokenType.COMMA:
            yield token.start, True
        ends = depth == 0 and token.token_type is TokenType.FROM
        if ends and (before is None or before.text.upper() != "DISTINCT"):
            yield token.start, False
            return
        before = token


def _deep(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Each token and the brackets it stands in."""
    depth = 0
    for token in tokens:
        depth -= token.token_type in _CLOSED
        yield token, depth
        depth += token.token_type in _OPEN
