"""Rows that no operator takes: of plain queries, and of branches of UNION ALL."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession

from sqlwin.errors import RunError
from sqlwin.instants import SECOND
from sqlwin.schema import PART
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.manifest import MANIFEST, as_checkpointed
from sqlwin.spark.checkpoint.progress import After, leave
from sqlwin.spark.dataframes.pack import packed as packed_whole
from sqlwin.spark.run import program_of, sourced
from sqlwin.spark.sinks.collected import collected
from sqlwin.spark.sources.offsets import Offset
from sqlwin.spark.sources.read import StepReading, packed
from sqlwin.spark.sources.reader import ScriptReader
from sqlwin.spark.sources.source import Settings
from sqlwin.spark.sources.step_source import Step, StepSource
from sqlwin.spark.stages.bucket import BucketProcessor, work
from sqlwin.spark.stages.program import Program
from sqlwin.spark.stages.row_kinds import COLUMNS, RAW
from sqlwin.spark.stages.stage_output import PAYLOADS
from sqlwin.spark.stages.wire import Packed, decode
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs

START = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
STREAM = """CREATE STREAM {name} (who STRING, n BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND{more});
"""
BRANCHES = """SELECT who, n, ts FROM web WHERE n > 0
UNION ALL SELECT who, CAST(who AS BIGINT) + n, ts FROM app"""
MINUTES = f"""SELECT who, window_start, SUM(n) AS n, COUNT(*) AS c
FROM TUMBLE(TABLE ({BRANCHES}), DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY who, window_start, window_end EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR"""
PLAIN = "SELECT who, n FROM web WHERE n > 0"


def program(text: str, spread: bool = True, more: str = "", buckets: int = 4) -> Program:
    declared = "".join(STREAM.format(name=name, more=more) for name in ("web", "app"))
    return Program(script(declared + text).queries, 4, buckets, spread=spread)


class Levels:
    """All buckets of all stages, and their state, as Spark's operators run one after another."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blobs: dict[tuple[int, int], DictBlobs] = defaultdict(DictBlobs)
        self.busy: dict[int, Counter[int]] = defaultdict(Counter)

    def take(self, came: Iterable[Packed]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """A batch: results and errors."""
        rows = list(came)
        for level in range(max(self.program.levels) + 1):
            rows = [row for group in self._grouped(rows) for row in self._passed(level, group)]
        (what,) = collected(self.program, _Collected(rows)).values()  # type: ignore[arg-type]
        return what.results, what.errors

    def _grouped(self, rows: list[Packed]) -> list[list[Packed]]:
        groups = defaultdict(list)
        for row in rows:
            groups[row.query, row.bucket].append(row)
        return list(groups.values())

    def _passed(self, level: int, rows: list[Packed]) -> Iterable[Packed]:
        stage, label = rows[0].query, rows[0].bucket
        if self.program.levels[stage] != level:
            return rows
        self.busy[stage][label] += any(row.kind.startswith(("raw", "rows")) for row in rows)
        return work(self.program, stage, label, rows, self.blobs[stage, label])


class _Collected:
    """A DataFrame of these rows."""

    def __init__(self, rows: list[Packed]) -> None:
        self.rows = rows

    def collect(self) -> list[Packed]:
        return self.rows


def rows(first: int, count: int, n: int | None = None) -> pl.DataFrame:
    """A row each second, of three people."""
    at = range(first, first + count)
    return pl.DataFrame(
        {
            "who": [str(i % 3) for i in at],
            "n": [i % 5 if n is None else n for i in at],
            "ts": [START + timedelta(seconds=i) for i in at],
        },
        schema={"who": pl.String, "n": pl.Int64, "ts": pl.Datetime("us", "UTC")},
    )


def failing() -> pl.DataFrame:
    """Eight of these are no numbers."""
    bad = pl.when(pl.col("n") == 0).then(pl.lit("x")).otherwise("who")
    return rows(0, 40).with_columns(who=bad)


def fed(
    program: Program, folder: Path, *steps: Step
) -> tuple[Levels, list[tuple[pl.DataFrame, pl.DataFrame]]]:
    """What each step gives."""
    source, levels, out = StepSource(str(folder)), Levels(program), []
    for step in steps:
        number = source.add({0: step})
        reading = StepReading(program.dump(), source.folder, number, frozenset([0]), {})
        out.append(levels.take(packed(reading)))
    return levels, out


STEPS = (
    Step(rows=rows(0, 90), stream="web"),
    Step(rows=rows(0, 90), stream="app"),
    Step(rows=rows(20, 30, n=7), stream="web", first=90),  # late ones
    Step(watermark=int(START.timestamp() + 180) * SECOND, stream="web"),
    Step(rows=rows(30, 30, n=0), stream="app", first=90),
    Step(end=True),
)


@pytest.mark.parametrize("text", [MINUTES, BRANCHES, PLAIN], ids=["minutes", "branches", "plain"])
def test_several_buckets_have_rows_and_say_what_one_would(tmp_path: Path, text: str) -> None:
    """The same rows, under the same keys and revisions, in the same batches."""
    steps = [step for step in STEPS if text is not PLAIN or step.stream != "app"]
    levels, found = fed(program(text), tmp_path / "spread", *steps)
    alone, expected = fed(program(text, spread=False), tmp_path / "alone", *steps)
    for ours, theirs in zip(found, expected, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            assert mine.sort(pl.all()).equals(other.sort(pl.all()))
    passing = [at for at, stage in enumerate(levels.program.lowered) if stage.operator is None]
    assert passing
    for stage in passing:
        assert [len(each.program.labels[stage]) for each in (levels, alone)] == [4, 1]
        assert sum(count > 0 for count in levels.busy[stage].values()) == 4


def test_what_is_refused_is_reported_once(tmp_path: Path) -> None:
    bad = rows(0, 40).with_columns(ts=pl.when(pl.col("n") > 0).then("ts"))
    _, found = fed(program(MINUTES), tmp_path, Step(rows=bad, stream="web"))
    _, cast = fed(program(MINUTES), tmp_path / "app", Step(rows=failing(), stream="app"))
    for (_, errors), stream in ((found[0], "web"), (cast[0], "app")):
        assert errors["stream"].to_list() == [stream] * 8
        assert errors["position"].n_unique() == 8


def whole(program: Program, stream: str, frame: pl.DataFrame) -> list[Packed]:
    others = [name for name in program.chains[0].streams if name != stream]
    silent = [packed_whole(program, [], 0, name) for name in others]
    batches = frame.to_arrow().to_batches()
    return [*packed_whole(program, batches, 0, stream), *(row for each in silent for row in each)]


@pytest.mark.parametrize("more", ["", ", OFFSET n"])
def test_rows_of_dataframes_have_positions_of_their_own(more: str) -> None:
    """Where none is declared, equal rows are counted in the one bucket that they have."""
    levels = Levels(program(BRANCHES, more=more))
    first, _ = levels.take(whole(levels.program, "web", pl.concat([rows(0, 40)] * 3)))
    again, _ = levels.take(whole(levels.program, "web", rows(0, 40)))
    keys = pl.concat([first, again])["row_key"]
    assert (len(first), len(again)) == (96, 32)
    assert keys.n_unique() == (4 if more else 128)
    _, errors = levels.take(whole(levels.program, "app", failing()))
    assert len(errors) == 8
    assert sum(count > 0 for count in levels.busy[1].values()) > 2


def test_a_checkpoint_of_before_goes_on_with_one_bucket(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    assert as_checkpointed(program(MINUTES), folder) == program(MINUTES)
    manifest = json.loads(folder.read(MANIFEST) or "")
    del manifest["spread"]
    folder.write(MANIFEST, json.dumps(manifest))
    assert as_checkpointed(program(MINUTES), folder) == program(MINUTES, spread=False)


def test_a_tick_refuses_a_checkpoint_in_which_such_rows_had_one_bucket() -> None:
    def ticks(program: Program) -> ScriptReader:
        return ScriptReader(Settings(program.dump(), "tick", "", "", end=False))

    start = Offset().dump()
    for mine in (program(PLAIN), program(PLAIN, spread=False)):
        end = ticks(mine).latestOffset(start, None)  # type: ignore[arg-type]
        assert ticks(mine).partitions(start, end)
    unchecked = {name: value for name, value in end.items() if name != "checksum"}
    for known in (end, {**unchecked, "cut": ""}):  # the second as version 0.1 left it
        with pytest.raises(RunError, match="in one bucket, as versions up to"):
            ticks(program(PLAIN)).partitions(start, known)
    assert ticks(program(PLAIN, buckets=1)).partitions(start, {**unchecked, "cut": ""})


@pytest.mark.spark
def test_rows_of_branches_have_several_buckets_on_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("web", "app"):
        (tmp_path / name).mkdir()
        rows(0, 90, n=1).write_ndjson(tmp_path / name / "1.jsonl")
    files = "connector = 'files', format = 'json', path = '{name}'"
    declared = STREAM.format(name="{name}", more="").replace(");", f") WITH ({files});")
    text = "".join(declared.format(name=name) for name in ("web", "app"))
    plan = program_of(spark, script(f"SET 'buckets' = 4;\n{text}{BRANCHES}"))
    source = Settings(plan.dump(), "files", str(tmp_path / "state"), str(tmp_path), end=True)
    below = sourced(spark, source).groupBy("query", "bucket")
    processed = below.transformWithStateInPandas(
        BucketProcessor(plan.dump(), 0), COLUMNS, "append", "none"
    )
    sent: Counter[tuple[int, int, int]] = Counter()

    def count(frame: DataFrame, batch: int) -> None:
        for row in frame.where(frame.kind == RAW).collect():
            for part in decode(row.payload)[PART]:
                sent[part, row.at >> PAYLOADS, row.bucket] += 1
        leave(Folder(str(tmp_path / "state")), batch + 1, After())

    written = processed.writeStream.foreachBatch(count)
    written = written.option("checkpointLocation", str(tmp_path / "checkpoint"))
    written.trigger(availableNow=True).start().awaitTermination()
    for branch in (0, 1):
        mine = [place for place in sent.elements() if place[0] == branch]
        assert len(mine) == 90
        assert {home for _, home, _ in mine} == set(plan.labels[1 + branch])
        assert {then for _, _, then in mine} == set(plan.labels[0])
