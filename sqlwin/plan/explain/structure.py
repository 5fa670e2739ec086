"""EXPLAIN as data: plain dicts and lists, with keys that stay. docs/pictures.md has the table.

    version, queries
      output, columns, errors_into, delivery, sources, warnings, stages
        id, streams, nodes, operator, stores, policy, facts, warnings

Nodes of a stage are listed from its results down. A node names its inputs by id: nodes of its
stage, or, of a Scan of a derived stream, the first node of each stage that the stream is made of.
Lengths of time are microseconds; `facts` are the lines of EXPLAIN, so the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import pyarrow as pa

from sqlwin.plan.explain.delivery import delivery
from sqlwin.plan.explain.folders import conditions_text
from sqlwin.plan.explain.lines import line
from sqlwin.plan.explain.operators import joins, windows
from sqlwin.plan.explain.query import DeclaredStores
from sqlwin.plan.explain.warnings import undeclared, warnings_of
from sqlwin.plan.ir.nodes import Join, Node, Scalar, Scan, StaticScan, Stream
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.plan.options.connectors import connector_of
from sqlwin.plan.properties.facts import (
    derived_streams,
    join_of,
    operator_of,
    plans_of,
    sources_of,
    tables_of,
    window_policy,
)
from sqlwin.plan.properties.folders import Conditions, folders_read
from sqlwin.schema import Schema, type_name

VERSION = 1
Data = dict[str, Any]
INPUTS = ("input", "left", "right")
APART = (*INPUTS, "policy", "stream", "folders")
"""Fields of a node that have keys of their own."""


def structure(script: Script, stores_of: Callable[[Query], DeclaredStores]) -> Data:
    """Every query of a script, those to run and those after EXPLAIN."""
    queries = [each for each in script.statements if isinstance(each, Query)]
    return {"version": VERSION, "queries": [_query(q, stores_of(q)) for q in queries]}


def _query(query: Query, stores: DeclaredStores) -> Data:
    plans = list(reversed(plans_of(query.plan)))
    ids = {plan: f"s{number}" for number, plan in enumerate(plans)}
    tables, read = tables_of(query.plan), folders_read(query.plan)
    return {
        "output": query.sink.name if query.sink else None,
        "columns": _columns(query.plan.schema),
        "errors_into": query.errors.name if query.errors else query.errors_into,
        "delivery": [text.strip() for text in delivery(query.sink, query.errors)],
        "sources": [_source(each, each in tables, read) for each in sources_of(query.plan)],
        "warnings": list(undeclared(query)),
        "stages": [_stage(plan, query, ids, stores[plan]) for plan in plans],
    }


def _columns(schema: Schema) -> list[Data]:
    return [{"name": column.name, "type": type_name(column.type)} for column in schema]


def _source(stream: Stream, static: bool, folders: Mapping[Stream, Conditions]) -> Data:
    options = dict(stream.options)
    return {
        "name": stream.name,
        "static": static,
        "connector": connector_of(options) if "connector" in options else None,
        "event_time": stream.ts,
        "watermark_delay": None if stream.ts is None else stream.delay,
        "columns": _columns(stream.schema),
        "folders": conditions_text(folders[stream]) if stream in folders else None,
    }


def _stage(plan: Node, query: Query, ids: dict[Node, str], opened: Sequence[str]) -> Data:
    stage, policy = ids[plan], window_policy(plan)
    made = [stream.name for stream in derived_streams(query.plan) if plan in stream.of]
    nodes = list(_nodes(plan, stage, ids))
    operator = operator_of(plan)
    return {
        "id": stage,
        "streams": made,
        "nodes": [each for _, each in nodes],
        "operator": next((each["id"] for node, each in nodes if node is operator), None),
        "stores": [_store(text) for text in opened],
        "policy": None if policy is None else plain(policy),
        "facts": [_fact(text) for text in _facts(plan, ", ".join(opened))],
        "warnings": list(warnings_of(plan)),
    }


def _facts(plan: Node, stores: str) -> Iterator[str]:
    join = join_of(plan)
    return joins.facts(join, stores) if join is not None else windows.facts(plan, stores)


def _fact(text: str) -> Data:
    name, _, rest = text.partition(": ")
    return {"name": name, "text": rest}


def _store(text: str) -> Data:
    name, _, holds = text.partition(" (")
    return {"name": name, "holds": holds.removesuffix(")")}


def _nodes(plan: Node, stage: str, ids: dict[Node, str]) -> Iterator[tuple[Node, Data]]:
    """From the results down, each with its number in this order."""
    ordered = list(_tree(plan))
    numbers = {id(node): f"{stage}n{number}" for number, node in enumerate(ordered)}
    for node in ordered:
        below = [numbers[id(each)] for each in _below(node)]
        found: Data = {
            "id": numbers[id(node)],
            "kind": type(node).__name__,
            "text": line(node),
            "inputs": below,
            "columns": _columns(node.schema),
            "attributes": {
                each.name: plain(getattr(node, each.name))
                for each in fields(node)
                if each.name not in APART
            },
        }
        if isinstance(node, Scan | StaticScan):
            found["stream"] = node.stream.name
            found["inputs"] = [f"{ids[made]}n0" for made in node.stream.of]
        yield node, found


def _tree(node: Node) -> Iterator[Node]:
    yield node
    for below in _below(node):
        yield from _tree(below)


def _below(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Join):
        return (node.left, node.right)
    return () if isinstance(node, Scan | StaticScan) else (node.input,)


def plain(value: Any) -> Any:
    """A value of the plan as JSON has it: a dataclass by its fields, with its `type`.

    >>> from sqlwin.windows import Unit
    >>> from sqlwin.windows.frames import Frame
    >>> plain((Frame(Unit.ROWS, 2), None))[0]["preceding"]
    2
    """
    if isinstance(value, Scalar):
        return value.sql
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, pa.DataType):
        return type_name(value)
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.hex()
    if is_dataclass(value):
        named = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        kind = type(value).__name__
        return {"is": kind, **named} if "type" in named else {"type": kind, **named}
    return value
