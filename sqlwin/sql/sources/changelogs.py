"""A declared stream whose rows are changes of a table: the rows that the table has now.

A query reads no changes but the stream derived from them: a stage, the changelog normalizer, which
is a GROUP BY without a window over the changes.

| | normalizer | a row of the derived stream |
|---|---|---|
| with PRIMARY KEY | the last change of each key, unless a deletion | its key is its identity |
| without | `+I` less `-D` of each row, by all its columns | one for each that is left |

Without a key the OFFSET column is no column of the rows, for each change has its own.

Invariant: the derived stream's rows are a function of the set of changes and their positions, not
of how the changes are cut into batches.

Worked example, key id: `+I (1, tea)` is inserted, `+U (1, milk)` replaces it, and `-D (1)`, whose
other columns may be NULL, retracts (1, milk), with the event time that this had.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import (
    Aggregate,
    Filter,
    Node,
    Project,
    Scalar,
    Scan,
    Stream,
    WindowAggregate,
    column_of,
    quoted,
)
from sqlwin.plan.ir.streams import Changelog
from sqlwin.plan.ir.windows import BIGINT
from sqlwin.plan.options.connectors import APPEND, DEBEZIUM, RETRACT
from sqlwin.plan.properties.edges import written
from sqlwin.plan.properties.processing_time import clock_columns
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import Column, Schema
from sqlwin.sql.sources.derived import timed_by_itself
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED
from sqlwin.sql.windows.ttl import with_ttl
from sqlwin.windows.group import Whole

ONE_KEY = "PRIMARY KEY (id, day)"
_KEY = re.compile(r"\bPRIMARY\s+KEY\b", re.IGNORECASE)
_QUOTED = re.compile(QUOTED)
WITHDRAWS = "('-U', '-D')"
AT_ONCE = Policy(retain=None, late=Late.ON_UPDATE, early=Early.ON_UPDATE)


def with_changelog(created: ast.CreateStream, made: Stream) -> Stream:
    """The declared stream, with the column of its changes where the options say that it has one."""
    options = dict(made.options)
    mode, op = options.get("changelog", APPEND), options.get("changelog.op", "op")
    key = primary_key(created, made)
    if mode != APPEND and clock_columns(made):
        message = f"the rows of {made.name} change, and one that is taken back came at another time"
        raise QueryError(
            message, created.span, legal="changelog = 'append', or no PROCTIME() column"
        )
    if mode == APPEND:
        if "changelog.op" in options:
            message = f"stream {made.name} has an option 'changelog.op', and no changelog"
            raise QueryError(message, created.span, legal="changelog = 'upsert', 'retract'")
        return replace(made, key=key)
    if op.lower() in (column.name.lower() for column in made.schema):
        message = f"{op} is the column that says what a change is, and no column of the rows"
        legal = "'changelog.op' = 'another name', or no such column"
        raise QueryError(message, created.span, legal=legal)
    if mode != RETRACT and not key:
        message = f"changelog = {mode!r} of {made.name} needs a key: what a change replaces"
        raise QueryError(message, created.span, legal="PRIMARY KEY (id) NOT ENFORCED")
    if mode == DEBEZIUM and options.get("format", "json") not in ("json", "avro"):
        message = f"changelog = 'debezium' of {made.name} is read from JSON or Avro"
        raise QueryError(message, created.span, legal="format = 'json', changelog = 'upsert'")
    changed = replace(made, columns=(*made.columns, Column(op, pa.string())), key=key)
    # of each key the last change counts, so a repeated one is recognised without being kept
    trusted = made.trusted or bool(key)
    return replace(changed, trusted=trusted, changelog=Changelog(op, key))


def primary_key(created: ast.CreateStream, made: Stream) -> tuple[str, ...]:
    """The columns of PRIMARY KEY, as they are declared; none without it."""
    found = [key.columns for key in created.keys]
    found += [(column.name,) for column in created.columns if _is_key(column)]
    if not found:
        return ()
    first, *more = found
    if more:
        raise QueryError("a table has one PRIMARY KEY", more[0][0].span, legal=ONE_KEY)
    known = {column.name.lower(): column.name for column in made.schema}
    for name in first:
        if name.text.lower() not in known:
            message = f"PRIMARY KEY names an unknown column {name.text}"
            raise QueryError(message, name.span, legal=", ".join(known.values()))
    names = [known[name.text.lower()] for name in first]
    if len(set(names)) < len(names):
        raise QueryError("PRIMARY KEY names a column twice", first[-1].span, legal="each once")
    return tuple(names)


def _is_key(column: ast.ColumnDef) -> bool:
    """Whether PRIMARY KEY stands behind its type, and not in its comment."""
    return (
        column.type is not None and _KEY.search(_QUOTED.sub("", column.type.original)) is not None
    )


def present(stream: Stream, settings: Mapping[str, Any]) -> Stream:
    """What a query reads of a declared stream: of a changelog the rows that are there.

    settings: what SET says of a TTL.
    """
    changelog = stream.changelog
    if changelog is None:
        return stream
    hidden = [changelog.op] if changelog.key else [changelog.op, stream.offset]
    rows = tuple(column for column in stream.schema if column.name not in hidden)
    counted = None if changelog.key else _free("copies", rows)
    plan = (
        _by_values(stream, changelog, rows, counted)
        if counted
        else _by_key(stream, changelog, rows)
    )
    schema = rows if counted is None else (*rows, Column(counted, BIGINT))
    of = with_ttl(plan, None, settings)
    name = f"{stream.name} rows"
    return timed_by_itself(Stream(name, schema, None, of=(of,), copies=counted))


def _by_key(stream: Stream, changelog: Changelog, rows: Schema) -> Node:
    """LAST of each column, by position: the scan's rows have no order but that."""
    columns = (*rows, Column(changelog.op, pa.string()))
    aggregates = tuple(
        Aggregate(column.name, "last", (column.name,), column.type)
        for column in columns
        if column.name not in changelog.key
    )
    below = Project(Scan(stream), tuple((each.name, column_of(each)) for each in columns))
    last = WindowAggregate(below, Whole(), changelog.key, aggregates, AT_ONCE)
    there = _scalar("{} NOT IN " + WITHDRAWS, changelog.op, pa.bool_())
    return Project(Filter(last, there), tuple((each.name, column_of(each)) for each in rows))


def _by_values(stream: Stream, changelog: Changelog, rows: Schema, counted: str) -> Node:
    weight = _scalar("CASE WHEN {} IN " + WITHDRAWS + " THEN -1 ELSE 1 END", changelog.op, BIGINT)
    columns = tuple((each.name, column_of(each)) for each in rows)
    below = Project(Scan(stream), (*columns, (counted, weight)))
    keys = tuple(each.name for each in rows)
    number = Aggregate(counted, "sum", (counted,), BIGINT)
    whole = WindowAggregate(below, Whole(), keys, (number,), AT_ONCE)
    there = _scalar("{} > 0", counted, pa.bool_())
    return Project(Filter(whole, there), (*columns, (counted, column_of(Column(counted, BIGINT)))))


def _scalar(text: str, column: str, type_: pa.DataType) -> Scalar:
    duckdb = text.format(quoted(column))
    cast = f"CAST({duckdb} AS BIGINT)" if type_ == BIGINT else duckdb
    return Scalar(text.format(written(column)), cast, type_, (column,))


def _free(name: str, rows: Schema) -> str:
    used = {column.name.lower() for column in rows}
    while name in used:
        name += "_"
    return name
