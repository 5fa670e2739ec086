"""A query of two inputs on Spark's side of things, without a start of Spark."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from sqlwin.instants import MINUTE
from sqlwin.runtime.files.pieces import Piece, pieces
from sqlwin.runtime.lowering.chain import chain
from sqlwin.spark.checkpoint.progress import After, number_of
from sqlwin.spark.dataframes.pack import packed as packed_whole
from sqlwin.spark.foreach_batch import _left
from sqlwin.spark.sources.read import Reading, StepReading, packed
from sqlwin.spark.sources.step_source import Step, StepSource
from sqlwin.spark.stages import program as programs
from sqlwin.spark.stages.bucket import work
from sqlwin.spark.stages.program import Program, load
from sqlwin.spark.stages.row_kinds import DONE, ERRORS, RESULTS
from sqlwin.spark.stages.wire import Done, Packed, decode
from sqlwin.state.blobs.blobs import DictBlobs
from tests.support.runtime.two_inputs import QUERY, both, themselves
from tests.support.spark.scripts import script

START = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
NINE = int(START.timestamp()) * 1_000_000
PRODUCTS = [f"tea {n}" for n in range(12)]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(programs, "chain", partial(chain, lowering=both))
    return loaded()


def loaded() -> Program:
    """As a worker has it."""
    found = load(Program(script(QUERY).queries, partitions=4, buckets=4).dump())
    assert found.lowered
    return found


class Buckets:
    """All buckets of a program's one query, and their state."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blobs: dict[int, DictBlobs] = defaultdict(DictBlobs)
        self.left = After()

    def take(self, came: Iterable[Packed]) -> dict[str, list[pl.DataFrame]]:
        """A batch: results and errors."""
        by_bucket = defaultdict(list)
        for row in came:
            by_bucket[row.bucket].append(row)
        assert set(by_bucket) == set(self.program.labels[0])
        out: dict[str, list[pl.DataFrame]] = {RESULTS: [], ERRORS: []}
        done = []
        for bucket, rows in by_bucket.items():
            for row in work(self.program, 0, bucket, rows, self.blobs[bucket]):
                if row.kind == DONE:
                    done.append(Done.load(row.payload))
                else:
                    out[row.kind].append(decode(row.payload))
        assert len({json.dumps(each.watermarks) for each in done}) == 1
        self.left = _left(self.program, self.left, done)
        return out


def counted(out: dict[str, list[pl.DataFrame]]) -> Counter[tuple[int, str]]:
    return Counter(row for part in out[RESULTS] for row in part.select("side", "product").rows())


