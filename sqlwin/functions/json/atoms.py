"""Numbers, texts and booleans of a schema out of tokens of JSON, as Spark converts them.

Invariant: a token that a type does not take is `Unfit`, whatever it looks like.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.literals import decimal_of
from sqlwin.functions.core.types import (
    BINARY,
    BOOLEAN,
    STRING,
    TINYINT,
    is_decimal,
    is_float,
    is_integral,
)
from sqlwin.functions.json.tokens import FLOAT as REAL
from sqlwin.functions.json.tokens import INTEGER, Tokens
from sqlwin.functions.json.tokens import STRING as TEXT
from sqlwin.functions.json.write import Out

Convert = Callable[[Tokens], Any]
_ODD = {"NaN": "nan", "INF": "inf", "Infinity": "inf", "+INF": "inf", "+Infinity": "inf"}


class Unfit(ValueError):
    """A value that is not of its type."""


def atomic(type_: pa.DataType) -> Convert:
    if is_integral(type_):
        return lambda tokens: integer(tokens, type_)
    if is_float(type_):
        return _float
    if is_decimal(type_):
        return lambda tokens: _decimal(tokens, type_)
    return _ATOMS[type_]


def integer(tokens: Tokens, type_: pa.DataType) -> int:
    if tokens.token != INTEGER:
        raise Unfit("no integer")
    value, limit = int(tokens.text), 2 ** (type_.bit_width - 1)
    if type_ == TINYINT and 128 <= value < 256:  # a byte of Jackson's
        return value - 256
    if not -limit <= value < limit:
        raise Unfit("too large")
    return value


def _float(tokens: Tokens) -> float:
    if tokens.token in (INTEGER, REAL):
        return float(_ODD.get(tokens.text, tokens.text))
    if tokens.token == TEXT and tokens.text in _ODD:
        return float(_ODD[tokens.text])
    raise Unfit("no number")


def _decimal(tokens: Tokens, type_: pa.DataType) -> Decimal:
    if tokens.token not in (INTEGER, REAL, TEXT):
        raise Unfit("no number")
    plain = tokens.text.replace(",", "") if tokens.token == TEXT else tokens.text
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", plain, re.ASCII):
        raise Unfit("no number")
    value = decimal_of(Decimal(plain), type_)
    if value is None:
        raise Unfit("too large")
    return value


def _string(tokens: Tokens) -> str:
    if tokens.token == TEXT:
        return tokens.text
    out = Out(pairs=True)
    out.copy(tokens)
    return out.text


def _boolean(tokens: Tokens) -> bool:
    if tokens.token not in ("true", "false"):
        raise Unfit("no truth")
    return tokens.token == "true"


def _binary(tokens: Tokens) -> bytes:
    if tokens.token != TEXT:
        raise Unfit("no text")
    try:
        return base64.b64decode(tokens.text, validate=True)
    except ValueError:
        # Spark's parser does not go on behind a text that ends too early
        tokens.failed = re.fullmatch(r"[A-Za-z0-9+/]*=*", tokens.text) is not None
        raise Unfit("no base 64") from None


_ATOMS: Mapping[pa.DataType, Convert] = {STRING: _string, BOOLEAN: _boolean, BINARY: _binary}
