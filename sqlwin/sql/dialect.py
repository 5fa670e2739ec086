"""Spark SQL as sqlglot reads it, less the functions whose names it forgets.

It reads PERCENTILE and QUANTILE as one, LISTAGG and STRING_AGG as another, though
they differ in what they mean; here they keep their names. And it reads IGNORE NULLS behind
FILTER (WHERE …) alone, which people write in either order. What a string in quotes is,
`text.unquoted` says here as everywhere: sqlglot would read `'it''s'` as two of them.

>>> import sqlglot
>>> for text in ("LAST(x) IGNORE NULLS FILTER (WHERE y)", "LAST(x IGNORE NULLS) FILTER (WHERE y)"):
...     print(sqlglot.parse_one(text, read=SqlwinSpark).sql())
LAST(x) IGNORE NULLS FILTER(WHERE y)
LAST(x) IGNORE NULLS FILTER(WHERE y)
>>> sqlglot.parse_one("'it''s' ' fine'", read=SqlwinSpark).sql()
"'it''s fine'"
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from sqlwin.sql.text import unquoted

_KEEP_NAMES = ("PERCENTILE", "QUANTILE", "LISTAGG", "LIST")
_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)
_NULLS = (exp.IgnoreNulls, exp.RespectNulls)


def _doubled(sql: str, start: int, end: int, other: Token) -> bool:
    """Whether a string and the next are one, with a quote in it; a raw one has none."""
    return end + 1 == other.start and sql[start] == sql[other.start] == sql[end]


def _others(known: dict[str, Any]) -> dict[str, Any]:
    return {name: parse for name, parse in known.items() if name not in _KEEP_NAMES}


class SqlwinSpark(Spark):
    class Tokenizer(Spark.Tokenizer):
        def tokenize(self, sql: str) -> list[Token]:
            made: list[Token] = []
            opened, before = 0, ""  # where the last string begins, and those that it goes on
            for token in super().tokenize(sql):
                string = token.token_type in _STRINGS
                last = made[-1] if string and made and made[-1].token_type in _STRINGS else None
                if last is None:
                    made.append(token)
                    opened, before = token.start, ""
                elif not _doubled(sql, opened, last.end, token):
                    opened, before = token.start, last.text
                if string:
                    kept = last or token
                    kept.token_type, kept.end = TokenType.STRING, token.end
                    kept.text = before + unquoted(sql[opened : token.end + 1])
            return made

    class Parser(SparkParser):
        FUNCTIONS: ClassVar = _others(SparkParser.FUNCTIONS)
        FUNCTION_PARSERS: ClassVar = _others(SparkParser.FUNCTION_PARSERS)

        def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
            filtered = self._nulls_before_filter(this) if isinstance(this, exp.Func) else this
            return super()._parse_window(filtered, alias)

        def _nulls_before_filter(self, call: exp.Func) -> exp.Expr | None:
            """`call` in its IGNORE NULLS, from within its brackets or from behind them, where
            FILTER is next; all else is left to sqlglot."""
            behind = self._index
            worn = self._parse_respect_or_ignore_nulls(call)
            if self._curr.text.upper() != "FILTER":
                self._retreat(behind)
                return call
            within = next((arg for arg in call.iter_expressions() if isinstance(arg, _NULLS)), None)
            if within is None or worn is not call:
                return worn
            within.replace(within.this)
            return type(within)(this=call)
