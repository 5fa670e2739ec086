"""The LALR tables of a grammar as bytes, which take longer to compute than to read.

They are numbers and texts alone: reading them runs no code, whatever the bytes are.

>>> made = parser_of(tables("start: \\"a\\" \\"b\\"?", ["start"]))
>>> made.parse("ab").data
'start'
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from sqlwin.sql.syntax.parsing.lazy.lexer import LazyLexer
from sqlwin.sql.syntax.parsing.lazy.table import LazyParser

OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "propagate_positions": True,
    "maybe_placeholders": False,
}


def tables(grammar: str, start: Sequence[str]) -> bytes:
    """start: the rules that a text may be."""
    made = Lark(grammar, start=list(start), **OPTIONS)
    data, memo = made.memo_serialize([TerminalDef, Rule])
    return marshal.dumps(_plain({"data": data, "memo": memo}))


def parser_of(tables: bytes) -> Lark:
    """tables: of the same Lark and the same Python."""
    read = marshal.loads(tables)
    read["data"]["options"]["_plugins"] = {"ContextualLexer": LazyLexer, "LALR_Parser": LazyParser}
    made: Lark = Lark.load(read)
    return made


def _plain(value: Any) -> Any:
    """Without subclasses of `str`."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return str(value) if isinstance(value, str) else value
