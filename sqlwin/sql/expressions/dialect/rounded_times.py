"""FLOOR and CEIL with a unit of time: `FLOOR(ts TO HOUR)`; without one they are of numbers.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> [type(sqlglot.parse_one(text, read=SqlwinSpark)).__name__
...  for text in ("CEIL(ts TO HOUR)", "CEIL(x, 1)")]
['Ceil', 'Anonymous']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType


def _rounded(kind: type[exp.Expr]) -> Callable[[Any], exp.Expr]:
    def parse(parser: Any) -> exp.Expr:
        name = parser._tokens[parser._index - 2]
        given = parser._parse_csv(parser._parse_lambda)
        if len(given) != 1 or not parser._match_text_seq("TO"):
            return exp.Anonymous(this=name.text, expressions=given).update_positions(name)
        unit = parser._curr
        parser._advance()
        if unit is None or unit.token_type in (TokenType.R_PAREN, TokenType.STRING):
            parser.raise_error("Expecting a unit")
        to = exp.Var(this=unit.text.upper()).update_positions(unit)
        return kind(this=given[0], to=to).update_positions(name)

    return parse


PARSERS: dict[str, Callable[[Any], exp.Expr]] = {
    "FLOOR": _rounded(exp.Floor),
    **dict.fromkeys(("CEIL", "CEILING"), _rounded(exp.Ceil)),
}
"""Of sqlglot's parser, behind the opening bracket."""
