"""The concrete tree of a text: every token with its place, for a layout that loses none.

>>> [leaf.text for leaf in leaves(concrete("select a from s;"))]
['SELECT', 'a', 'FROM', 's', ';']
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.options.settings import DOUBLE_QUOTED
from sqlwin.sql.syntax.parsing.parser import grammar_folder, statements
from sqlwin.sql.text.depth import refuse_deep, room
from sqlwin.sql.text.prepared import Prepared, blanked

VALUES = frozenset({"NAME", "STRING", "TEXT", "NUMBER", "OP", "HINT"})

KEY = "key"
"""An expression of ORDER BY, behind which DESC is no name."""
PIVOTED = "pivoted"
"""A part of what stands in the brackets of PIVOT."""


@dataclass(frozen=True)
class Leaf:
    """A token of characters start to end. text: keywords in capitals, else as written."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Branch:
    rule: str
    children: tuple[Leaf | Branch, ...]


def concrete(source: str) -> Branch:
    """QueryError where the text is none of the dialect."""
    named = source
    if DOUBLE_QUOTED in source:
        from sqlwin.sql.text.double_quoted import as_names  # by need

        named = as_names(source, filled=True)
    text = blanked(named)
    try:
        with room():
            refuse_deep(text)
            return _branch(_grammar().parse(text), source, text)
    except UnexpectedInput:
        try:
            statements(blanked(source))
        except QueryError as error:
            raise Prepared(source, text).located(error) from None
        raise


def leaves(node: Leaf | Branch) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
        return
    for child in node.children:
        yield from leaves(child)


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    text = (grammar_folder() / "sqlwin.lark").read_text("utf-8")
    return Lark(text, parser="lalr", keep_all_tokens=True, maybe_placeholders=False)


def _branch(tree: Tree[Token], source: str, text: str) -> Branch:
    children = tuple(
        _leaf(child, source, text) if isinstance(child, Token) else _branch(child, source, text)
        for child in tree.children
    )
    rule = str(tree.data).partition("{")[0]
    if rule in ("order", "order_by"):
        children = tuple(_called(KEY, child) for child in children)
    if rule == "pivot":
        children = tuple(_called(PIVOTED, child) for child in children)
    return Branch(rule, children)


def _called(rule: str, child: Leaf | Branch) -> Leaf | Branch:
    """A run by the name of the rule that it is for."""
    run = isinstance(child, Branch) and child.rule == "run"
    return Branch(rule, child.children) if isinstance(child, Branch) and run else child


def _leaf(token: Token, source: str, text: str) -> Leaf:
    start, end = token.start_pos or 0, token.end_pos or 0
    written = source[start:end]
    keyword = token.type not in VALUES and written[:1].isalpha()
    if keyword and written == text[start:end]:  # else there is a comment between two words
        written = " ".join(written.upper().split())
    return Leaf(written, start, end)
