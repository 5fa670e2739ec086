from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException

from sqlwin.errors import RunError
from sqlwin.instants import END, START
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.sources import FileSource, source_of
from sqlwin.runtime.files.pieces import copied, pieces
from sqlwin.spark import run as running
from sqlwin.spark.awaiting import UNCONNECTED, cause, finished, patiently
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.manifest import as_checkpointed
from sqlwin.spark.checkpoint.progress import After, leave
from sqlwin.spark.dataframes.pack import packed
from sqlwin.spark.sources.listing import Listing
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.sources.packer import Packer
from sqlwin.spark.sources.read import Reading
from sqlwin.spark.sources.read import packed as packed_files
from sqlwin.spark.sources.reader import ScriptReader
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.stages.bucket import work
from sqlwin.spark.stages.buckets import bucket_of, cut, hashes, labels, partition_of
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import ERRORS, RESULTS, WARNING
from sqlwin.spark.stages.segment_cache import HostCache
from sqlwin.spark.stages.wire import decode, encode
from sqlwin.sql import script as bound
from sqlwin.state.blobs.blobs import DictBlobs
from tests.support.spark.scripts import orders, script, sliding, tumble

KEYS = pl.DataFrame(
    {
        "s": ["a", "b", None, "a", ""],
        "i": [1, 2, None, 1, 0],
        "f": [0.0, 1.5, None, -0.0, float("nan")],
        "b": [True, False, None, True, False],
    }
)


def test_equal_keys_share_a_bucket_and_null_is_a_key() -> None:
    first, second, null, again, _ = hashes(KEYS, ("s", "i", "f", "b"))
    assert first == again
    assert len({int(first), int(second), int(null)}) == 3


def test_the_hash_never_changes() -> None:
    """A checkpoint's keys would be looked for in the wrong bucket."""
    assert hashes(KEYS, ("s", "i", "f", "b")).tolist() == PINNED


PINNED = [
    7983048571040976286,
    6256743055987243948,
    6567483604599218275,
    7983048571040976286,
    12350559927374503671,
]


def test_buckets_are_even() -> None:
    rows = pl.DataFrame({"user": [f"user-{i}" for i in range(10_000)]})
    counts = np.bincount(bucket_of(rows, ("user",), 8))
    assert counts.min() > 1_000
    assert sum(len(part) for _, part in cut(rows, ("user",), 8)) == 10_000


def test_labels_fall_evenly_on_partitions() -> None:
    for query in range(5):
        found = [partition_of(query, label, 4) for label in labels(query, 8, 4)]
        assert sorted(found) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_payloads_are_capped_and_whole() -> None:
    frame = pl.DataFrame({"x": range(10_000)})
    parts = [decode(payload) for payload in encode(frame, cap=10_000)]
    assert len(parts) == 8
    assert pl.concat(parts).equals(frame)


