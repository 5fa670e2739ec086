"""A query of several inputs in process: whose rows, whose watermark, whose position."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.embedded import run as running
from sqlwin.embedded import script_query
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.lowering.chain import Lowering, chain
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.contract import Blobs
from tests.support.runtime.two_inputs import QUERY, both, stream, themselves
from tests.support.spark.scripts import script

OFFSETS = partial(both, streams=(stream("orders", offset="value"), stream("shipments")))
ITSELF = partial(both, streams=(stream("orders", offset="value"),) * 2)


def query(lowering: Lowering = both, blobs: Blobs | None = None, token: str = "t") -> EmbeddedQuery:
    return EmbeddedQuery(script(QUERY), lowering=lowering, blobs=blobs, token=token)


def push(running: EmbeddedQuery, name: str, value: int, ts: str | None) -> None:
    """ts: minute:second of the hour after 9."""
    at = None if ts is None else f"2024-01-01T09:{ts}Z"
    running.push(name, [{"product": "tea", "value": value, "ts": at}])


def counted(running: EmbeddedQuery) -> list[tuple[Any, ...]]:
    """(side, value, emit) of what waits."""
    names = ["side", "value", "emit"]
    return [tuple(row.values()) for row in running.results().select(names).to_pylist()]


def test_the_watermark_is_that_of_the_slowest_stream() -> None:
    running = query()
    push(running, "orders", 1, "01:00")
    push(running, "orders", 2, "05:00")
    assert counted(running) == []
    push(running, "shipments", 3, "01:11")  # 10 s behind: 1:01
    assert counted(running) == [(0, 1, "full")]
    running.advance(watermark={"shipments": "2024-01-01T09:04:00Z"})
    assert counted(running) == [(1, 3, "full")]
    running.drain()
    assert counted(running) == [(0, 2, "full")]


def test_a_row_is_late_by_its_own_stream() -> None:
    running = query()
    push(running, "orders", 1, "05:00")
    push(running, "orders", 2, "04:30")
    push(running, "shipments", 3, "01:00")
    assert counted(running) == [(0, 2, "late")]


def test_a_row_is_expired_by_its_own_stream_and_reported_with_its_name_and_watermark() -> None:
    running = query()
    push(running, "orders", 1, "05:00")
    push(running, "shipments", 2, "01:00")
    push(running, "orders", 3, "03:59")
    push(running, "shipments", 4, "00:00")
    push(running, "shipments", 5, None)
    errors = running.expired().to_pylist()
    assert [(row["stream"], row["reason"].split(":")[0]) for row in errors] == [
        ("orders", "expired"),
        ("shipments", "no event time"),
    ]
    assert [row["watermark"].strftime("%M:%S") for row in errors] == ["05:00", "00:50"]


def test_each_stream_counts_its_own_rows() -> None:
    blobs = DictBlobs()
    running = query(blobs=blobs)
    for value in range(3):
        push(running, "orders", value, "01:00")
    push(running, "shipments", 9, "02:00")
    running.advance(watermark={"orders": "2024-01-01T09:01:01Z"})
    assert running.results().column("row_key").to_pylist() == ["0:0:0", "0:0:1", "0:0:2"]
    assert running.offsets() == {"orders": {0: 3}, "shipments": {0: 1}}
    running.commit()
    assert query(blobs=blobs).offsets() == {"orders": {0: 3}, "shipments": {0: 1}}


def test_a_restart_goes_on_with_rows_clocks_and_outputs() -> None:
    blobs = DictBlobs()
    running = query(blobs=blobs)
    push(running, "orders", 1, "01:00")
    push(running, "shipments", 2, "01:05")
    running.commit()
    again = query(blobs=blobs, token="u")
    push(again, "shipments", 3, "02:00")
    assert counted(again) == []  # the orders have reached 1:00
    push(again, "orders", 4, "03:00")
    assert counted(again) == [(0, 1, "full"), (1, 2, "full")]
    again.drain()
    assert counted(again) == [(1, 3, "full"), (0, 4, "full")]


def test_what_is_not_committed_is_taken_again() -> None:
    blobs = DictBlobs()
    running = query(blobs=blobs)
    push(running, "orders", 1, "01:00")
    running.commit()
    push(running, "shipments", 2, "01:00")
    again = query(blobs=blobs, token="u")
    assert again.offsets() == {"orders": {0: 1}, "shipments": {0: 0}}


def test_an_offset_is_known_again_by_the_input_that_declares_it() -> None:
    blobs = DictBlobs()
    running = query(OFFSETS, blobs)
    push(running, "orders", 7, "01:00")
    running.commit()
    again = query(OFFSETS, blobs, "u")
    for name in ("orders", "shipments"):
        for value, ts in [(7, "01:00"), (7, "01:00"), (8, "01:30")]:
            push(again, name, value, ts)
    again.drain()
    assert sorted(counted(again)) == [
        *[(0, value, "full") for value in (7, 8)],
        *[(1, value, "full") for value in (7, 7, 8)],
    ]
    assert again.offsets() == {"orders": {0: 9}, "shipments": {0: 3}}


@pytest.mark.parametrize("lowering", [themselves, ITSELF])
def test_a_stream_beside_itself_is_two_inputs_of_one_position(lowering: Lowering) -> None:
    running = query(lowering)
    push(running, "orders", 0, "01:00")
    push(running, "orders", 1, None)
    push(running, "orders", 2, "03:00")
    assert counted(running) == [(0, 0, "full"), (1, 0, "full")]
    assert running.expired().num_rows == 1
    assert running.offsets() == {"orders": {0: 3}}


def test_another_stream_is_refused() -> None:
    with pytest.raises(InputError, match="the query reads 'orders' and 'shipments'"):
        query().push("returns", [])


def test_a_query_of_one_stream_leaves_what_it_always_left() -> None:
    blobs = DictBlobs()
    running = EmbeddedQuery(script(QUERY), blobs=blobs, token="t")
    push(running, "orders", 1, "01:00")
    running.commit()
    assert "others" not in json.loads(blobs.get("position"))
    assert json.loads(blobs.get("header"))["offsets"] == {}


def land(home: Path, name: str, file: str, value: int, ts: str) -> None:
    (home / name).mkdir(exist_ok=True)
    row = json.dumps({"product": "tea", "value": value, "ts": f"2024-01-01T09:{ts}Z"})
    (home / name / f"{file}.jsonl").write_text(row + "\n")


def test_a_run_reads_a_file_of_each_stream_as_one_batch_and_goes_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (running, script_query):
        monkeypatch.setattr(module, "chain", partial(chain, lowering=both))
    came: list[pl.DataFrame] = []
    read: list[int] = []

    def run(drain: bool) -> None:
        options = RunOptions(
            tmp_path,
            tmp_path / "state",
            drain=drain,
            on_batch=lambda batch: read.append(batch.read),
            show=came.append,
        )
        running.run(script(QUERY), options)

    for at, ts in enumerate(["01:00", "02:00", "03:00"]):
        land(tmp_path, "orders", str(at), at, ts)
    land(tmp_path, "shipments", "0", 10, "01:30")
    run(drain=False)
    assert read == [2, 1, 1, 0]
    land(tmp_path, "shipments", "1", 11, "04:00")
    run(drain=True)
    assert read[4:] == [1, 0]
    rows = [row for part in came for row in part.select("side", "value").rows()]
    assert rows == [(0, 0), (1, 10), (0, 1), (0, 2), (1, 11)]
