"""Sinks that are Python functions of (Arrow table, number of the batch)."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import InputError, QueryError, RunError

SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl');
CREATE SINK totals WITH (connector = 'python');
CREATE SINK refused WITH (connector = 'python');
INSERT INTO totals
SELECT product, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN 1 HOUR EXPIRED INTO refused
"""
FIRST = {"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"}
SECOND = {"product": "tea", "value": 2, "ts": "2024-01-01T09:01:10Z"}


class Taken(dict[int, list[dict[str, object]]]):
    """By number of the batch; a batch that comes again replaces itself."""

    def __call__(self, rows: pa.Table, batch: int) -> None:
        self[batch] = rows.to_pylist()


def land(home: Path, name: str, *rows: object) -> None:
    (home / "orders").mkdir(exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    (home / "orders" / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def test_results_and_errors_of_each_batch_by_its_number(tmp_path: Path) -> None:
    land(tmp_path, "a", FIRST, SECOND, "{")
    land(tmp_path, "b", {**FIRST, "value": 4})
    totals, refused = Taken(), Taken()
    sinks = {"Totals": totals, "refused": refused}
    summary = sqlwin.run(SCRIPT, tmp_path, sinks=sinks)
    assert (summary.read, summary.batches) == (4, 3)
    assert [[row["total"] for row in rows] for rows in totals.values()] == [[1], [5], [2]]
    assert [len(rows) for rows in refused.values()] == [1, 0, 0]
    assert totals[2][0]["op"] == "+U"
    assert str(refused[1][0]["reason"]).startswith("malformed")


def test_a_failure_ends_the_run_and_its_batch_comes_again(tmp_path: Path) -> None:
    land(tmp_path, "a", FIRST, SECOND)
    numbers: list[int] = []

    def failing(rows: pa.Table, batch: int) -> None:
        numbers.append(batch)
        raise OSError("no route")

    sinks = {"totals": failing, "refused": failing}
    message = "sink totals failed in batch 1: OSError: no route; the last commit stands"
    with pytest.raises(RunError, match=message):
        sqlwin.run(SCRIPT, tmp_path, tmp_path / "state", sinks=sinks)
    totals = Taken()
    sqlwin.run(SCRIPT, tmp_path, tmp_path / "state", sinks={"totals": totals, "refused": Taken()})
    assert (numbers, [row["total"] for row in totals[1]]) == ([1], [1])


def test_what_is_refused(tmp_path: Path) -> None:
    land(tmp_path, "a", FIRST)
    with pytest.raises(QueryError, match="sink totals is a Python function, and none is given"):
        sqlwin.run(SCRIPT, tmp_path)
    both = {"totals": Taken(), "refused": Taken()}
    with pytest.raises(InputError, match="connector = 'python'; did you mean totals"):
        sqlwin.run(SCRIPT, tmp_path, sinks={**both, "total": Taken()})
    with pytest.raises(InputError, match="totals is a function of"):
        sqlwin.run(SCRIPT, tmp_path, sinks={**both, "totals": 7})  # type: ignore[dict-item]
    one = SCRIPT.replace("INTO refused", "INTO totals")
    with pytest.raises(QueryError, match="two queries write to sink totals"):
        sqlwin.run(one, tmp_path, sinks={"totals": Taken()})
