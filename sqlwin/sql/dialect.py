"""Spark SQL as sqlglot reads it, less the functions whose names it forgets.

It reads PERCENTILE and QUANTILE as one, LISTAGG and STRING_AGG as another, though
they differ in what they mean; here they keep their names. And it reads IGNORE NULLS behind
FILTER (WHERE …) alone, which people write in either order. What a string in quotes is,
`text.unquoted` says here as everywhere: sqlglot would read `'it''s'` as two of them. There are
no statements in it, so that a column may be called `comment` or `use`.

>>> import sqlglot
>>> for text in ("LAST(x) IGNORE NULLS FILTER (WHERE y)", "LAST(x IGNORE NULLS) FILTER (WHERE y)"):
...     print(sqlglot.parse_one(text, read=SqlwinSpark).sql())
LAST(x) IGNORE NULLS FILTER(WHERE y)
LAST(x) IGNORE NULLS FILTER(WHERE y)
>>> sqlglot.parse_one("'it''s' ' fine'", read=SqlwinSpark).sql()
"'it''s fine'"
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from sqlwin.functions.table import TABLE
from sqlwin.sql.text import unquoted

_KEEP_NAMES = ("PERCENTILE", "QUANTILE", "LISTAGG", "GROUP_CONCAT", "LIST")
_STRINGS = (TokenType.STRING, TokenType.RAW_STRING)
_PIECES = (TokenType.STRING, TokenType.NUMBER)
_NULLS = (exp.IgnoreNulls, exp.RespectNulls)


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


_GRAMMAR = (*("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "POSITION", "OVERLAY"),)
"""Functions of the table whose arguments have words between them."""
_WITH_UNIT = (
    *("DATEADD", "DATE_ADD", "TIMESTAMPADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF"),
    *("TIMESTAMPDIFF",),
)
"""Functions whose first argument of three is a unit, and no column."""


def _others(known: dict[str, Any]) -> dict[str, Any]:
    """Less those that sqlglot would make another function of."""
    own = {name for name in known if name.lower() in TABLE and name not in _GRAMMAR}
    return {n: parse for n, parse in known.items() if n not in _KEEP_NAMES and n not in own}


def _with_unit(call: exp.Expr | None) -> exp.Expr | None:
    if not isinstance(call, exp.Anonymous) or call.name.upper() not in _WITH_UNIT:
        return call
    first = call.expressions[0] if len(call.expressions) == 3 else None
    if isinstance(first, exp.Column) and not first.args.get("table"):
        first.replace(exp.Var(this=first.name.upper()))
    return call


_CLOSER = {TokenType.PIPE: TokenType.CARET, TokenType.CARET: TokenType.AMP, TokenType.AMP: None}


class SqlwinSpark(Spark):
    class Tokenizer(Spark.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()

        def tokenize(self, sql: str) -> list[Token]:
            made: list[Token] = []
            for string, tokens in groupby(super().tokenize(sql), _is_string):
                found = list(tokens)
                made += [_one(sql, found)] if string else found
            return _numbers(made)

    class Parser(SparkParser):
        STATEMENT_PARSERS: ClassVar[dict[TokenType, Any]] = {}
        FUNCTIONS: ClassVar = _others(SparkParser.FUNCTIONS)
        FUNCTION_PARSERS: ClassVar = _others(
            {**SparkParser.FUNCTION_PARSERS, "SUBSTR": SparkParser.FUNCTION_PARSERS["SUBSTRING"]}
        )
        TERM: ClassVar = {**SparkParser.TERM, TokenType.DPIPE: exp.DPipe}
        ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}
        """Of no array: `array(a, b)[0]` is a call, and an element of what it gives."""

        def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
            return _with_unit(super()._parse_function_call(*args, **options))

        def _parse_interval(
            self, require_interval: bool = True, parse_function_unit: bool = True
        ) -> exp.Add | exp.Interval | None:
            """`INTERVAL 1 DAY 2 HOURS` is a sum; what stands behind a + is not its business."""
            index = self._index
            if not self._match(TokenType.INTERVAL) and require_interval:
                return None
            is_text = self._match(TokenType.STRING, advance=False)
            this = self._parse_primary() if is_text else self._parse_factor()
            units = self.dialect.VALID_INTERVAL_UNITS
            is_name = isinstance(this, exp.Column) and self._curr.text.upper() not in units
            if this is None or is_name:
                self._retreat(index)
                return None
            found = self._parse_interval_span(this, parse_function_unit=parse_function_unit)
            if found.args.get("unit") and self._match_set(_PIECES, advance=False):
                rest = self._parse_interval(False, parse_function_unit)
                return self.expression(exp.Add(this=found, expression=rest))
            return found

        def _parse_bitwise(self) -> exp.Expr | None:
            """Each binds closer than the next: shifts, &, ^, |."""
            return self._parse_bits(TokenType.PIPE)

        def _parse_bits(self, operator: TokenType) -> exp.Expr | None:
            closer = _CLOSER[operator]
            parse = self._parse_shifts if closer is None else lambda: self._parse_bits(closer)
            found = parse()
            while self._match(operator):
                found = self.expression(self.BITWISE[operator](this=found, expression=parse()))
            return found

        def _parse_shifts(self) -> exp.Expr | None:
            found = self._parse_term()
            while made := self._shift():
                found = made(found, self._parse_term())
            return found

        def _shift(self) -> Callable[[Any, Any], exp.Expr] | None:
            if self._match_pair(TokenType.LT, TokenType.LT):
                return lambda this, by: exp.BitwiseLeftShift(this=this, expression=by)
            if not self._match_pair(TokenType.GT, TokenType.GT):
                return None
            if self._match(TokenType.GT):
                return lambda this, by: exp.Anonymous(this=">>>", expressions=[this, by])
            return lambda this, by: exp.BitwiseRightShift(this=this, expression=by)

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
