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

import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from sqlwin.errors import RunError
from sqlwin.functions.instants.interval_texts import with_units
from sqlwin.sql.expressions.dialect import json_aggregates
from sqlwin.sql.expressions.dialect.arrows import ARROWS, dotted, is_arrow
from sqlwin.sql.expressions.dialect.calling import NULLS_GIVEN, PICKING
from sqlwin.sql.expressions.dialect.function_names import (
    WORDED,
    by_their_names,
    row_as_struct,
    with_unit,
)
from sqlwin.sql.expressions.dialect.printing import Printed
from sqlwin.sql.expressions.dialect.tokens import joined

COMPILED = not str(parser.__file__).endswith(".py")
"""Whether sqlglot's classes are those of the package `sqlglotc`, which no class may extend."""


def refuse_compiled() -> None:
    if COMPILED:
        raise RunError(
            "sqlwin extends classes of sqlglot, which is installed compiled, as sqlglot[c], and "
            "then cannot be extended. Legal: pip uninstall sqlglotc"
        )


_PIECES = (TokenType.STRING, TokenType.NUMBER)
_SIGNS = (TokenType.DASH, TokenType.PLUS)
_NULLS = (exp.IgnoreNulls, exp.RespectNulls)


def _positive(inner: exp.Expr | None) -> exp.Expr | None:
    """Of all but numbers, POSITIVE: a text behind a + is a number, and a date is none."""
    plain = inner is None or (isinstance(inner, exp.Literal) and not inner.is_string)
    return inner if plain else exp.Anonymous(this="POSITIVE", expressions=[inner])


_CLOSER = {TokenType.PIPE: TokenType.CARET, TokenType.CARET: TokenType.AMP, TokenType.AMP: None}


