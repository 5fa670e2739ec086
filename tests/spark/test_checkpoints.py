"""A checkpoint on Spark: damaged anywhere, of a changed query, or in use already."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.stateful_processor import MapState

import sqlwin.spark
from sqlwin.errors import RunError, StateError
from sqlwin.plan.properties.facts import window_policy
from sqlwin.runtime.files.lock import locked
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.manifest import MANIFEST, SOURCE_TEXT, as_checkpointed
from sqlwin.spark.checkpoint.progress import After, leave
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.state_blobs import StateBlobs
from sqlwin.sql import script

TEXT = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'orders/*.jsonl');
CREATE SINK one WITH (connector = 'files', path = 'one');
CREATE SINK two WITH (connector = 'files', path = 'two');
INSERT INTO one SELECT window_start, COUNT(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '2' MINUTE
"""
LONGER = TEXT.replace("'2' MINUTE", "'1' HOUR").replace("INTO one", "INTO two")
MINUTE = 60_000_000


def settle(text: str, folder: Path) -> Program:
    parsed = script(text)
    return as_checkpointed(Program(parsed.queries, 2, 2), Folder(str(folder)), parsed.source_text)


def since(program: Program) -> int | None:
    policy = window_policy(program.queries[0].plan)
    assert policy is not None
    return policy.since


def test_a_changed_script_goes_on_or_is_emitted_why_not(tmp_path: Path) -> None:
    folder = tmp_path / "sqlwin"
    settle(TEXT, folder)
    other = TEXT.replace("INTO one", "INTO two").replace(
        "COUNT(*) AS n", "window_end, COUNT(*) AS n"
    )
    assert settle(other, folder).queries == script(other).queries
    assert json.loads(Folder(str(folder)).read(SOURCE_TEXT) or "")["text"] == other
    with pytest.raises(RunError, match="another script: the size of the window was 1 minute, is 3"):
        settle(TEXT.replace("'1' MINUTE", "'3' MINUTE"), folder)
    with pytest.raises(RunError, match="another script: the script had 1 queries"):
        settle(f"{TEXT}; SELECT value FROM orders", folder)
    assert settle(other, folder).queries == script(other).queries


def test_a_script_that_was_changed_just_before_a_crash(tmp_path: Path) -> None:
    """The manifest is the new one's, its text is not there yet."""
    folder = tmp_path / "sqlwin"
    settle(TEXT, folder)
    before = Folder(str(folder)).read(SOURCE_TEXT)
    settle(LONGER, folder)
    Folder(str(folder)).write(SOURCE_TEXT, before or "")
    settle(LONGER, folder)
    assert json.loads(Folder(str(folder)).read(SOURCE_TEXT) or "")["text"] == LONGER


def test_a_longer_retain_knows_what_was_retired_at_the_last_commit(tmp_path: Path) -> None:
    folder = tmp_path / "sqlwin"
    settle(TEXT, folder)
    for batch in (1, 2):  # the second is not committed
        leave(Folder(str(folder)), batch, After({0: (10 + batch) * MINUTE}))
    with pytest.raises(StateError, match=r"spark/offsets is damaged: batch 1 is gone from it"):
        settle(LONGER, folder)
    for log, batches in {"commits": 1, "offsets": 2}.items():
        (tmp_path / "spark" / log).mkdir(parents=True)
        for batch in range(batches):
            (tmp_path / "spark" / log / str(batch)).write_text("v1\n{}")
    assert since(settle(LONGER, folder)) == 9 * MINUTE
    assert since(settle(LONGER, folder)) == 9 * MINUTE


def test_damaged_files_beside_sparks_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "sqlwin"
    mine = settle(TEXT, folder)
    whole = {file: file.read_bytes() for file in folder.iterdir()}
    rng, refused = random.Random(5), 0
    for file, data in whole.items():
        for bit in rng.sample(range(8 * len(data)), 60):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            file.write_bytes(flipped)
            try:
                assert settle(TEXT, folder) == mine
            except StateError as error:
                refused += 1
                assert str(file) in str(error)  # noqa: PT017
        file.write_bytes(data)
    assert refused > 100
    (tmp_path / "spark" / "offsets").mkdir(parents=True)
    (tmp_path / "spark" / "offsets" / "0").touch()
    (folder / MANIFEST).unlink()
    with pytest.raises(StateError, match=r"manifest\.json is gone"):
        settle(TEXT, folder)


def test_a_flipped_digit_of_an_offset() -> None:
    offset = Offset(3, 7, {"0": 12}, watermarks={"0": 9}, unread=True)
    text = json.dumps(offset.dump())
    refused = 0
    for at, digit in enumerate(text):
        if digit.isdigit() and not text[at + 1].isdigit():  # no number begins with a zero
            flipped = text[:at] + str(int(digit) ^ 1) + text[at + 1 :]
            with pytest.raises(StateError, match=r"an offset in .*spark/offsets is damaged"):
                Offset.load(json.loads(flipped))
            refused += 1
    assert refused > 10
    assert Offset.load(json.loads(text)) == offset


