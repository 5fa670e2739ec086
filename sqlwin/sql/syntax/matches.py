"""The clauses of MATCH_RECOGNIZE, cut out of what stands in its brackets.

The grammar reads the brackets as balanced tokens; what the clauses hold are runs, which know where
they stand.

>>> from sqlwin.errors import Span
>>> text = "MATCH_RECOGNIZE (ORDER BY ts PATTERN (a b+) DEFINE b AS b.x > 1, a AS x<2)"
>>> made = match_recognize(ast.Run(text, text, Span(1, 1)), Span(1, 1))
>>> made.pattern.text, [(name.text, run.text) for name, run in made.define]
('a b+', [('b', 'b.x > 1'), ('a', 'x<2')])
"""

from __future__ import annotations

import re

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED, unquoted
from sqlwin.sql.text.runs import bracketed, part, parts

LEGAL = "PARTITION BY user ORDER BY ts MEASURES … AFTER MATCH SKIP … PATTERN (a b+) DEFINE b AS …"
CLAUSES = (
    ("PARTITION BY", r"PARTITION\s+BY\b"),
    ("ORDER BY", r"ORDER\s+BY\b"),
    ("MEASURES", r"MEASURES\b(?=\s*[^\s=<>.,)])"),
    ("ONE ROW PER MATCH", r"ONE\s+ROW\s+PER\s+MATCH\b"),
    ("ALL ROWS PER MATCH", r"ALL\s+ROWS\s+PER\s+MATCH\b"),
    ("AFTER MATCH SKIP", r"AFTER\s+MATCH\s+SKIP\b"),
    ("PATTERN", r"PATTERN(?=\s*\()"),
    ("WITHIN", r"WITHIN(?=\s+(?:INTERVAL\b|['\d]))"),
    ("SUBSET", r"SUBSET\b(?=\s+(?:\w+|`(?:[^`]|``)+`)\s*=)"),
    ("DEFINE", r"DEFINE\b(?=\s+\S+\s+AS\b)"),
)
"""In the order in which they stand."""
_NUMBERED = {word: number for number, (word, _) in enumerate(CLAUSES)}
_WORDS = "|".join(rf"(?<![\w.])(?P<_{number}>{text})" for number, (_, text) in enumerate(CLAUSES))
_TOKEN = re.compile(rf"(?P<quoted>{QUOTED})|(?P<open>\()|(?P<close>\))|{_WORDS}", re.I | re.S)
_ALIAS = re.compile(r"\s+AS\s+(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)\s*\Z", re.I)
_DEFINED = re.compile(r"(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)\s+AS\b", re.I)
_SUBSET = re.compile(r"(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)\s*=")


def match_recognize(run: ast.Run, span: Span) -> ast.MatchRecognize:
    """run: from the word to its last bracket."""
    if run.overs:
        message = "OVER cannot stand in MATCH_RECOGNIZE"
        raise QueryError(message, run.overs[0].span, legal="LAST(a.value, 1), PREV(value)")
    inside = bracketed(run, len("MATCH_RECOGNIZE"))
    assert inside is not None
    given = _clauses(inside)
    for word in ("PATTERN", "ORDER BY"):
        if word not in given:
            raise QueryError(f"MATCH_RECOGNIZE needs {word}", span, legal=LEGAL)
    if "ONE ROW PER MATCH" in given and "ALL ROWS PER MATCH" in given:
        message = "a match gives one row or all, not both"
        raise QueryError(message, given["ALL ROWS PER MATCH"].span, legal="ALL ROWS PER MATCH")
    pattern = bracketed(given["PATTERN"])
    if pattern is None:
        raise QueryError("a pattern stands in brackets", given["PATTERN"].span, legal="(a b+ c)")
    return ast.MatchRecognize(
        span,
        tuple(_listed(given, "PARTITION BY")),
        tuple(_listed(given, "ORDER BY")),
        tuple(_measure(each) for each in _listed(given, "MEASURES")),
        pattern,
        tuple(_definition(each) for each in _listed(given, "DEFINE")),
        given.get("AFTER MATCH SKIP"),
        given.get("WITHIN"),
        given.get("ALL ROWS PER MATCH"),
        tuple(_subset(each) for each in _listed(given, "SUBSET")),
    )


def _clauses(inside: ast.Run) -> dict[str, ast.Run]:
    """What stands behind the words of each clause."""
    found = words_of(inside.text)
    begin = found[0][1] if found else len(inside.text)
    if inside.text[:begin].strip():
        raise QueryError("a clause is missing here", part(inside, 0, begin).span, legal=LEGAL)
    ends = [start for _, start, _ in found[1:]] + [len(inside.text)]
    made: dict[str, ast.Run] = {}
    last = -1
    for (word, start, end), until in zip(found, ends, strict=True):
        at = inside.at(start, end)
        if word in made:
            raise QueryError(f"{word} is given twice", at, legal="once")
        if _NUMBERED[word] < last:
            raise QueryError(f"{word} stands before what it follows here", at, legal=LEGAL)
        last = _NUMBERED[word]
        own = part(inside, end, until)
        made[word] = own if own.text else part(inside, start, end)
        alone = word == "ONE ROW PER MATCH"
        if alone == bool(own.text) and word != "ALL ROWS PER MATCH":
            message = f"{word} ends here" if alone else f"something is missing behind {word}"
            raise QueryError(message, own.span if alone else at, legal=LEGAL)
    return made


def words_of(text: str) -> list[tuple[str, int, int]]:
    """Words of clauses outside brackets, each with its place."""
    depth, made = 0, []
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        depth += (kind == "open") - (kind == "close")
        if kind.startswith("_") and depth == 0:
            made.append((CLAUSES[int(kind[1:])][0], token.start(), token.end()))
    return made


def _listed(given: dict[str, ast.Run], word: str) -> list[ast.Run]:
    return parts(given[word]) if word in given else []


def _measure(run: ast.Run) -> tuple[ast.Run, ast.Name]:
    alias = _ALIAS.search(run.text)
    if alias is None:
        raise QueryError("a measure has a name", run.span, legal="LAST(a.price) AS price")
    name = ast.Name(unquoted(alias["name"]), run.at(*alias.span("name")))
    return part(run, 0, alias.start()), name


def _subset(run: ast.Run) -> tuple[ast.Name, ast.Run]:
    head = _SUBSET.match(run.text)
    members = None if head is None else bracketed(run, head.end())
    if head is None or members is None or not members.text:
        message = "SUBSET gives variables a name"
        raise QueryError(message, run.span, legal="SUBSET u = (a, b), v = (b, c)")
    return ast.Name(unquoted(head["name"]), run.at(*head.span("name"))), members


def _definition(run: ast.Run) -> tuple[ast.Name, ast.Run]:
    head = _DEFINED.match(run.text)
    if head is None or not run.text[head.end() :].strip():
        message = "DEFINE gives each variable a condition"
        raise QueryError(message, run.span, legal="DEFINE a AS a.price > 10, b AS …")
    name = ast.Name(unquoted(head["name"]), run.at(*head.span("name")))
    return name, part(run, head.end(), len(run.text))