class SqlwinSpark(Spark):
    class Tokenizer(Spark.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind for word, kind in Spark.Tokenizer.KEYWORDS.items() if word != "LATERAL"
        }

        def tokenize(self, sql: str) -> list[Token]:
            return dotted(joined(sql, super().tokenize(sql)))

    Generator = Printed

    class Parser(SparkParser):
        STATEMENT_PARSERS: ClassVar[dict[TokenType, Any]] = {}
        FUNCTIONS: ClassVar = {**by_their_names(SparkParser.FUNCTIONS), **PICKING}
        FUNCTION_PARSERS: ClassVar = {
            **by_their_names(
                {
                    **SparkParser.FUNCTION_PARSERS,
                    "SUBSTR": SparkParser.FUNCTION_PARSERS["SUBSTRING"],
                    **json_aggregates.PARSERS,
                }
            ),
            **WORDED,
        }
        COLUMN_OPERATORS: ClassVar = {
            kind: made for kind, made in SparkParser.COLUMN_OPERATORS.items() if kind not in ARROWS
        }
        COLUMN_POSTFIX_TOKENS: ClassVar = SparkParser.COLUMN_POSTFIX_TOKENS | set(ARROWS)
        UNARY_PARSERS: ClassVar = {
            **SparkParser.UNARY_PARSERS,
            TokenType.PLUS: lambda self: _positive(self._parse_unary()),
        }
        TERM: ClassVar = {**SparkParser.TERM, TokenType.DPIPE: exp.DPipe}
        ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}
        """Of no array: `array(a, b)[0]` is a call, and an element of what it gives."""

        literal: int | None = None
        """The token behind the text of a typed literal that is read."""

        def _parse_type(self, *args: Any, **options: Any) -> exp.Expr | None:
            """What follows `DATE '2024-01-01'`, as `::`, is of the date; sqlglot makes it of the
            text, and the type that it is cast to is lost."""
            typed = bool(self._next) and self._curr.token_type in self.TYPE_TOKENS
            if not typed or self._next.token_type != TokenType.STRING:
                return super()._parse_type(*args, **options)
            self.literal = self._index + 2
            return self._parse_column_ops(super()._parse_type(*args, **options))

        def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
            if self._index == self.literal and isinstance(this, exp.Literal):
                self.literal = None
                return this
            made = super()._parse_column_ops(this)
            if made is None or not is_arrow(self._curr):
                return made
            from sqlwin.sql.expressions.dialect.json_calls import arrowed  # by need

            return arrowed(self, made)

        def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
            return row_as_struct(with_unit(super()._parse_function_call(*args, **options)))

        def _parse_interval(
            self, require_interval: bool = True, parse_function_unit: bool = True
        ) -> exp.Add | exp.Interval | None:
            """`INTERVAL 1 DAY 2 HOURS` is a sum; what stands behind a + is not its business."""
            index = self._index
            if not self._match(TokenType.INTERVAL) and require_interval:
                return None
            operator = self._curr.token_type
            if operator == TokenType.STAR or (operator in _SIGNS and not self._is_piece()):
                self._retreat(index)
                return None  # a column of this name
            if self._curr.token_type == TokenType.PLUS and self._next.token_type in _PIECES:
                self._advance()
            is_text = self._match(TokenType.STRING, advance=False)
            if is_text and self._is_no_interval():
                return self.expression(exp.Interval(this=self._parse_primary()))
            this = self._parse_primary() if is_text else self._parse_factor()
            units = self.dialect.VALID_INTERVAL_UNITS
            behind_plus = isinstance(this, exp.Anonymous) and this.name == "POSITIVE"
            is_name = isinstance(this, exp.Column) and self._curr.text.upper() not in units
            is_name = is_name or behind_plus
            if this is None or is_name:
                self._retreat(index)
                return None
            found = self._parse_interval_span(this, parse_function_unit=parse_function_unit)
            if isinstance(found.args.get("unit"), exp.Var) and self._is_piece():
                rest = self._parse_interval(False, parse_function_unit)
                if isinstance(rest, exp.Interval) and not isinstance(rest.unit, exp.Var):
                    self.raise_error("Expecting a unit")
                return self.expression(exp.Add(this=found, expression=rest))
            return found

        def _is_no_interval(self) -> bool:
            """Whether a text has letters, and is no `1 day 2 hours`: sqlglot drops what it has
            not understood."""
            if not re.search("[^0-9.:\\s+-]", self._curr.text):
                return False
            try:
                with_units(self._curr.text)
            except ValueError:
                return True
            return False

        def _is_piece(self) -> bool:
            """Whether a number or text with a unit is next, maybe with a sign."""
            signed = self._curr.token_type in _SIGNS
            piece = self._next if signed else self._curr
            if not piece or piece.token_type not in _PIECES:
                return False
            unit = self._tokens[self._index + 1 + signed : self._index + 2 + signed]
            units = self.dialect.VALID_INTERVAL_UNITS
            return not signed or bool(unit and unit[0].text.upper() in units)

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
                by = self._parse_term()
                if by is None:
                    self.raise_error("Expecting an operand")
                found = made(found, by)
            return found

        def _parse_ordered(self, *args: Any, **options: Any) -> exp.Ordered | None:
            made = super()._parse_ordered(*args, **options)
            before = self._tokens[max(0, self._index - 2) : self._index]
            words = [token.text.upper() for token in before]
            if made is not None and words in (["NULLS", "FIRST"], ["NULLS", "LAST"]):
                made.set(NULLS_GIVEN, True)
            return made

        def _shift(self) -> Callable[[Any, Any], exp.Expr] | None:
            if self._beside() and self._match_pair(TokenType.LT, TokenType.LT):
                return lambda this, by: exp.BitwiseLeftShift(this=this, expression=by)
            if not self._beside() or not self._match_pair(TokenType.GT, TokenType.GT):
                return None
            if self._is_connected() and self._match(TokenType.GT):
                return lambda this, by: exp.Anonymous(this=">>>", expressions=[this, by])
            return lambda this, by: exp.BitwiseRightShift(this=this, expression=by)

        def _beside(self) -> bool:
            """Whether no space is between this token and the next."""
            return bool(self._next) and self._curr.end + 1 == self._next.start

        def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
            filtered = self._nulls_before_filter(this) if isinstance(this, exp.Func) else this
            return super()._parse_window(filtered, alias)

        def _nulls_before_filter(self, call: exp.Func) -> exp.Expr | None:
            """`call` in its IGNORE NULLS, from within its brackets or from behind them, where
            FILTER is next, or from within where sqlglot does not know the function; all else is
            left to sqlglot."""
            behind = self._index
            worn = self._parse_respect_or_ignore_nulls(call)
            within = next((arg for arg in call.iter_expressions() if isinstance(arg, _NULLS)), None)
            unknown = within is not None and worn is call and isinstance(call, exp.Anonymous)
            if self._curr.text.upper() != "FILTER" and not unknown:
                self._retreat(behind)
                return call
            if within is None or worn is not call:
                return worn
            within.replace(within.this)
            return type(within)(this=call)
