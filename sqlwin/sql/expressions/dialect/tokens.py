"""Tokens of a scalar expression, of those that sqlglot makes of its text.

Invariant: each token keeps the place, in the text, of what it is made of, for errors point there.

    5L            one number, and not `5::BIGINT`
    'a' 'b'       one string, 'ab'; so is 'it''s', whose quote is doubled
    X 'ff'        one token, as X'ff' is
    IDENTIFIER('a' || 'b')    the name ab
"""

from __future__ import annotations

import re
from itertools import groupby

from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

from sqlwin.sql.text.prepared import unquoted

_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)


def joined(sql: str, tokens: list[Token]) -> list[Token]:
    """The tokens of `sql`, each of them whole."""
    made: list[Token] = []
    for string, group in groupby(tokens, _is_string):
        found = list(group)
        made += [_one(sql, found)] if string else found
    return _names(_numbers(made))


def _doubled(sql: str, start: int, end: int, other: Token) -> bool:
    """Whether a string and the next are one, with a quote in it; a raw one has none."""
    return end + 1 == other.start and sql[start] == sql[other.start] == sql[end]


def _is_string(token: Token) -> bool:
    return token.token_type in _STRINGS


_SUFFIXES = ("L", "S", "Y", "D", "F", "BD")
"""Of a number: its type."""


def _numbers(tokens: list[Token]) -> list[Token]:
    """A number with a suffix is one token again, which sqlglot reads as `5::BIGINT`."""
    made: list[Token] = []
    for token in tokens:
        if _is_suffix(token, made[-2:]):
            made.pop()
            made[-1].text, made[-1].end = made[-1].text + token.text.upper(), token.end
        else:
            made.append(token)
    return made


def _is_suffix(token: Token, before: list[Token]) -> bool:
    if token.text.upper() not in _SUFFIXES or len(before) < 2:
        return False
    number, colons = before
    beside = number.token_type == TokenType.NUMBER and colons.token_type == TokenType.DCOLON
    return beside and colons.start == token.start


_NAME = re.compile(r"\s*(?:\w+|`(?:[^`]|``)+`)(?:\.(?:\w+|`(?:[^`]|``)+`))*\s*")


_NO_NAME = (TokenType.ALIAS, TokenType.COLON)
"""Before IDENTIFIER(…): what a name of a column or function does not follow."""


def _names(tokens: list[Token]) -> list[Token]:
    """`IDENTIFIER('a' || 'b')` is the name `ab`; `X 'ff'` is one token, as without the space."""
    made: list[Token] = []
    at = 0
    while at < len(tokens):
        end, text = _constant_name(tokens, at)
        if text and not (made and made[-1].token_type in _NO_NAME):
            made += _placed(Spark().tokenize(text), tokens[at], tokens[end - 1])
            at = end
            continue
        token = tokens[at]
        if token.token_type == TokenType.STRING and made and _is_x(made[-1]):
            token.token_type, token.start = TokenType.HEX_STRING, made.pop().start
        made.append(token)
        at += 1
    return made


def _constant_name(tokens: list[Token], at: int) -> tuple[int, str]:
    """Behind IDENTIFIER(…), and its text; empty where it is none."""
    if tokens[at].token_type != TokenType.VAR or tokens[at].text.upper() != "IDENTIFIER":
        return at, ""
    rest = tokens[at + 1 :]
    end = next((i for i, t in enumerate(rest) if t.token_type == TokenType.R_PAREN), 0)
    inner = rest[1:end]
    opened = bool(inner) and rest[0].token_type == TokenType.L_PAREN
    strings, between = inner[::2], {token.token_type for token in inner[1::2]}
    known = all(map(_is_string, strings)) and between <= {TokenType.DPIPE} and len(inner) % 2
    text = "".join(token.text for token in strings)
    return at + end + 2, text if opened and known and _NAME.fullmatch(text) else ""


def _placed(tokens: list[Token], first: Token, last: Token) -> list[Token]:
    """Tokens that stand for those from the first to the last."""
    for token in tokens:
        token.line, token.col, token.start, token.end = first.line, last.col, first.start, last.end
    return tokens


def _is_x(token: Token) -> bool:
    return token.token_type == TokenType.VAR and token.text in ("x", "X")


def _one(sql: str, strings: list[Token]) -> Token:
    """Strings side by side are one; a quote that is doubled opens no other."""
    pieces: list[tuple[int, int]] = []
    for token in strings:
        if pieces and _doubled(sql, *pieces[-1], token):
            pieces[-1] = (pieces[-1][0], token.end)
        else:
            pieces.append((token.start, token.end))
    one = strings[0]
    one.token_type, one.end = TokenType.STRING, strings[-1].end
    one.text = "".join(unquoted(sql[start : end + 1]) for start, end in pieces)
    return one
