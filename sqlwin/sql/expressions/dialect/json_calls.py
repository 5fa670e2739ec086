"""JSON_VALUE, JSON_QUERY and JSON_EXISTS with the words of SQL between arguments; JSON's arrows.

| written | read as |
|---|---|
| `JSON_VALUE(s, p RETURNING INT DEFAULT 0 ON EMPTY)` | `JSONValue`, with its `OnCondition` |
| `JSON_EXISTS(s, p TRUE ON ERROR)` | `JSONExists`, likewise |
| `JSON_QUERY(s, p WITH WRAPPER)` | a call, with each group of words as one more argument, a `Var` |
| `s -> 'a'`, `s ->> 0`, `s #> '{a,0}'` | calls of `->`, `->>`, `#>` |

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> text = "JSON_QUERY(s, '$.a' WITH WRAPPER NULL ON EMPTY)"
>>> sqlglot.parse_one(text, read=SqlwinSpark).sql(SqlwinSpark)
"JSON_QUERY(s, '$.a' WITH UNCONDITIONAL ARRAY WRAPPER NULL ON EMPTY)"
>>> sqlglot.parse_one("a -> 'b' ->> 0 = 'x'", read=SqlwinSpark).sql(SqlwinSpark)
"a -> 'b' ->> 0 = 'x'"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlwin.sql.expressions.dialect.arrows import ARROWS, is_arrow

NO_VALUE = "JSON_VALUE takes a text and a path, then RETURNING, ON EMPTY, ON ERROR"
NO_QUERY = "JSON_QUERY takes a text and a path, then a WRAPPER, ON EMPTY, ON ERROR"
NO_EXISTS = "JSON_EXISTS takes a text and a path, then ON ERROR"
NO_STEP = "an arrow of JSON takes a text or a number"
NO_CAST = ":: binds closer than an arrow of JSON"
LEGAL = {
    NO_VALUE: "JSON_VALUE(value, '$.qty' RETURNING INT DEFAULT 0 ON EMPTY NULL ON ERROR)",
    NO_QUERY: "JSON_QUERY(value, '$.tags' WITH CONDITIONAL WRAPPER EMPTY ARRAY ON EMPTY)",
    NO_EXISTS: "JSON_EXISTS(value, '$.tags[0]' FALSE ON ERROR)",
    NO_STEP: "value -> 'items' -> 0 ->> 'sku'",
    NO_CAST: "(value ->> 'qty')::INT",
}
"""By what the parser says."""
_VALUES = ("NULL", "ERROR")
_QUERIES = (*_VALUES, "EMPTY ARRAY", "EMPTY OBJECT", "EMPTY")
_EXISTS = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
_WRAPPERS = {
    "WITHOUT": (("ARRAY", "WRAPPER"), ("WRAPPER",)),
    "WITH CONDITIONAL": (("CONDITIONAL", "ARRAY", "WRAPPER"), ("CONDITIONAL", "WRAPPER")),
    "WITH UNCONDITIONAL": (
        *(("UNCONDITIONAL", "ARRAY", "WRAPPER"), ("UNCONDITIONAL", "WRAPPER")),
        *(("ARRAY", "WRAPPER"), ("WRAPPER",)),
    ),
}
_Conditions = dict[str, Any]


def _arguments(parser: Any, said: str) -> tuple[Any, Any]:
    text = parser._parse_disjunction()
    path = parser._parse_disjunction() if parser._match(TokenType.COMMA) else None
    if text is None or path is None:
        parser.raise_error(said)
    return text, path


def _conditions(parser: Any, words: Sequence[str], on: Sequence[str], default: bool) -> _Conditions:
    """By EMPTY and ERROR, each at most once: one of the words, or what DEFAULT says."""
    found: _Conditions = {}
    while True:
        at = parser._index
        said = _said(parser, words, default)
        over = said is not None and parser._match_text_seq("ON") and parser._curr.text.upper()
        if not over or over not in on or over in found:
            parser._retreat(at)
            return found
        parser._advance()
        found[over] = said


def _said(parser: Any, words: Sequence[str], default: bool) -> Any:
    for word in words:
        if parser._match_text_seq(*word.split()):
            return "EMPTY ARRAY" if word == "EMPTY" else word
    if default and parser._match_text_seq("DEFAULT"):
        return parser._parse_disjunction()
    return None


def _closed(parser: Any, said: str) -> None:
    if parser._curr.token_type != TokenType.R_PAREN:
        parser.raise_error(said)


def _on_condition(found: _Conditions) -> exp.OnCondition | None:
    said = {
        over.lower(): f"{words} ON {over}" if isinstance(words, str) else words
        for over, words in found.items()
    }
    return exp.OnCondition(**said) if said else None


def _value(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    text, path = _arguments(parser, NO_VALUE)
    returning = parser._parse_types() if parser._match_text_seq("RETURNING") else None
    found = _conditions(parser, _VALUES, ("EMPTY", "ERROR"), True)
    _closed(parser, NO_VALUE)
    made = exp.JSONValue(
        this=text, path=path, returning=returning, on_condition=_on_condition(found)
    )
    return made.update_positions(name)


def _exists(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    text, path = _arguments(parser, NO_EXISTS)
    found = _conditions(parser, _EXISTS, ("ERROR",), False)
    _closed(parser, NO_EXISTS)
    made = exp.JSONExists(this=text, path=path, on_condition=_on_condition(found))
    return made.update_positions(name)


def _query(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    text, path = _arguments(parser, NO_QUERY)
    if parser._match_text_seq("RETURNING"):
        _text_type(parser)
    words = _wrapper(parser)
    found = _conditions(parser, _QUERIES, ("EMPTY", "ERROR"), False)
    _closed(parser, NO_QUERY)
    words += [f"{found[over]} ON {over}" for over in ("EMPTY", "ERROR") if over in found]
    given = [text, path, *(exp.Var(this=each) for each in words)]
    return exp.Anonymous(this="JSON_QUERY", expressions=given).update_positions(name)


def query_arguments(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The function of a JSON_QUERY that was read, and its arguments: words are texts."""
    given = [part for part in node.expressions if not isinstance(part, exp.Var)]
    said = [part.name for part in node.expressions if isinstance(part, exp.Var)]
    if not said:
        return "json_query", given
    wrapper = next((words for words in said if words.endswith("WRAPPER")), "WITHOUT")
    on = {over: words for words, _, over in (each.partition(" ON ") for each in said)}
    texts = [wrapper.removesuffix(" ARRAY WRAPPER").split()[-1]]
    texts += [on.get(over, "NULL") for over in ("EMPTY", "ERROR")]
    return "json query", [*given, *map(exp.Literal.string, texts)]


