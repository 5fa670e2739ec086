"""ksqlDB's declarations as they are here: `CREATE STREAM s (id INT KEY) WITH (kafka_topic = …)`.

Known by the option `kafka_topic`. A column marked KEY is the record's key. A TABLE is an upserting
changelog by its key. The event time is the column of the option `timestamp`; where that is BIGINT
or a text, and where there is none, a column ROWTIME, as ksqlDB calls it: computed of the column, or
the timestamp of the record. A WATERMARK of one's own stands in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import quoted

TOPIC = "kafka_topic"
ROWTIME = "ROWTIME"
_KEY = re.compile(r"\s+(PRIMARY\s+)?KEY\s*\Z", re.IGNORECASE)
_FORMATS = {"delimited": "csv", "json_sr": "json"}
_PASSED_OVER = ("key_format", "partitions", "replicas", "value_delimiter")
"""What says nothing here; a delimiter is renamed before."""


def put_here(options: ast.Options) -> ast.Options:
    """Of a stream, a table or a sink; without those of the event time."""
    given = {name.lower(): value for name, value in options}
    made = {"connector": "kafka", "topic": given.pop(TOPIC)}
    for name in ("value_format", "format"):
        if name in given:
            value = given.pop(name).lower()
            made["format"] = _FORMATS.get(value, value)
    if "value_delimiter" in given:
        made["delimiter"] = given["value_delimiter"]
    left = {name: value for name, value in given.items() if name not in _PASSED_OVER}
    return tuple(sorted({**made, **left}.items()))


def declared(created: ast.CreateStream) -> ast.CreateStream:
    """Of ksqlDB's options."""
    options = dict(put_here(created.options))
    column, pattern = options.pop("timestamp", None), options.pop("timestamp_format", None)
    keys = [each.name for each in created.columns if each.type and _KEY.search(each.type.original)]
    metadata = [f"{name.text} = key" for name in keys]
    created = replace(created, columns=tuple(map(_without_key, created.columns)))
    if created.kind == "TABLE":
        options.setdefault("changelog", "upsert")
        if keys and not created.keys:
            created = replace(created, keys=(ast.PrimaryKey(tuple(keys)),))
    if not created.watermarks and (column is not None or created.kind != "TABLE"):
        created = _timed(created, column, pattern)
        metadata += [f"{ROWTIME} = timestamp"] * (column is None)
    if metadata:
        options.setdefault("metadata", ", ".join(metadata))
    return replace(created, options=tuple(sorted(options.items())))


def _without_key(column: ast.ColumnDef) -> ast.ColumnDef:
    if column.type is None:
        return column
    bare = _KEY.sub("", column.type.original)
    return replace(column, type=replace(column.type, text=bare, original=bare))


def _timed(created: ast.CreateStream, column: str | None, pattern: str | None) -> ast.CreateStream:
    """With its event time: a column of its own, or ROWTIME behind the others."""
    span = dict(created.places).get("timestamp", created.span)
    behind = max((each.name.span for each in created.columns), key=_order, default=span)
    if column is None:
        added = ast.ColumnDef(ast.Name(ROWTIME, behind), type=_run("TIMESTAMP", span))
        return _marked(created, added, ROWTIME, span)
    known = {each.name.text.lower(): each for each in created.columns}
    found = known.get(column.lower())
    if found is None or found.type is None:
        names = ", ".join(each.name.text for each in created.columns)
        raise QueryError(f"timestamp names no column of its own: {column}", span, legal=names)
    type_, name = found.type.original.split("(")[0].strip().upper(), f"`{found.name.text}`"
    if type_ in ("BIGINT", "VARCHAR", "STRING"):
        made = f"TO_TIMESTAMP_LTZ({name}, 3)" if type_ == "BIGINT" else f"TO_TIMESTAMP({name})"
        if type_ != "BIGINT" and pattern is not None:
            made = f"TO_TIMESTAMP({name}, {quoted(pattern)})"
        added = ast.ColumnDef(ast.Name(ROWTIME, behind), expression=_run(made, span))
        return _marked(created, added, ROWTIME, span)
    return _marked(created, None, found.name.text, span)


def _marked(
    created: ast.CreateStream, added: ast.ColumnDef | None, time: str, span: Span
) -> ast.CreateStream:
    columns = created.columns if added is None else (*created.columns, added)
    watermark = ast.Watermark(ast.Name(time, span), _run(f"`{time}`", span))
    return replace(created, columns=columns, watermarks=(watermark,))


def _order(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _run(text: str, span: Span) -> ast.Run:
    return ast.Run(text, text, span)
