"""JSON_OBJECTAGG and JSON_ARRAYAGG: aggregates that make a map or a list, as texts of JSON.

They are read with the words that SQL has between their arguments, and written anew, so that nothing
further down knows of them. What is behind a call, FILTER and OVER, is of the aggregate within:

| written | read as |
|---|---|
| `JSON_OBJECTAGG(KEY k VALUE v)` | `TO_JSON(MAP_AGG(CAST(k AS STRING), v))` |
| `JSON_OBJECTAGG(k, v ABSENT ON NULL)` | `TO_JSON(MAP_AGG(…) FILTER (WHERE NOT v IS NULL))` |
| `JSON_ARRAYAGG(x ORDER BY y)` | `TO_JSON(COLLECT_LIST(x ORDER BY y))` |
| `JSON_ARRAYAGG(x NULL ON NULL)` | `TO_JSON(COLLECT_LIST(NAMED_STRUCT('v', x)).v)` |

PostgreSQL's JSON_AGG, JSONB_AGG, JSON_OBJECT_AGG and JSONB_OBJECT_AGG keep NULLs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

_OBJECTS = ("JSON_OBJECTAGG", "JSON_OBJECT_AGG", "JSONB_OBJECT_AGG")
_ARRAYS = ("JSON_ARRAYAGG", "JSON_AGG", "JSONB_AGG")
_ABSENT = ("JSON_ARRAYAGG",)
"""Leave NULLs out where nothing is said of them."""
_AROUND = (exp.Window, exp.Filter)
NO_OBJECT = "JSON_OBJECTAGG takes a key and a value, then NULL ON NULL or ABSENT ON NULL"
NO_ARRAY = "JSON_ARRAYAGG takes one value, then NULL ON NULL or ABSENT ON NULL"
"""What the parser says where neither is there."""
_NAMED = re.compile(r"JSONB?_(?:OBJECT|ARRAY)?_?AGG", re.I)
_ENDS = (TokenType.COMMA, TokenType.R_PAREN, TokenType.DOT, TokenType.L_PAREN)
_WITHIN = "v"


def _object(parser: Any) -> exp.Expr:
    """`k, v`, or `KEY k VALUE v`, where a column may be called `key` or `value`."""
    name = parser._tokens[parser._index - 2]
    if is_key_word(parser):
        parser._advance()
    key = parser._parse_disjunction()
    if not parser._match(TokenType.COMMA) and not parser._match_text_seq("VALUE"):
        parser.raise_error(NO_OBJECT)
    value = parser._parse_disjunction()
    return _read(parser, name, [key, value])


def is_key_word(parser: Any) -> bool:
    if parser._curr.text.upper() != "KEY" or parser._next is None:
        return False
    if parser._next.text.upper() != "VALUE":
        return parser._next.token_type not in _ENDS
    behind = parser._tokens[parser._index + 2 : parser._index + 3]
    return bool(behind) and behind[0].text.upper() == "VALUE"


def _array(parser: Any) -> exp.Expr:
    name = parser._tokens[parser._index - 2]
    return _read(parser, name, [parser._parse_lambda()])


def _read(parser: Any, name: Any, arguments: list[exp.Expr | None]) -> exp.Expr:
    """The call with what is said of NULLs, and of keys that come twice."""
    said = NO_OBJECT if name.text.upper() in _OBJECTS else NO_ARRAY
    if None in arguments:
        parser.raise_error(said)
    absent = name.text.upper() in _ABSENT
    if parser._match_text_seq("NULL", "ON", "NULL"):
        absent = False
    elif parser._match_text_seq("ABSENT", "ON", "NULL"):
        absent = True
    if parser._match_text_seq("WITHOUT", "UNIQUE"):
        parser._match_text_seq("KEYS")
    if parser._curr.token_type != TokenType.R_PAREN:
        parser.raise_error(said)
    call = exp.Anonymous(this=name.text, expressions=arguments).update_positions(name)
    call.meta["absent"] = absent
    return call


PARSERS: dict[str, Callable[[Any], exp.Expr]] = {
    **dict.fromkeys(_OBJECTS, _object),
    **dict.fromkeys(_ARRAYS, _array),
}
"""Of sqlglot's parser, behind the opening bracket."""


def rewritten_calls(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree, changed, without calls of these. text: what it was read from."""
    if not _NAMED.search(text):
        return tree
    for node in list(tree.find_all(exp.Anonymous)):
        if "absent" in node.meta:
            tree = _rewritten(node, tree)
    return tree


def _rewritten(node: exp.Anonymous, tree: exp.Expr) -> exp.Expr:
    outer: exp.Expr = node
    while isinstance(outer.parent, _AROUND) and outer.parent.this is outer:
        outer = outer.parent
    objects = node.name.upper() in _OBJECTS
    structs = not objects and not node.meta["absent"]
    made = _map(node) if objects else _list(node, structs)
    whole = made if outer is node else outer
    parent, root = outer.parent, outer is tree
    text = exp.Anonymous(this="TO_JSON")
    if not root and parent is not None:
        outer.replace(text)
    if outer is not node:
        node.replace(made)
    text.set("expressions", [exp.Dot(this=whole, expression=_field()) if structs else whole])
    text.meta.update(_place(node))
    return text if root else tree


def _map(node: exp.Anonymous) -> exp.Expr:
    key, value = node.expressions
    made = exp.Anonymous(this="MAP_AGG", expressions=[exp.cast(key, "string"), value])
    made.meta.update(_place(node))
    if not node.meta["absent"]:
        return made
    known = exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()))
    return exp.Filter(this=made, expression=exp.Where(this=known))


def _list(node: exp.Anonymous, structs: bool) -> exp.Expr:
    (argument,) = node.expressions
    value = argument
    while isinstance(value, exp.Order | exp.Limit):
        value = value.this
    if isinstance(value, exp.Distinct) and value.expressions:
        value = value.expressions[0]
    if structs:
        named = exp.Anonymous(this="NAMED_STRUCT")
        if value is argument:
            argument = named
        else:
            value.replace(named)
        named.set("expressions", [exp.Literal.string(_WITHIN), value])
    made = exp.Anonymous(this="COLLECT_LIST", expressions=[argument])
    made.meta.update(_place(node))
    return made


def _field() -> exp.Identifier:
    return exp.Identifier(this=_WITHIN, quoted=False)


def _place(node: exp.Expr) -> dict[str, Any]:
    return {key: value for key, value in node.meta.items() if key != "absent"}
