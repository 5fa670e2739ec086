"""Words of expressions that are written in capitals, unless they are names there.

The grammar reads an expression as a run of words; which of them are names is sqlglot's business.

>>> from sqlwin.sql.syntax.parsing.concrete import Branch, concrete
>>> text = "select in from s where in in (1, 2) and b is null"
>>> select = concrete(text).children[0].children[0]
>>> runs = [each.children[-1] for each in select.children if isinstance(each, Branch)]
>>> [sorted(WORDS - keywords(run, text)) for run in (runs[0], runs[-1])]
[['IN'], ['IN']]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.dialect.arrows import CALLS
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.expressions.scalars import FOREIGN
from sqlwin.sql.syntax.parsing.concrete import KEY, PIVOTED, Branch, Leaf, leaves
from sqlwin.sql.text.depth import room
from sqlwin.sql.text.prepared import blanked

_LOGIC = "AND OR NOT IS NULL TRUE FALSE IN BETWEEN LIKE ILIKE RLIKE ESCAPE CASE WHEN THEN ELSE END"
_OTHERS = "AS DIV INTERVAL ASC DESC NULLS IGNORE RESPECT DISTINCT FILTER WITHIN GROUP ORDER BY"
WORDS = frozenset(f"{_LOGIC} {_OTHERS}".split())
_JSON_KINDS = "JSON VALUE SCALAR ARRAY OBJECT"
_JSON_CALLS = "RETURNING DEFAULT UNKNOWN ON EMPTY ERROR KEY ABSENT FORMAT"
_JSON_WRAPPERS = "WITH WITHOUT CONDITIONAL UNCONDITIONAL WRAPPER"
JSON = frozenset(f"{_JSON_KINDS} {_JSON_CALLS} {_JSON_WRAPPERS}".split())
"""Keywords of IS JSON, and within JSON_VALUE and the like."""
ZONED = frozenset(("AT", "TIME", "ZONE"))
ROUNDED = frozenset(("TO",))
"""Keywords of AT TIME ZONE, and within `FLOOR(ts TO HOUR)`, beside the unit."""
PLACES = frozenset(("FIRST", "LAST"))
"""Keywords behind NULLS, and names of functions elsewhere."""
WHOLE = frozenset(("limit", "exclude", "duration"))
"""Rules of keywords alone: `FETCH FIRST 3 ROWS ONLY`, `EXCLUDE CURRENT ROW`, `1 HOUR`."""
MATCH = "match_recognize"
OF_ITS_OWN = ("run", KEY, PIVOTED, MATCH, "over", *WHOLE)
"""Rules within which other words are keywords than around them."""
_TIMES = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")
_DATES = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
UNITS = frozenset(unit + end for unit in (*_TIMES, *_DATES) for end in ("", "S"))
Words = frozenset[str | int]
"""Words in capitals, and places of others, as characters of the text."""


def capitals(leaf: Leaf, keywords: Words) -> str:
    upper = leaf.text.upper()
    return upper if upper in keywords or leaf.start in keywords else leaf.text


def written(node: Leaf | Branch, source: str, words: Words = frozenset()) -> Iterator[str]:
    """Every token, keywords in capitals and names as they are."""
    if isinstance(node, Leaf):
        yield capitals(node, words)
        return
    own = keywords(node, source) if node.rule in OF_ITS_OWN else words
    for child in node.children:
        yield from written(child, source, own)


def keywords(node: Branch, source: str) -> Words:
    """Those of `WORDS` that are no name in an expression; none of what is none, or cannot be read.

    Of OVER (…) within an expression, its own expressions alone have any."""
    if node.rule in WHOLE:
        return frozenset(leaf.text.upper() for leaf in leaves(node) if leaf.text[:1].isalpha())
    if node.rule in (MATCH, PIVOTED):
        from sqlwin.formatting import clause_words  # which takes words of expressions from here

        read = clause_words.of_match if node.rule == MATCH else clause_words.of_pivot
        return read(node, source)
    if node.rule not in ("run", KEY) or not any(
        leaf.text.upper() in WORDS | JSON | ZONED | ROUNDED for leaf in leaves(node)
    ):
        return frozenset()
    found = in_capitals(_text(node, blanked(source)), node.rule == KEY, _placed(node))
    return found if "INTERVAL" not in found else found | frozenset(units(list(leaves(node))))


def in_capitals(text: str, key: bool, more: frozenset[str] = frozenset()) -> Words:
    """Those of `WORDS` and of `more` that are no name in an expression, or in a key of ORDER BY."""
    tree = _read(text, key)
    if tree is None:
        return frozenset()
    names = {each.name.upper() for each in tree.find_all(exp.Identifier)}
    return (WORDS | more | _of_json(tree) | _of_times(tree)) - names


def _of_json(tree: exp.Expr) -> frozenset[str]:
    calls = {each.name.upper() for each in tree.find_all(exp.Anonymous)}
    known = tree.find(exp.JSON, exp.JSONValue, exp.JSONExists) or calls & frozenset(CALLS)
    return JSON - calls if known else frozenset()


def _of_times(tree: exp.Expr) -> frozenset[str]:
    zoned = ZONED if tree.find(exp.AtTimeZone) else frozenset[str]()
    rounded = [each.args["to"].name for each in tree.find_all(exp.Floor, exp.Ceil)]
    return zoned | (ROUNDED | {*rounded} if rounded else frozenset[str]())


def units(tokens: Sequence[Leaf]) -> Iterator[int]:
    """The places of units behind INTERVAL: `INTERVAL '1' DAY`, `INTERVAL DAY TO SECOND`."""
    until = 0
    for at, token in enumerate(tokens):
        word = token.text.upper()
        if word == "INTERVAL":
            until = at + 2 + (tokens[at + 1 : at + 2] != [] and not _unit(tokens[at + 1]))
        elif at < until and (word in UNITS or word == "TO"):
            yield token.start
            until = at + 2


def _unit(token: Leaf) -> bool:
    return token.text.upper() in UNITS


def _placed(run: Branch) -> frozenset[str]:
    """FIRST and LAST, where they stand behind NULLS alone."""
    words = ["", *(leaf.text.upper() for leaf in leaves(run))]
    pairs = [pair for pair in pairwise(words) if pair[1] in PLACES]
    return PLACES if all(before == "NULLS" for before, _ in pairs) else frozenset()


def _text(run: Branch, blank: str) -> str:
    """Without OVER (…), of which sqlglot knows a part only."""
    made, at = "", -1
    for child in run.children:
        tokens = list(leaves(child))
        start, end = tokens[0].start, tokens[-1].end
        made += " " * (at >= 0 and at < start)
        made += blank[start:end] if isinstance(child, Leaf) or child.rule != "over" else ""
        at = end
    return made


def _read(text: str, key: bool) -> exp.Expr | None:
    """As an expression, as a key of ORDER BY, or not at all."""
    for into in (exp.Ordered,) if key else (None, exp.Ordered):
        with suppress(QueryError, ParseError, TokenError, *FOREIGN), room():
            return sqlglot.parse_one(text, read=SqlwinSpark, into=into)
    return None
