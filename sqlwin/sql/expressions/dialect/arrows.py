"""Arrows: of a lambda, of a field (ksqlDB's `address->city`), of JSON (`payload -> 'city'`).

An arrow is that of a lambda where an argument begins with parameters, and its function has a lambda
there. Anywhere else, a name behind it is that of a field: of tokens it becomes a dot, before they
are read, and `a->b.c` is `a.b.c`. Before a text, a number or a bracket it takes a part of JSON.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> for text in ("a->b.c->d", "SUM(o->price)", "TRANSFORM(o->items, x -> x->price)"):
...     print(sqlglot.parse_one(text, read=SqlwinSpark).sql())
a.b.c.d
SUM(o.price)
TRANSFORM(o.items, x -> x.price)
>>> for text in ("TRANSFORM(a, x -> 'k')", "TRANSFORM(a, x -> x -> 'k')", "UPPER(x -> 'k')"):
...     print(sqlglot.parse_one(text, read=SqlwinSpark).sql(SqlwinSpark))
TRANSFORM(a, x -> 'k')
TRANSFORM(a, x -> x -> 'k')
UPPER(x -> 'k')
"""

from __future__ import annotations

from functools import cache

from sqlglot.tokenizer_core import Token, TokenType

from sqlwin.functions.table import TABLE
from sqlwin.lazy_dataclass import dataclass

ARROW = TokenType.LR_ARROW
"""What an `->` of JSON is read as."""
ARROWS = {
    ARROW: "->",
    TokenType.DARROW: "->>",
    TokenType.HASH_ARROW: "#>",
    TokenType.DHASH_ARROW: "#>>",
}
"""Operators of JSON."""
OPERATORS = frozenset(ARROWS.values())
OBJECTS = ("JSON_OBJECT", "JSON_BUILD_OBJECT", "JSONB_BUILD_OBJECT")
ARRAYS = ("JSON_ARRAY", "JSON_BUILD_ARRAY", "JSONB_BUILD_ARRAY")
CALLS = ("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS", *OBJECTS, *ARRAYS)
"""Functions of JSON with words between their arguments."""
_OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSED = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_NO_FIELD = (TokenType.STRING, TokenType.RAW_STRING, TokenType.NUMBER, TokenType.PARAMETER)
_JSON = (*_NO_FIELD, TokenType.L_PAREN, TokenType.DASH)


@dataclass
class _Bracket:
    """function: what it calls, "" for none. at: its place. argument: of the one that is read, its
    number and its first token."""

    function: str
    at: int
    argument: int = 0
    first: int = 0


def dotted(tokens: list[Token]) -> list[Token]:
    """tokens: of which this changes those that are arrows of fields."""
    if all(token.token_type != TokenType.ARROW for token in tokens):
        return tokens
    around = [_Bracket("", -1)]
    opened: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.token_type in _OPEN:
            called = tokens[at - 1].text.lower() if at and token.text == "(" else ""
            around.append(_Bracket(called, at, 0, at + 1))
        elif token.token_type in _CLOSED and len(around) > 1:
            opened[at] = around.pop().at
        elif token.token_type == TokenType.COMMA:
            around[-1].argument, around[-1].first = around[-1].argument + 1, at + 1
        elif token.token_type == TokenType.ARROW:
            parameters = opened.get(at - 1, at - 1)
            if parameters != around[-1].first or not _has_lambda(around[-1]):
                _read_as(token, tokens, at)
    return tokens


def is_arrow(token: Token) -> bool:
    """Of JSON; `<->` is none."""
    return ARROWS.get(token.token_type) == token.text


def _read_as(token: Token, tokens: list[Token], at: int) -> None:
    """An arrow that is no lambda's; what is neither a field's nor JSON's is left for a message."""
    if at + 1 < len(tokens) and tokens[at + 1].token_type in _JSON:
        token.token_type = ARROW
    elif _takes_field(tokens, at):
        token.token_type, token.text = TokenType.DOT, "."


def _takes_field(tokens: list[Token], at: int) -> bool:
    behind = tokens[at + 1 : at + 3]
    calls = len(behind) == 2 and behind[1].token_type == TokenType.L_PAREN
    name = behind and behind[0].token_type not in (*_OPEN, *_CLOSED, *_NO_FIELD)
    return bool(name) and not calls


def _has_lambda(bracket: _Bracket) -> bool:
    """Whether the argument that is read is a lambda."""
    return bracket.argument in _lambdas().get(bracket.function, ())


@cache
def _lambdas() -> dict[str, frozenset[int]]:
    """By function, the places of its lambdas."""
    found: dict[str, frozenset[int]] = {}
    for name, function in TABLE.items():
        takes = [overload.signature.takes for overload in function.overloads]
        places = [at for each in takes for at, pattern in enumerate(each) if pattern.is_lambda]
        if places:
            found[name] = frozenset(places)
    return found
