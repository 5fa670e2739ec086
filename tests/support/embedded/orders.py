"""What the tests of the embedded host share: orders, and stores that watch and fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlwin
from sqlwin.embedded.checkpoint.durable_store import TABLES, DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.sql import script

Row = dict[str, Any]
STREAM = """
CREATE STREAM orders (
  id BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts, OFFSET id
);
"""
MEDIANS = (
    STREAM
    + """
SELECT window_start, MEDIAN(value) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end
"""
)


def order(id_: int, ts: str, value: int = 1) -> Row:
    """ts: minute:second of the hour after 9."""
    return {"id": id_, "value": value, "ts": f"2024-01-01T09:{ts}Z"}


A_MINUTE_EACH = [order(n, f"{n:02}:00", n) for n in range(5)]
"""The minutes of 0 to 3 become full, one by one."""


def push(query: EmbeddedQuery, rows: Iterable[Row]) -> None:
    """Each row is a batch."""
    for row in rows:
        query.push("orders", [row])


def emissions(query: EmbeddedQuery, clear: bool = True) -> list[tuple[Any, ...]]:
    """(middle, emit, revision) of the outputs that wait."""
    names = ["middle", "emit", "revision"]
    return [tuple(r.values()) for r in query.results(clear).select(names).to_pylist()]


def without(file: Path, table: str = "messages") -> None:
    """Lose a table of a store."""
    with sqlite3.connect(file) as db:
        db.execute(f"DELETE FROM {table}")
    db.close()


def content(file: Path) -> dict[str, dict[str, bytes]]:
    """All that lies in a store."""
    db = sqlite3.connect(file)
    found = {table: dict(db.execute(f"SELECT name, data FROM {table}")) for table in TABLES}
    db.close()
    return found


class Watched(DurableStore):
    """Counts its transactions, and fails at the n-th write of the next one, if set."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.commits = 0
        self.fails_at: int | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.writes = 0
        with super().transaction():
            yield
        self.commits = getattr(self, "commits", 0) + 1

    def put(self, name: str, data: bytes) -> None:
        if self.fails_at == self.writes:
            raise sqlite3.OperationalError("the disk is full")
        self.writes += 1
        super().put(name, data)


def watched(path: Path, sql: str = MEDIANS) -> tuple[EmbeddedQuery, Watched]:
    blobs = Watched(path)
    blobs.commits = 0  # without that which made the tables
    return EmbeddedQuery(script(sql), blobs=blobs, token=str(path)), blobs


def stored(path: Path, sql: str = MEDIANS, lazy: bool = False) -> EmbeddedQuery:
    return sqlwin.query(sql, store=path, lazy=lazy)


class Taker:
    """A callback that takes so many outputs, and refuses those after."""

    def __init__(self, room: int = 10**9) -> None:
        self.room = room
        self.taken: list[float] = []

    def __call__(self, output: dict[str, Any]) -> bool:
        if len(self.taken) == self.room:
            return False
        self.taken.append(output["middle"])
        return True
