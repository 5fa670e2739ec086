"""`CREATE TABLE b (LIKE a, …)`, and Flink's `CREATE TABLE b (…) WITH (…) LIKE a`.

In the brackets LIKE stands for a's columns, watermark, OFFSET and primary key. Behind them it
stands for its options too. Those of WITH come first; where they name another connector, none are
taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast


def alike(
    created: ast.CreateStream, like: ast.Like, known: Mapping[str, ast.CreateStream]
) -> ast.CreateStream:
    """The declaration with what it has of another; QueryError where there is none."""
    other = known.get(like.name.text.lower())
    if other is None:
        name = like.name
        legal = ", ".join(each.name.text for each in known.values()) or "CREATE STREAM … first"
        raise QueryError(f"no stream or table is called {name.text}", name.span, legal=legal)
    own = {column.name.text.lower() for column in created.columns}
    columns = (c for c in other.columns if c.name.text.lower() not in own)
    options = dict(created.options)
    connector = options.get("connector")
    taken = dict(other.options) if like.options else {}
    if connector not in (None, taken.get("connector")):
        taken = {}
    return replace(
        created,
        columns=(*columns, *created.columns),
        watermarks=created.watermarks or other.watermarks,
        positions=created.positions or other.positions,
        keys=created.keys or other.keys,
        options=tuple(sorted({**taken, **options}.items())),
        like=None,
    )
