"""EXPLAIN as a flowchart of Mermaid, which Markdown of many sites draws: rows flow down.

>>> quoted('a "b" <c>')
'"a #quot;b#quot; #lt;c#gt;"'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

WIDE = 56
SHOWN = ("Full", "Early", "Late", "Retention")
"""Facts of an operator that are shown beside it."""


def mermaid(found: Mapping[str, Any]) -> str:
    """found: of `structure`."""
    return "\n".join(["flowchart TD", *_queries(found)])


def _queries(found: Mapping[str, Any]) -> Iterator[str]:
    several = len(found["queries"]) > 1
    for number, query in enumerate(found["queries"]):
        prefix = f"q{number}"
        if several:
            yield f"  subgraph {prefix}[{quoted(f'query {number + 1}')}]"
        for stage in query["stages"]:
            yield from _stage(prefix, stage)
        yield f"  {prefix}out([{quoted(query['output'] or 'results')}])"
        yield f"  {prefix}s0n0 --> {prefix}out"
        if several:
            yield "  end"


def _stage(prefix: str, stage: Mapping[str, Any]) -> Iterator[str]:
    names = ", ".join(stage["streams"])
    if names:
        yield f"  subgraph {prefix}{stage['id']}[{quoted(f'derived stream {names}')}]"
    for node in stage["nodes"]:
        left, right = ("[/", "/]") if "stream" in node else ("[", "]")
        texts = wrap(node["text"], WIDE)
        if node["id"] == stage["operator"]:
            texts += policies(stage, WIDE)
        yield f"  {prefix}{node['id']}{left}{quoted(*texts)}{right}"
    for number, store in enumerate(stage["stores"]):
        label = quoted(store["name"], *wrap(store["holds"], 32))
        yield f"  {prefix}{stage['id']}t{number}[({label})]"
    if names:
        yield "  end"
    yield from _edges(prefix, stage)


def _edges(prefix: str, stage: Mapping[str, Any]) -> Iterator[str]:
    for node in stage["nodes"]:
        for below in node["inputs"]:
            yield f"  {prefix}{below} --> {prefix}{node['id']}"
    for number, _ in enumerate(stage["stores"]):
        yield f"  {prefix}{stage['operator']} -.- {prefix}{stage['id']}t{number}"


def policies(stage: Mapping[str, Any], wide: int) -> list[str]:
    """When its operator emits, and how long it keeps what it needs."""
    shown = [each for each in stage["facts"] if each["name"] in SHOWN]
    return [text for each in shown for text in wrap(f"{each['name']}: {each['text']}", wide)]


def quoted(*lines: str) -> str:
    """A label: its lines, with what Mermaid or HTML would take for its own as entities."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}
    texts = ("".join(entities.get(each, each) for each in text) for text in lines)
    return f'"{"<br/>".join(texts)}"'