def _text_type(parser: Any) -> None:
    type_ = parser._parse_types()
    if type_ is None or not type_.is_type(*exp.DataType.TEXT_TYPES):
        parser.raise_error(NO_QUERY)


def _wrapper(parser: Any) -> list[str]:
    for kind, ways in _WRAPPERS.items():
        for way in ways:
            if parser._match_text_seq(kind.split()[0], *way):
                return [f"{kind} ARRAY WRAPPER"]
    return []


PARSERS: dict[str, Callable[[Any], exp.Expr]] = {
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_EXISTS": _exists,
}
"""Of sqlglot's parser, behind the opening bracket."""


def arrowed(parser: Any, this: exp.Expr) -> exp.Expr:
    """`this` with the arrows behind it, each of one step, which bind closer than any operator."""
    while is_arrow(parser._curr):
        token = parser._curr
        parser._advance()
        step = _step(parser)
        if parser._curr.token_type == TokenType.DCOLON:
            parser.raise_error(NO_CAST)
        name = ARROWS[token.token_type]
        this = exp.Anonymous(this=name, expressions=[this, step]).update_positions(token)
    return this


def _step(parser: Any) -> exp.Expr:
    minus = parser._match(TokenType.DASH)
    step = parser._parse_primary() or parser._parse_function() or parser._parse_id_var()
    if step is None:
        parser.raise_error(NO_STEP)
    step = exp.column(step) if isinstance(step, exp.Identifier) else step
    return exp.Neg(this=step) if minus else step
