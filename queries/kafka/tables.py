"""The two tables, as PostgreSQL has them and as DuckDB computes them from the files, side by side.

Rows are compared as sets; averages, which the two sum in another order, within 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from rich.table import Table

from tests.support.data.batch_answers import ANSWERS

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Kept:
    """keys: how many of the columns, the first, identify a row."""

    name: str
    keys: int
    columns: tuple[str, ...]


TABLES = (
    Kept(
        "departures_per_hour",
        3,
        ("origin", "window_start", "window_end", "departures", "avg_delay", "max_delay"),
    ),
    Kept("aircraft_days", 2, ("tailnum", "window_start", "window_end", "flights", "miles")),
)


def in_postgres(url: str, table: Kept) -> list[Row]:
    import psycopg

    query = f"SELECT {', '.join(table.columns)} FROM {table.name}"
    with psycopg.connect(url) as connection:
        return _sorted(connection.execute(query.encode()).fetchall(), table)


def counts(url: str) -> dict[str, int]:
    """Rows of each table that is there yet."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        found = {}
        for table in TABLES:
            is_there = connection.execute("SELECT to_regclass(%s)", [table.name]).fetchone()
            if is_there is not None and is_there[0] is not None:
                counted = connection.execute(f"SELECT count(*) FROM {table.name}".encode())
                found[table.name] = counted.fetchall()[0][0]
        return found


def in_batch(files: str, table: Kept) -> list[Row]:
    """files: a pattern of their names."""
    import duckdb

    answer = ANSWERS[table.name](duckdb.connect(), files)
    rows = answer.select(list(table.columns)).to_pylist()
    return _sorted([tuple(row.values()) for row in rows], table)


def _sorted(rows: list[Row], table: Kept) -> list[Row]:
    """By key, NULL last; instants in UTC."""
    utc = [tuple(map(_utc, row)) for row in rows]
    return sorted(utc, key=lambda row: [(value is None, value or 0) for value in row[: table.keys]])


def _utc(value: Any) -> Any:
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else value


def differences(found: list[Row], expected: list[Row], keys: int) -> list[tuple[Row, Row]]:
    """Rows that are not equal, each beside that of its key in the other; () where there is none.

    >>> differences([("JFK", 1), ("LGA", 2)], [("JFK", 1), ("LGA", 3), ("EWR", 4)], 1)
    [(('LGA', 2), ('LGA', 3)), ((), ('EWR', 4))]
    """
    ours, theirs = ({row[:keys]: row for row in rows} for rows in (found, expected))
    if len(ours) != len(found) or len(theirs) != len(expected):
        raise ValueError("two rows have the same key")
    pairs = [(ours.get(key, ()), theirs.get(key, ())) for key in ours | theirs]
    return [pair for pair in pairs if not _equal(*pair)]


def _equal(ours: Row, theirs: Row) -> bool:
    return len(ours) == len(theirs) and all(map(_close, ours, theirs))


def _close(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-9)
    return bool(ours == theirs)


def beside(table: Kept, pairs: list[tuple[Row, Row]], title: str) -> Table:
    """Both rows of each pair: key, then what PostgreSQL has, then what DuckDB has."""
    shown = Table(title=title, title_justify="left")
    of_key, values = table.columns[: table.keys], table.columns[table.keys :]
    for name in (*of_key, *(f"{name}\n{of}" for of in ("table", "batch") for name in values)):
        shown.add_column(name, no_wrap=True)
    for ours, theirs in pairs:
        key = (ours or theirs)[: table.keys]
        shown.add_row(*_cells(key), *_values(ours, table), *_values(theirs, table))
    return shown


def _values(row: Row, table: Kept) -> Iterator[str]:
    return _cells(row[table.keys :] if row else ("-",) * (len(table.columns) - table.keys))


def _cells(row: Row) -> Iterator[str]:
    for value in row:
        if isinstance(value, datetime):
            yield value.strftime("%d %b %H:%M")
        elif isinstance(value, float):
            yield f"{value:.2f}"
        else:
            yield "NULL" if value is None else str(value)
