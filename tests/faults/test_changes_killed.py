"""A process that reads the changes of a table is killed anywhere: its windows are those of the
table as it is in the end, and each change of them is once in a folder of Parquet files."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.faults.sinks import killed

pytestmark = pytest.mark.long

KINDS = {"upsert": ", PRIMARY KEY (id)", "retract": "", "debezium": ", PRIMARY KEY (id)"}
TABLE = """
CREATE TABLE {kind} (id BIGINT, product STRING, pieces BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND{key}
) WITH (path = '{kind}/*.jsonl', changelog = '{kind}');
CREATE SINK {kind}_out WITH (connector = 'files', path = 'out/{kind}', format = 'parquet');
INSERT INTO {kind}_out SELECT product, window_start, SUM(pieces) AS pieces, COUNT(*) AS n
FROM TUMBLE(TABLE {kind}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end EMIT EARLY ON UPDATE LATE ON UPDATE;
"""
SCRIPT = "SET 'batch.bytes' = 12000;" + "".join(
    TABLE.format(kind=kind, key=key) for kind, key in KINDS.items()
)
FILES, CHANGES = 20, 30
BEGIN = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
Row = dict[str, Any]


@dataclass
class Shop:
    """A table that changes: rows are inserted, changed and deleted, as each kind writes it."""

    random: random.Random
    rows: dict[int, Row] = field(default_factory=dict)
    used: int = 0

    def change(self) -> Iterator[tuple[str, Row]]:
        """Lines, and the kind of changelog that they are of."""
        done = self.random.choice("iiuud") if self.rows else "i"
        id_ = self.used if done == "i" else self.random.choice(list(self.rows))
        old = self.rows.pop(id_, None)
        if done == "d":
            yield "upsert", {"op": "-D", "id": id_}
            yield "retract", {"op": "-D", **(old or {})}
            yield "debezium", {"before": {"id": id_}, "after": None, "op": "d"}
            return
        self.used += 1
        new = self.rows[id_] = self._row(id_)
        yield "upsert", {"op": "+U", **new}
        if old is not None:
            yield "retract", {"op": "-U", **old}
        yield "retract", {"op": "+U" if old else "+I", **new}
        yield "debezium", {"before": old, "after": new, "op": "u" if old else "c"}

    def _row(self, id_: int) -> Row:
        at = BEGIN + timedelta(seconds=self.used + self.random.uniform(-60, 10))
        product, pieces = self.random.choice("abc"), self.random.randint(-9, 9)
        return {"id": id_, "product": product, "pieces": pieces, "ts": at.isoformat()}

    def windows(self) -> dict[tuple[str, datetime], tuple[int, int]]:
        """Pieces and rows of each product and minute."""
        found: dict[tuple[str, datetime], tuple[int, int]] = {}
        for row in self.rows.values():
            minute = datetime.fromisoformat(row["ts"]).replace(second=0, microsecond=0)
            pieces, n = found.get((row["product"], minute), (0, 0))
            found[row["product"], minute] = (pieces + row["pieces"], n + 1)
        return found


def land(home: Path) -> Shop:
    shop = Shop(random.Random(7))
    for number in range(FILES):
        lines: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for _ in range(CHANGES):
            for kind, line in shop.change():
                lines[kind].append(json.dumps(line) + "\n")
        for kind, written in lines.items():
            (home / kind).mkdir(exist_ok=True)
            (home / kind / f"{number:02}.jsonl").write_text("".join(written))
    return shop


def last(folder: Path) -> dict[tuple[str, datetime], tuple[int, int]]:
    """The last revision of each window; none comes twice."""
    found: dict[str, Row] = {}
    for part in sorted(folder.glob("*.parquet")):
        for row in pl.read_parquet(part).iter_rows(named=True):
            known = found.get(row["row_key"])
            assert known is None or row["revision"] > known["revision"], "a revision came twice"
            found[row["row_key"]] = row
    there = (row for row in found.values() if row["op"] != "-D")
    return {(row["product"], row["window_start"]): (row["pieces"], row["n"]) for row in there}


@pytest.mark.parametrize(
    ("engine", "earliest", "latest", "kills"),
    [
        pytest.param("embedded", 0.7, 2.0, 3, id="embedded"),
        pytest.param(
            *("spark", 8.0, 14.0, 1),
            id="spark",
            marks=[pytest.mark.spark(processes=True), pytest.mark.hours],
        ),
    ],
)
def test_changes_count_once(
    tmp_path: Path, engine: str, earliest: float, latest: float, kills: int
) -> None:
    shop, rng = land(tmp_path), random.Random(3)
    (tmp_path / "q.sql").write_text(SCRIPT)
    run = [sys.executable, "-m", "sqlwin.cli", "run", str(tmp_path / "q.sql"), "--engine", engine]
    moments = [rng.uniform(earliest, latest) for _ in range(kills)]
    assert killed([*run, "--checkpoint", str(tmp_path / "state"), "--drain"], moments) > 0
    expected = shop.windows()
    assert len(expected) > 20
    for kind in KINDS:
        assert last(tmp_path / "out" / kind) == expected