class TaskState:
    """A MapState."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def getValue(self, key: tuple[str]) -> tuple[bytes] | None:  # noqa: N802
        return (self.held[key[0]],) if key[0] in self.held else None

    def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None:  # noqa: N802
        self.held[key[0]] = value[0]


def test_a_flipped_bit_of_a_blob_in_sparks_state() -> None:
    kept = TaskState()
    blobs = StateBlobs(cast(MapState, kept))
    for name in ("header", "taken"):
        blobs.put(name, b'{"watermark": 5}')
        whole = kept.held[name]
        for bit in range(32, 8 * len(whole)):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            kept.held[name] = bytes(flipped)
            with pytest.raises(StateError, match=f"spark/state: {name} is damaged"):
                blobs.get(name)
    kept.held["header"] = b'{"watermark": 5}'  # of before
    assert blobs.get("header") == b'{"watermark": 5}'


# --- on Spark ---


def land(home: Path, name: str, *at: str) -> None:
    (home / "orders").mkdir(exist_ok=True)
    rows = [json.dumps({"value": 1, "ts": f"2024-01-01T{ts}Z"}) for ts in at]
    (home / "orders" / f"{name}.jsonl").write_text("\n".join(rows) + "\n")


def run(spark: SparkSession, home: Path, text: str, **more: Any) -> list[str]:
    """The reasons of its error stream."""
    errors: list[pl.DataFrame] = []
    query = sqlwin.spark.query(spark, text)
    query.run(home, home / "state", on_errors=errors.append, **more)
    return [reason for frame in errors for reason in frame["reason"].to_list()]


def counts(home: Path, sink: str) -> dict[str, int]:
    """By the minute, as of the last revision."""
    files = sorted((home / sink).glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return {row["window_start"][11:16]: row["n"] for row in rows}


def offset_of(state: Path) -> Path:
    return max((state / "spark" / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))


def flip_a_digit(state: Path) -> None:
    file = offset_of(state)
    text = file.read_text()
    at = text.index('"now":') + 10
    file.write_text(text[:at] + str(int(text[at]) ^ 1) + text[at + 1 :])


def flip_a_digit_that_spark_does_not_check(state: Path) -> None:
    flip_a_digit(state)
    file = offset_of(state)
    file.with_name(f".{file.name}.crc").unlink()


def lose_the_progress(state: Path) -> None:
    shutil.rmtree(state / "sqlwin" / "progress")


def damage_the_state(state: Path) -> None:
    """Every file of Spark's state store, in the middle."""
    for file in (state / "spark" / "state").rglob("*"):
        if file.is_file() and file.suffix != ".crc" and file.stat().st_size > 200:
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 4
            file.write_bytes(data)


DAMAGE: dict[Callable[[Path], None], str] = {
    flip_a_digit: ".",
    flip_a_digit_that_spark_does_not_check: "an offset in the .* spark/offsets is damaged",
    lose_the_progress: r"progress/1\.json is gone, which a batch has left there",
    damage_the_state: ".",
}


@pytest.mark.spark
@pytest.mark.long
def test_changed_locked_and_damaged_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    land(home, "1", "09:06:00", "09:08:30", "09:10:05")
    assert run(spark, home, TEXT) == []
    with (
        locked(home / "state" / "sqlwin", home / "state"),
        pytest.raises(RunError, match="another process runs on the checkpoint"),
    ):
        run(spark, home, TEXT)
    land(home, "2", "09:06:30", "09:08:40")
    for damage, why in DAMAGE.items():
        copy = tmp_path / damage.__name__
        shutil.copytree(home, copy)
        damage(copy / "state")
        with pytest.raises(RunError, match=why) as refused:
            run(spark, copy, LONGER)
        assert "\n" not in str(refused.value)
        assert not (copy / "two").exists()
    (home / "two").touch()  # where a folder is to be
    with pytest.raises(RunError, match=r"cannot write .*two/part-.*: File exists; the last commit"):
        run(spark, home, LONGER)
    (home / "two").unlink()
    assert run(spark, home, LONGER) == ["expired"]
    assert counts(home, "two") == {"09:08": 2}
    land(home, "3", "09:06:30", "09:10:50", "09:58:00")
    assert run(spark, home, LONGER) == ["expired"]
    land(home, "4", "09:07:59", "09:08:50", "09:10:51")
    assert run(spark, home, LONGER) == ["expired"]
    assert counts(home, "two") == {"09:08": 3, "09:10": 3}
