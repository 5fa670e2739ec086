"""Keywords where sqlglot reads nothing: in MATCH_RECOGNIZE and PIVOT, and units behind INTERVAL.

There a word may be a name in one place and a keyword in another, so it is the places of keywords
that are found, as characters of the text.

>>> from sqlwin.sql.syntax.parsing.concrete import Branch, concrete
>>> text = "select * from q pivot (sum(v) as total for one in (1 as one))"
>>> relation = concrete(text).children[0].children[0].children[3]
>>> pivoted = relation.children[0].children[1].children[2]
>>> sorted(text[at : at + 3] for at in of_pivot(pivoted, text))
['as ', 'as ', 'for', 'in ']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlwin.errors import QueryError
from sqlwin.formatting.expression_words import in_capitals, units
from sqlwin.sql.syntax.matches import match_recognize, words_of
from sqlwin.sql.syntax.parsing.concrete import Branch, Leaf, leaves
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import blanked, offset, span

_BEHIND = {
    "AFTER MATCH SKIP": frozenset(("PAST", "LAST", "ROW", "TO", "NEXT", "FIRST")),
    "ALL ROWS PER MATCH": frozenset(
        ("SHOW", "OMIT", "EMPTY", "MATCHES", "WITH", "UNMATCHED", "ROWS")
    ),
    "MEASURES": frozenset(("AS",)),
    "DEFINE": frozenset(("AS",)),
}
_CONSTANTS = frozenset(["AS", "NULL", "TRUE", "FALSE"])
_RUNNING = re.compile(r"(?:RUNNING|FINAL)\Z", re.IGNORECASE)


def of_match(node: Branch, source: str) -> frozenset[int]:
    """Of MATCH_RECOGNIZE and its brackets; none where these cannot be read."""
    tokens = list(leaves(node))
    start, end = tokens[0].start, tokens[-1].end
    blank = blanked(source)
    whole = ast.Run(blank[start:end], blank[start:end], span(blank, start, end))
    try:
        read = match_recognize(whole, whole.span)
    except QueryError:
        return frozenset()
    found = set(_clauses(tokens, blank))
    for run, key in _expressions(read):
        begin = offset(blank, run.span)
        inside = [t for t in tokens if begin <= t.start < begin + len(run.text)]
        words = in_capitals(run.text, key)
        found |= {t.start for t in inside if t.text.upper() in words} | set(units(inside))
        found |= {t.start for t in inside if _RUNNING.match(t.text) and _calls(t, tokens)}
    return frozenset(found)


def _expressions(read: ast.MatchRecognize) -> Iterator[tuple[ast.Run, bool]]:
    """And whether each is a key of ORDER BY."""
    yield from ((run, True) for run in (*read.partition, *read.order))
    yield from ((run, False) for run, _ in read.measures)
    yield from ((run, False) for _, run in read.define)
    yield from ((run, False) for run in (read.within,) if run is not None)


def _clauses(tokens: Sequence[Leaf], blank: str) -> Iterator[int]:
    """The words that clauses begin with, those behind AFTER MATCH SKIP and ROWS PER MATCH, and AS
    outside of inner brackets. tokens: with the brackets."""
    opened, closed = tokens[1], tokens[-1]
    found = words_of(blank[opened.end : closed.start])
    begins = [opened.end + start for _, start, _ in found]
    for (clause, start, end), until in zip(found, [*begins[1:], closed.start], strict=True):
        own = [t for t in tokens if opened.end + start <= t.start < until]
        yield from (t.start for t in own if t.start < opened.end + end)
        behind = [t for t in own if t.start >= opened.end + end]
        words = _BEHIND.get(clause, frozenset())
        yield from (t.start for t in _outside(behind) if t.text.upper() in words)


def _calls(token: Leaf, tokens: Sequence[Leaf]) -> bool:
    """Whether a name stands behind it: `FINAL LAST(a.x)`."""
    behind = next((each for each in tokens if each.start > token.start), None)
    return behind is not None and behind.text[:1].isalpha()


def of_pivot(node: Branch, source: str) -> frozenset[int]:
    """Of one part of what stands in the brackets of PIVOT or UNPIVOT."""
    tokens = list(leaves(node))
    blank, cut = blanked(source), [t for t in _outside(tokens) if t.text.upper() == "FOR"]
    head = [t for t in tokens if not cut or t.start < cut[0].start]
    text = blank[head[0].start : head[-1].end] if head else ""
    words = in_capitals(text, key=False)
    found = {t.start for t in head if t.text.upper() in words}
    if cut:
        behind = [t for t in tokens if t.start > cut[0].start]
        listed = next((t for t in _outside(behind) if t.text.upper() == "IN"), None)
        found.add(cut[0].start)
        if listed is not None:
            found.add(listed.start)
            values = [t for t in behind if t.start > listed.start]
            found |= {t.start for t in values if t.text.upper() in _CONSTANTS}
    return frozenset(found)


def _outside(tokens: Sequence[Leaf]) -> Iterator[Leaf]:
    depth = 0
    for token in tokens:
        depth += (token.text in "([") - (token.text in ")]")
        if depth == 0:
            yield token
