"""EXPLAIN as SVG: the plan as a tree, results above, sources below, laid out and drawn by Vega.

A stage that several read is drawn below the first of them; the others name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from sqlwin.pictures.charting import FONT, charting
from sqlwin.plan.explain.mermaid import policies

WIDE, BOX, LINE = 44, 310, 14
FILLS = {"output": "#e7f5ff", "scan": "#ebfbee", "operator": "#fff4e6", "other": "#f8f9fa"}
LINES = {"output": "#1c7ed6", "scan": "#2f9e44", "operator": "#e8590c", "other": "#adb5bd"}


def svg(found: Mapping[str, Any]) -> str:
    """found: of `structure`. InputError where the extra is missing."""
    charting()
    import vl_convert

    boxes = list(_boxes(found))
    return str(vl_convert.vega_to_svg(_spec(boxes)))


def _boxes(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each with the one above it. Several queries hang below a box of the script."""
    queries = found["queries"]
    several = len(queries) > 1
    if several:
        yield _box("root", None, 0, "output", "script", [f"{len(queries)} queries"])
    for number, query in enumerate(queries):
        yield from _query(number, query, several)


def _query(number: int, query: Mapping[str, Any], several: bool) -> Iterator[dict[str, Any]]:
    nodes = {node["id"]: (stage, node) for stage in query["stages"] for node in stage["nodes"]}
    top = f"q{number}"
    title = query["output"] or f"results{f' of query {number + 1}' if number else ''}"
    columns = wrap(", ".join(f"{c['name']} {c['type']}" for c in query["columns"]), WIDE)
    yield _box(top, "root" if several else None, int(several), "output", title, columns)
    drawn: set[str] = set()
    waiting = [("s0n0", top, 1 + several)]
    while waiting:
        node_id, parent, depth = waiting.pop(0)
        stage, node = nodes[node_id]
        box = f"{top}{node_id}"
        if node_id in drawn:
            name = ", ".join(stage["streams"])
            yield _box(
                f"{parent}-{node_id}", parent, depth, "other", name, ["as above, computed once"]
            )
            continue
        drawn.add(node_id)
        kind = "scan" if "stream" in node else "other"
        kind = "operator" if node_id == stage["operator"] else kind
        yield _box(box, parent, depth, kind, node["kind"], _lines(stage, node))
        waiting += [(below, box, depth + 1) for below in node["inputs"]]


def _lines(stage: Mapping[str, Any], node: Mapping[str, Any]) -> list[str]:
    texts = wrap(node["text"].removeprefix(node["kind"]).strip(), WIDE)
    if node["id"] == stage["operator"]:
        texts += policies(stage, WIDE)
        for store in stage["stores"]:
            texts += wrap(f"store {store['name']}: {store['holds']}", WIDE)
    return texts


def _box(
    id: str, parent: str | None, depth: int, kind: str, title: str, lines: list[str]
) -> dict[str, Any]:
    return {
        "id": id,
        "parent": parent,
        "level": depth,
        "kind": kind,
        "title": title,
        "lines": lines,
        "rows": len(lines),
    }


def _spec(boxes: list[dict[str, Any]]) -> dict[str, Any]:
    """Of Vega, whose transform `tree` places the boxes."""
    tree = {"type": "tree", "method": "tidy", "nodeSize": [BOX + 24, 100]}
    tops = {"type": "formula", "as": "y", "expr": "tops[datum.level]"}  # as high as each level is
    filled = {"scale": "fill", "field": "kind"}, {"scale": "line", "field": "kind"}
    center, below = {"field": "x"}, f"datum.source.y + datum.source.rows * {LINE} + 30"
    height = {"signal": f"datum.rows * {LINE} + 30"}
    return {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "background": "white",
        "padding": 12,
        "autosize": "pad",
        "signals": [{"name": "tops", "value": _tops(boxes)}],
        "data": [
            {
                "name": "tree",
                "values": boxes,
                "transform": [{"type": "stratify", "key": "id", "parentKey": "parent"}, tree, tops],
            },
            {
                "name": "links",
                "source": "tree",
                "transform": [
                    {"type": "treelinks"},
                    {"type": "formula", "as": "from", "expr": below},
                ],
            },
        ],
        "scales": [
            {"name": name, "type": "ordinal", "domain": list(table), "range": list(table.values())}
            for name, table in (("fill", FILLS), ("line", LINES))
        ],
        "marks": [
            {
                "type": "rule",
                "from": {"data": "links"},
                "encode": {
                    "enter": {
                        "x": {"field": "source.x"},
                        "y": {"field": "from"},
                        "x2": {"field": "target.x"},
                        "y2": {"field": "target.y"},
                        "stroke": {"value": "#868e96"},
                        "strokeWidth": {"value": 1.4},
                    }
                },
            },
            {
                "type": "rect",
                "from": {"data": "tree"},
                "encode": {
                    "enter": {
                        "xc": center,
                        "y": {"field": "y"},
                        "width": {"value": BOX},
                        "height": height,
                        "cornerRadius": {"value": 6},
                        "fill": filled[0],
                        "stroke": filled[1],
                    }
                },
            },
            _text("title", 16, 12, "bold"),
            _text("lines", 33, 11, "normal"),
        ],
    }


def _tops(boxes: list[dict[str, Any]]) -> list[int]:
    """Where each level begins, below the tallest box of the one above."""
    tops = [0]
    for level in range(max(box["level"] for box in boxes)):
        tallest = max(box["rows"] for box in boxes if box["level"] == level)
        tops.append(tops[-1] + tallest * LINE + 64)
    return tops


def _text(field: str, dy: int, size: int, weight: str) -> dict[str, Any]:
    return {
        "type": "text",
        "from": {"data": "tree"},
        "encode": {
            "enter": {
                "x": {"field": "x", "offset": -BOX / 2 + 12},
                "y": {"field": "y", "offset": dy},
                "text": {"field": field},
                "font": {"value": FONT},
                "fontSize": {"value": size},
                "fontWeight": {"value": weight},
                "lineHeight": {"value": LINE},
                "limit": {"value": BOX - 20},
                "fill": {"value": "#1f2933"},
            }
        },
    }
