"""JSON_OBJECT and JSON_ARRAY with the words of SQL between their arguments.

| written | read as |
|---|---|
| `JSON_OBJECT(KEY 'a' VALUE x)`, `JSON_BUILD_OBJECT('a', x)` | a call of keys and values |
| `JSON_ARRAY(x, y NULL ON NULL)` | a call, with the words behind the values as a `Var` |
| `JSON_ARRAY(x -> 'a')`, and other calls that give JSON | `FormatJson` around the value |
| `JSON_ARRAY(x FORMAT JSON)` | as `x -> '$'` |

A value is JSON by how it is written, before columns are put in the place of what they stand for.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> text = "JSON_OBJECT(KEY 'a' VALUE value, 'b' VALUE JSON_ARRAY() ABSENT ON NULL)"
>>> sqlglot.parse_one(text, read=SqlwinSpark).sql(SqlwinSpark)
"JSON_OBJECT('a', value, 'b', JSON_ARRAY() ABSENT ON NULL)"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlwin.sql.expressions.dialect import json_calls
from sqlwin.sql.expressions.dialect.arrows import ARRAYS, OBJECTS
from sqlwin.sql.expressions.dialect.json_aggregates import is_key_word

NO_OBJECT = "JSON_OBJECT takes keys, each with a value, then NULL ON NULL or ABSENT ON NULL"
NO_ARRAY = "JSON_ARRAY takes values, then NULL ON NULL or ABSENT ON NULL"
"""What the parser says."""
LEGAL = {
    **json_calls.LEGAL,
    NO_OBJECT: "JSON_OBJECT(KEY 'id' VALUE id, 'qty' VALUE qty ABSENT ON NULL)",
    NO_ARRAY: "JSON_ARRAY(id, qty NULL ON NULL)",
}
_JSON = (
    *(*OBJECTS, *ARRAYS, "JSON_QUERY", "JSON_EXTRACT", "JSONB_EXTRACT_PATH", "JSON_EXTRACT_PATH"),
    *("->", "#>", "TO_JSON", "JSON_STRING", "JSON_QUOTE"),
    *("JSON_OBJECTAGG", "JSON_OBJECT_AGG", "JSONB_OBJECT_AGG"),
    *("JSON_ARRAYAGG", "JSON_AGG", "JSONB_AGG"),
)
"""Functions that give JSON, of which no string is made."""
Called = tuple[str, list[exp.Expr]]


def _object(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    found: list[exp.Expr] = []
    more = _begins(parser)
    while more:
        if is_key_word(parser):
            parser._advance()
        key = parser._parse_disjunction()
        if not parser._match(TokenType.COMMA) and not parser._match_text_seq("VALUE"):
            parser.raise_error(NO_OBJECT)
        found += [key, _read_value(parser)]
        more = parser._match(TokenType.COMMA)
    return _made(parser, name, found, NO_OBJECT)


def _array(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    found: list[exp.Expr] = []
    more = _begins(parser)
    while more:
        found.append(_read_value(parser))
        more = parser._match(TokenType.COMMA)
    return _made(parser, name, found, NO_ARRAY)


def _read_value(parser: Any) -> Any:
    """None where there is none."""
    value = parser._parse_disjunction()
    if value is not None and parser._match_text_seq("FORMAT", "JSON"):
        value = exp.Anonymous(this="->", expressions=[value, exp.Literal.string("$")])
    return exp.FormatJson(this=value) if value is not None and is_json(value) else value


def is_json(value: exp.Expr) -> bool:
    """Whether it is a call of a function that gives JSON."""
    inner = value.unnest()
    while isinstance(inner, exp.Filter | exp.Window):
        inner = inner.this
    return isinstance(inner, exp.Anonymous) and inner.name.upper() in _JSON


def _begins(parser: Any) -> bool:
    """Whether an argument is next."""
    return parser._curr.token_type != TokenType.R_PAREN and not _is_said(parser)


def _is_said(parser: Any) -> bool:
    """Whether `NULL ON NULL` or `ABSENT ON NULL` is next."""
    words = [token.text.upper() for token in parser._tokens[parser._index : parser._index + 3]]
    return words in (["NULL", "ON", "NULL"], ["ABSENT", "ON", "NULL"])


def _made(parser: Any, name: Any, found: list[Any], said: str) -> exp.Expr:
    if None in found:
        parser.raise_error(said)
    if _is_said(parser):
        found.append(exp.Var(this=f"{parser._curr.text.upper()} ON NULL"))
        parser._advance(3)
    if parser._curr.token_type != TokenType.R_PAREN:
        parser.raise_error(said)
    return exp.Anonymous(this=name.text.upper(), expressions=found).update_positions(name)


PARSERS: dict[str, Callable[[Any], exp.Expr]] = {
    **json_calls.PARSERS,
    **dict.fromkeys(OBJECTS, _object),
    **dict.fromkeys(ARRAYS, _array),
}
"""Of sqlglot's parser, behind the opening bracket."""


def given(node: exp.Expr) -> Called:
    """The function of a call that was read, and its arguments: words are texts."""
    if node.name.upper() not in (*OBJECTS, *ARRAYS):
        return json_calls.query_arguments(node)
    parts, said = list(node.expressions), ""
    if parts and isinstance(parts[-1], exp.Var):
        said = parts.pop().name.partition(" ")[0]
    absent = "ABSENT" if node.name.upper() == "JSON_ARRAY" else "NULL"
    made: list[exp.Expr] = [exp.Literal.string(said or absent)]
    step = 2 if node.name.upper() in OBJECTS else 1
    for at in range(0, len(parts), step):
        *key, value = parts[at : at + step]
        json = isinstance(value, exp.FormatJson)
        made += [*key, value.this if json else value]
        made.append(exp.Literal.string("JSON" if json else "VALUE"))
    return node.name.lower(), made