@pytest.mark.parametrize("size", [1, 7, 16, 100])
def test_pieces_cut_only_at_line_ends_and_cover_the_file(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x\ny"\n2,"he said ""no\n"""\n3,z')
    texts = []
    for piece in pieces(str(path), "csv", size):
        with copied(piece, header=True) as at:
            texts.append(pl.read_csv(at))
    assert pl.concat([t for t in texts if len(t)])["b"].to_list() == ["x\ny", 'he said "no\n"', "z"]


def test_a_listing_keeps_its_order_when_files_come_before_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.json").write_text("{}")

    def listed() -> list[str]:
        source = source_of(Stream("s", (), None, options=(("path", "in/*.json"),)))
        listing = Listing(Folder(str(tmp_path / "state")), 0, source, tmp_path, 1 << 20)
        listing.refresh()
        return [Path(piece.path).name for piece in listing.progress.pieces]

    assert listed() == ["b.json"]
    (tmp_path / "in" / "a.json").write_text("{}")
    assert listed() == ["b.json", "a.json"]
    assert listed() == ["b.json", "a.json"]


def listing(tmp_path: Path) -> Listing:
    source = source_of(Stream("s", (), None, options=(("path", "in/*.json"),)))
    return Listing(Folder(str(tmp_path / "state")), 0, source, tmp_path, 1 << 20)


def test_a_list_of_before_is_read_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "a.json"
    file.write_text("{}\n")
    Folder(str(tmp_path / "state")).write("listing/0.json", json.dumps([[str(file), 0, 3, 3]]))
    file.write_text("{}\n{}\n")
    known = listing(tmp_path)
    known.refresh()
    assert [(piece.lo, piece.hi) for piece in known.progress.pieces] == [(0, 3), (3, 6)]
    again = listing(tmp_path)
    again.restore()
    assert again.progress == known.progress


def test_what_is_committed_leaves_the_list(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "a.json"
    known = listing(tmp_path)
    for number in range(1, 4):
        file.write_text("{}\n" * number)
        known.refresh()
        known.commit(number - 1)
    again = listing(tmp_path)
    again.refresh()
    assert (again.progress.first, again.progress.end) == (1, 3)
    assert list(again.progress.files) == ["in/a.json"]
    assert again.progress.piece(2) == known.progress.piece(2)


def test_the_cache_forgets_what_is_longest_unused(tmp_path: Path) -> None:
    cache = HostCache(str(tmp_path), capacity=20_000)
    frame = pl.DataFrame({"x": range(1_000)})
    killed = tmp_path / ".x.arrow.1"
    killed.write_bytes(b"half of a segment")
    os.utime(killed, (0, 0))
    for name in "abcd":
        cache.put(name, frame)
    cache.sweep()
    assert cache.get("d") is not None
    assert cache.get("a") is None
    assert not killed.exists()
    held = cache.get("d")
    (tmp_path / "d.arrow").unlink()
    assert held is not None and held.equals(frame)


def test_a_checkpoint_belongs_to_one_script(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    mine = Program(script(tumble(orders())).queries, 2, 2)
    as_checkpointed(mine, folder)
    assert as_checkpointed(Program(mine.queries, 5, 5), folder) == mine
    with pytest.raises(RunError, match="belongs to another script"):
        as_checkpointed(Program(script(sliding(orders())).queries, 2, 2), folder)


def reader(tmp_path: Path, end: bool = True, batch_bytes: int = 1) -> ScriptReader:
    program = Program(script(tumble(orders())).queries, 2, 2)
    state = str(tmp_path / "state")
    return ScriptReader(
        Settings(program.dump(), "files", state, str(tmp_path), end, batch_bytes=batch_bytes)
    )


def planned(read: ScriptReader, start: Offset) -> Iterator[Offset]:
    """Each batch has left what the next one needs to know."""
    while True:
        end = Offset.load(read.latestOffset(start.dump(), None))  # type: ignore[arg-type]
        if end == start:
            return
        leave(read.folder, end.batch, After())
        yield end
        start = end


def test_the_end_comes_with_the_last_files_and_once(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    for name in "ab":
        (tmp_path / "orders" / f"{name}.csv").write_text("product,value,ts\n")
    read = reader(tmp_path)
    read.prepareForTriggerAvailableNow()
    one, two = planned(read, Offset())
    assert (one.files, one.ends) == ({"0": 1}, 0)
    assert (two.files, two.ends, two.unread) == ({"0": 2}, 1, False)
    (tmp_path / "orders" / "c.csv").write_text("product,value,ts\n")
    assert list(planned(read, two)) == []
    again = reader(tmp_path)
    again.prepareForTriggerAvailableNow()
    (three,) = planned(again, two)
    assert (three.files, three.ends) == ({"0": 3}, 2)


def test_a_tick_refuses_a_checkpoint_that_was_cut_otherwise() -> None:
    """Labels of two cuts may have nothing in common: no bucket would find what it kept."""
    queries = script(tumble(orders())).queries

    def ticks(partitions: int, buckets: int) -> ScriptReader:
        program = Program(queries, partitions, buckets)
        return ScriptReader(Settings(program.dump(), "tick", "", "", end=False))

    start = Offset().dump()
    end = ticks(3, 3).latestOffset(start, None)  # type: ignore[arg-type]
    assert ticks(3, 3).partitions(start, end)
    for other in (ticks(4, 4), ticks(3, 4), ticks(4, 3)):
        with pytest.raises(RunError, match="the checkpoint has 3 buckets on 3 shuffle partitions"):
            other.partitions(start, end)
        with pytest.raises(RunError, match="the checkpoint has 3 buckets on 3 shuffle partitions"):
            other.latestOffset(end, None)  # type: ignore[arg-type]
    del end["cut"], end["checksum"]  # a checkpoint of before
    assert ticks(4, 4).partitions(start, end)


def read_once(tmp_path: Path) -> tuple[ScriptReader, Offset]:
    """A reader of one file without rows, and the offset behind it."""
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.csv").write_text("product,value,ts\n")
    first = reader(tmp_path, end=False)
    first.prepareForTriggerAvailableNow()
    (read_,) = planned(first, Offset())
    return first, read_


def test_a_correction_that_is_due_takes_one_batch_of_a_bounded_run(tmp_path: Path) -> None:
    first, read_ = read_once(tmp_path)
    leave(first.folder, read_.batch, After({}, deadline=1))
    (tick,) = planned(first, read_)
    assert (tick.files, tick.ends, tick.unread) == ({"0": 1}, 0, True)
    leave(first.folder, tick.batch, After({}, deadline=1))
    assert list(planned(first, tick)) == []
    leave(first.folder, tick.batch, After({}, deadline=END))
    again = reader(tmp_path, end=False)
    again.prepareForTriggerAvailableNow()
    assert list(planned(again, tick)) == []


def test_a_malformed_row_of_a_file_has_the_watermark_of_its_query(tmp_path: Path) -> None:
    program = Program((tumble(orders()), sliding(orders())), 2, 1)
    path = tmp_path / "a.csv"
    path.write_text("product,value,ts\ntea,many,2024-01-01T09:00:00Z\n")
    (piece,) = pieces(str(path), "csv", 1 << 20)
    reading = Reading(program.dump(), ((0, 0, piece),), {0: 60_000_000}, 0, False, True)
    errors = {row.query: decode(row.payload) for row in packed_files(reading) if row.kind == ERRORS}
    assert {query: each["watermark"].to_list() for query, each in errors.items()} == {
        0: [datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)],
        1: [None],
    }


def test_what_a_source_warns_of_passes_through_the_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program((tumble(orders()),), 2, 1)
    path = tmp_path / "a.csv"
    path.write_text("product,value,ts\ntea,1,2024-01-01T09:00:00Z\n")
    (piece,) = pieces(str(path), "csv", 1 << 20)
    reading = Reading(program.dump(), ((0, 0, piece),), {}, 0, False, True)
    reads = FileSource.read
    monkeypatch.setattr(
        FileSource, "read", lambda *given: replace(reads(*given), warnings=("it looks odd",))
    )
    label = program.labels[0][0]
    came = [row for row in packed_files(reading) if row.bucket == label]
    out = [row for row in work(program, 0, label, came, DictBlobs()) if row.kind == WARNING]
    assert [row.payload for row in out] == [b"it looks odd"]


def test_an_undrained_run_can_be_drained_later(tmp_path: Path) -> None:
    _, read_ = read_once(tmp_path)
    then = reader(tmp_path, end=True)
    then.prepareForTriggerAvailableNow()
    (drained,) = planned(then, read_)
    assert (drained.files, drained.ends) == ({"0": 1}, 1)
    (part,) = then.partitions(read_.dump(), drained.dump())
    assert [batch.column("kind")[0].as_py() for batch in then.read(part)] == ["mark", "mark"]


def test_packed_dataframes_keep_equal_rows_apart_and_find_expired_ones() -> None:
    program = Program(script(sliding(orders(), size=60_000_000)).queries, 2, 1)
    blobs = DictBlobs()

    def batch(*rows: tuple[int, int]) -> dict[str, list[pl.DataFrame]]:
        frame = pl.DataFrame(
            {
                "product": ["tea"] * len(rows),
                "value": [value for value, _ in rows],
                "ts": [datetime.fromtimestamp(s, timezone.utc) for _, s in rows],
            },
            schema_overrides={"ts": pl.Datetime("us", "UTC")},
        )
        came = packed(program, frame.to_arrow().to_batches(), now=0)
        out: dict[str, list[pl.DataFrame]] = {RESULTS: [], ERRORS: []}
        for row in work(program, 0, program.labels[0][0], came, blobs):
            if row.kind in out:
                out[row.kind].append(decode(row.payload))
        return out

    (results,) = batch((1, 10), (1, 10), (5, 20))[RESULTS]
    assert results["total"].to_list() == [2, 2]
    (results,) = batch((7, 1_000))[RESULTS]
    assert results["total"].to_list() == [7]
    (errors,) = batch((9, 15))[ERRORS]
    assert errors["reason"].to_list() == ["expired"]
    assert '"value": 9' in errors["row"][0]


class Refused:
    """A query that Spark gives up on."""

    def __init__(self, text: str) -> None:
        self.text = text

    def awaitTermination(self, timeout: float) -> None:  # noqa: N802
        raise StreamingQueryException(self.text)


class Gone:
    """A query whose JVM was killed."""

    def awaitTermination(self, seconds: float) -> None:  # noqa: N802
        raise ConnectionRefusedError(111, "Connection refused")


class Interrupted:
    """A query at which somebody presses Ctrl-C. raises: while Spark is asked, as in a thread."""

    def __init__(self, raises: bool = False) -> None:
        self.stopped, self.raises, self.parsed = False, raises, 0

    def awaitTermination(self, timeout: float) -> bool:  # noqa: N802
        if self.raises:
            raise KeyboardInterrupt
        os.kill(os.getpid(), signal.SIGINT)
        self.parsed += 1
        return False

    def stop(self) -> None:
        self.stopped = True


@pytest.mark.parametrize("raises", [True, False])
def test_an_interruption_stops_the_query_and_whoever_waits_for_it(raises: bool) -> None:
    """It raises nothing within a call to Spark, which would log a trace, and is heard after it."""
    query, before = Interrupted(raises), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        finished(query)  # type: ignore[arg-type]
    assert (query.stopped, query.parsed) == (True, 0 if raises else 1)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("follow", [True, False])
def test_only_a_run_that_follows_is_ended_by_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, follow: bool
) -> None:
    monkeypatch.setattr(running, "start", lambda *_, **__: Interrupted())
    (tmp_path / "orders").write_text("")
    options, spark = RunOptions(tmp_path, follow=follow), object()
    expected = nullcontext() if follow else pytest.raises(KeyboardInterrupt)
    with expected:
        running.run(script(tumble(orders())), options, spark)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "starts"), [(UNCONNECTED, 3), ("the disk is full", 1)])
def test_only_a_worker_that_was_slow_to_come_is_tried_again(text: str, starts: int) -> None:
    begun: list[Refused] = []

    def begin() -> Refused:
        begun.append(Refused(text))
        return begun[-1]

    with pytest.raises(RunError, match=text):
        patiently(begin)  # type: ignore[arg-type]
    assert len(begun) == starts


def test_a_jvm_that_has_ended_is_named_with_its_log() -> None:
    with pytest.raises(RunError, match=r"the JVM of Spark has ended, see .*\.log; .*run it again"):
        finished(Gone())  # type: ignore[arg-type]


def test_a_jvm_that_has_ended_before_a_session_is_there_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "orders").write_text("")

    def gone(settings: object) -> None:
        raise Py4JNetworkError("Error while sending or receiving")

    monkeypatch.setattr(running, "local_session", gone)
    with pytest.raises(RunError, match=r"the JVM of Spark has ended"):
        running.run(script(tumble(orders())), RunOptions(tmp_path))


def test_a_java_that_ends_at_once_is_a_run_that_failed(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho there is no memory >&2\nexit 1\n")
    java.chmod(0o755)
    (tmp_path / "orders.jsonl").write_text("")
    (tmp_path / "query.sql").write_text(
        "CREATE STREAM o (v BIGINT) WITH (connector = 'files', path = 'orders.jsonl');"
        " SELECT v FROM o"
    )
    command = [sys.executable, "-m", "sqlwin.cli", "run", "query.sql"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "failed: Spark did not start: there is no memory; it needs Java 17" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_cause_is_the_line_of_our_own_error() -> None:
    text = "Query terminated\n  File x\nsqlwin.errors.OverflowInAggregate: total is too big\n at y"
    assert cause(text) == "total is too big"
    assert cause("Out of memory\nat z") == "Out of memory"


def test_a_trace_in_the_middle_of_a_line_is_read_too() -> None:
    failure = "[STREAM_FAILED] Return Message: Traceback (most recent call last):"
    assert cause(f"{failure}\n  File x\npy4j.protocol.Py4JJavaError: gone\n: at y") == (
        "py4j.protocol.Py4JJavaError: gone"
    )
    assert cause(failure) == "[STREAM_FAILED] Return Message"


def test_windows_without_a_key_are_combined_before_the_shuffle() -> None:
    parsed = bound(
        """CREATE STREAM orders (value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
        SELECT window_start, SUM(value) AS total
        FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
        GROUP BY window_start, window_end"""
    )
    program = Program(parsed.queries, partitions=4, buckets=4)
    at = pl.Series([60_000_000 * (n % 3) for n in range(9_000)]).cast(pl.Datetime("us", "UTC"))
    rows = pl.DataFrame({"value": [1] * 9_000, "ts": at}).with_columns(
        pl.lit(0, pl.Int32).alias("__part"), pl.int_range(pl.len()).alias("__seq")
    )
    packer = Packer(program, 0)
    assert not list(packer.add(0, program.pipelines[0][0].process(rows, START).rows))
    (sent,) = packer.flush()
    assert len(decode(sent.payload)) == 3  # a partial sum for each of the three minutes


def test_texts_of_a_dataframe_that_are_no_utf8_cost_their_rows() -> None:
    program = Program(script(sliding(orders())).queries, 2, 1)
    ends = pa.array([0, 3, 7], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"teacaf\xe9")])
    ts = pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)] * 2, pa.timestamp("us", "UTC"))
    batch = pa.RecordBatch.from_arrays([texts, pa.array([1, 2]), ts], ["product", "value", "ts"])
    came = list(packed(program, [batch], now=0))
    (errors,) = [decode(row.payload) for row in came if row.kind == ERRORS]
    assert errors["reason"].to_list() == ["malformed: product is b'caf\\xe9', not a STRING"]
    assert '"Y2Fm6Q=="' in errors["row"][0]


def test_a_quote_that_is_not_closed_does_not_move_the_cuts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f'{n},"two\nlines"' if n % 3 else f'{n},"open' for n in range(200)]
    path.write_text("\n\nvalue,product\n" + "\n".join(lines) + "\n")
    options = (("format", "csv"), ("path", "a"))
    source = source_of(Stream("orders", orders().columns, "ts", options=options))
    (one,) = pieces(str(path), "csv")
    whole = source.read(one, 0)
    cut = [source.read(piece, 0) for piece in pieces(str(path), "csv", 100)]
    assert len(cut) > 20
    assert pl.concat([each.rows["value"] for each in cut]).equals(whole.rows["value"])
    assert sum(len(each.errors) for each in cut) == len(whole.errors) == 67


def test_a_compressed_file_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(b'{"n": %d}\n' % n for n in range(10_000))))
    (piece,) = pieces(str(path), "json", 1000)
    assert (piece.lo, piece.hi) == (0, piece.size)
