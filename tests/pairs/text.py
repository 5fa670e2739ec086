"""A file of pairs: a subject, what its queries read, then each query with what is said of it.

    title: names of columns
    --- streams
    CREATE STREAM orders (value DOUBLE);
    --- query
    SELECT valeu FROM orders
    --- refused
    unknown column valeu; did you mean value?
    at: valeu
    legal: value

`refused` is the message, what is underlined, on its first line, and what would be legal;
`explain`, instead, is what EXPLAIN prints, `explain mermaid` and `explain json` the same in another
format. `python -m tests.pairs.rewrite [name …]` writes
them anew; read the difference before it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlwin.errors import QueryError
from sqlwin.plan.explain.mermaid import mermaid
from sqlwin.plan.explain.structure import structure
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.explained import explain, stores_of
from sqlwin.sql import script
from sqlwin.testing.golden import Block, Golden, parse, render
from tests.support.sql.cases import underlined

HOME = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """file: without its suffix, below this folder. kind: `refused` or `explain`. format: of it."""

    file: str
    streams: str
    query: str
    kind: str
    expected: str
    format: str = ""


def files(names: list[str] | None = None) -> list[Golden]:
    """Those whose name has one of `names` in it, all without."""
    found = []
    for path in sorted(HOME.rglob("*.pairs")):
        name = path.relative_to(HOME).with_suffix("").as_posix()
        if not names or any(part in name for part in names):
            found.append(parse(name, path.read_text(encoding="utf-8")))
    return found


def path_of(file: Golden) -> Path:
    return HOME / f"{file.name}.pairs"


def pairs(file: Golden) -> list[Pair]:
    """ValueError where a query has no answer, or an answer no query."""
    streams = file.whole("streams") or ""
    blocks = [block for block in file.blocks if block.kind != "streams"]
    made = []
    for query, answer in zip(blocks[::2], blocks[1::2], strict=True):
        if query.kind != "query" or answer.kind not in ("refused", "explain"):
            raise ValueError(f"{file.name}: {query.kind}, {answer.kind} are no pair")
        found = (query.body, answer.kind, answer.body, answer.argument)
        made.append(Pair(file.name, streams, *found))
    return made


def said(pair: Pair) -> str:
    """AssertionError where it is taken and should not be."""
    try:
        bound = script(f"{pair.streams}\n{pair.query}")
    except QueryError as mistake:
        return _refused(mistake)
    assert pair.kind == "explain", f"was taken: {pair.query}"
    return FORMATS[pair.format](bound)


def _text(bound: Script) -> str:
    (query,) = bound.queries
    return explain(query)


def _mermaid(bound: Script) -> str:
    return mermaid(structure(bound, stores_of))


def _json(bound: Script) -> str:
    return json.dumps(structure(bound, stores_of), indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[Script], str]] = {"": _text, "mermaid": _mermaid, "json": _json}


def _refused(mistake: QueryError) -> str:
    at = [] if mistake.span is None else [f"at: {underlined(mistake)}"]
    legal = [f"legal: {mistake.legal}"] if mistake.legal else []
    return "\n".join([mistake.message, *at, *legal])


def rewritten(file: Golden) -> str:
    """The file with what is said now."""
    answers = iter([said(pair) for pair in pairs(file)])
    blocks = tuple(
        replace(block, lines=tuple(next(answers).splitlines()))
        if block.kind in ("refused", "explain")
        else block
        for block in file.blocks
    )
    return render(replace(file, blocks=blocks))


def written(title: str, streams: str, cases: list[tuple[str, str, str]]) -> str:
    """A new file of (query, kind, what is said)."""
    blocks = [Block("streams", "", tuple(streams.splitlines()))]
    for query, kind, answer in cases:
        blocks.append(Block("query", "", tuple(query.splitlines())))
        blocks.append(Block(kind, "", tuple(answer.splitlines())))
    return render(Golden("", {"title": title}, tuple(blocks)))