def land(home: Path, name: str, minute: int) -> Piece:
    """A file of all products, at a minute after 9."""
    path = home / f"{name}-{minute}.jsonl"
    ts = f"2024-01-01T09:{minute:02}:00Z"
    rows = [{"product": each, "value": 1, "ts": ts} for each in PRODUCTS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (piece,) = pieces(str(path), "json", 1 << 20)
    return piece


def reading(buckets: Buckets, *read: tuple[int, int, Piece], end: bool = False) -> Iterator[Packed]:
    text = buckets.program.dump()
    return packed(Reading(text, read, buckets.left.watermarks, 0, end, True))


def test_files_of_two_streams_meet_in_the_bucket_of_their_key(
    program: Program, tmp_path: Path
) -> None:
    assert [stream.name for stream in program.streams] == ["orders", "shipments"]
    buckets = Buckets(program)
    sides = [land(tmp_path, "orders", 1), land(tmp_path, "shipments", 2)]
    came = list(reading(buckets, *[(at, 0, piece) for at, piece in enumerate(sides)]))
    homes: dict[str, dict[str, int]] = {"rows": {}, "rows1": {}}
    for row in came:
        if row.kind in homes:
            homes[row.kind] |= dict.fromkeys(decode(row.payload)["product"], row.bucket)
    assert homes["rows"] == homes["rows1"]
    assert set(homes["rows"]) == set(PRODUCTS)
    assert not counted(buckets.take(came))
    then = reading(buckets, (0, 1, land(tmp_path, "orders", 3)))
    assert counted(buckets.take(then)) == {(0, product): 1 for product in PRODUCTS}
    ended = counted(buckets.take(reading(buckets, end=True)))
    assert ended == {(side, product): 1 for side in (0, 1) for product in PRODUCTS}


def test_each_input_expires_by_the_watermark_of_its_own_stream(
    program: Program, tmp_path: Path
) -> None:
    buckets = Buckets(program)
    first = [(0, 0, land(tmp_path, "orders", 9)), (1, 0, land(tmp_path, "shipments", 2))]
    buckets.take(reading(buckets, *first))
    assert buckets.left.watermarks == {
        0: NINE + 9 * MINUTE,
        number_of(0, 1): NINE + 2 * MINUTE - 10_000_000,
    }
    old = [(0, 1, land(tmp_path, "orders", 1)), (1, 1, land(tmp_path, "shipments", 1))]
    out = buckets.take(reading(buckets, *old))
    errors = pl.concat(out[ERRORS])
    assert errors["stream"].to_list() == ["orders"] * len(PRODUCTS)
    assert errors["watermark"].unique().to_list() == [START.replace(minute=9)]
    assert counted(out) == {(1, product): 1 for product in PRODUCTS}  # late


def test_a_step_of_a_feed_is_of_one_stream(program: Program, tmp_path: Path) -> None:
    steps, buckets = StepSource(str(tmp_path)), Buckets(program)

    def step(at: Step) -> Counter[tuple[int, str]]:
        number = steps.add({0: at})
        text, known = program.dump(), buckets.left.watermarks
        return counted(
            buckets.take(packed(StepReading(text, steps.folder, number, frozenset([0]), known)))
        )

    assert not step(Step(rows=rows(1), stream="orders"))
    assert not step(Step(rows=rows(1), stream="shipments"))
    assert not step(Step(watermark=NINE + 5 * MINUTE, stream="orders"))
    passed = step(Step(watermark=NINE + 5 * MINUTE, stream="shipments"))
    assert passed == {(side, product): 1 for side in (0, 1) for product in PRODUCTS}


def rows(minute: int) -> pl.DataFrame:
    """All products, once each."""
    count = len(PRODUCTS)
    return pl.DataFrame(
        {"product": PRODUCTS, "value": [1] * count, "ts": [START.replace(minute=minute)] * count},
        schema_overrides={"ts": pl.Datetime("us", "UTC")},
    )


def whole(program: Program, minute: int, stream: str) -> list[Packed]:
    batches = rows(minute).to_arrow().to_batches()
    return list(packed_whole(program, batches, 0, stream))


def test_dataframes_are_packed_by_stream(program: Program) -> None:
    buckets = Buckets(program)
    assert not counted(
        buckets.take([*whole(program, 1, "orders"), *whole(program, 1, "shipments")])
    )
    assert counted(buckets.take(whole(program, 4, "orders"))) == {}
    out = counted(buckets.take(whole(program, 4, "shipments")))
    assert out == {(side, product): 1 for side in (0, 1) for product in PRODUCTS}
    late = buckets.take([*whole(program, 1, "orders"), *whole(program, 3, "shipments")])
    assert pl.concat(late[ERRORS])["stream"].to_list() == ["orders"] * len(PRODUCTS)
    assert counted(late) == {(1, product): 1 for product in PRODUCTS}


def test_a_stream_beside_itself_is_read_once_and_taken_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "chain", partial(chain, lowering=themselves))
    buckets = Buckets(loaded())
    assert len(buckets.program.streams) == 1
    buckets.take(reading(buckets, (0, 0, land(tmp_path, "orders", 1))))
    out = buckets.take(reading(buckets, (0, 1, land(tmp_path, "orders", 5))))
    assert counted(out) == {(side, product): 1 for side in (0, 1) for product in PRODUCTS}
    old = buckets.take(reading(buckets, (0, 2, land(tmp_path, "orders", 2))))
    assert len(pl.concat(old[ERRORS])) == len(PRODUCTS)
