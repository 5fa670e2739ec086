"""A script of one's own, from its text, on a session of one's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import sqlwin.spark
from sqlwin.embedded import run as embedded
from sqlwin.errors import InputError, QueryError, RunError
from sqlwin.runtime.connectors.metrics import QueryMetrics
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch
from sqlwin.spark.run import run
from sqlwin.sql import script

SCRIPT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
CREATE SINK totals WITH (connector = 'files', path = 'totals', format = 'json');
INSERT INTO totals
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start;
SELECT product, value FROM orders WHERE value > 1;
"""
ROWS = [
    {"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"},
    {"product": "tea", "value": 2, "ts": "2024-01-01T09:00:20Z"},
    {"product": "tea", "value": "two", "ts": "2024-01-01T09:00:30Z"},
]


def test_a_script_with_its_own_sources_and_sinks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "orders" / "1.jsonl").write_text(text)
    shown: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    summary = sqlwin.spark.query(spark, SCRIPT).run(
        tmp_path, show=shown.append, on_errors=refused.append
    )
    [file] = (tmp_path / "totals").glob("*.jsonl")
    assert json.loads(file.read_text())["total"] == 3
    assert pl.concat(shown)["value"].to_list() == [2]
    assert pl.concat(refused)["position"].unique().to_list() == ["0:2"]
    assert (summary.read, summary.emitted) == (6, 2)  # two queries read three rows each


def test_each_batch_knows_what_of_the_files_is_read(spark: SparkSession, tmp_path: Path) -> None:
    """As in process; what a run before has read is in it."""
    (tmp_path / "orders").mkdir()
    lines = [json.dumps(row) + "\n" for row in ROWS]
    for number, line in enumerate(lines):
        (tmp_path / "orders" / f"{number}.jsonl").write_text(line)
    text = f"SET 'batch.bytes' = {len(lines[0])}; {SCRIPT}"
    sizes: list[tuple[int, int]] = []

    def measured(batch: QueryMetrics) -> None:
        if batch.query == 0:
            sizes.append(batch.input_bytes["orders"])

    query = sqlwin.spark.query(spark, text)
    query.run(tmp_path, on_metrics=measured, checkpoint=tmp_path / "state")
    ends = [len("".join(lines[: n + 1])) for n in range(3)]
    assert sizes[:3] == [(end, ends[-1]) for end in ends]
    (tmp_path / "orders" / "3.jsonl").write_text(lines[0])
    query.run(tmp_path, on_metrics=measured, checkpoint=tmp_path / "state")
    assert sizes[-1] == (ends[-1] + len(lines[0]),) * 2


def test_a_file_of_from_is_inferred_and_read_under_the_base(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where the process stands, where another may have its name."""
    for folder, text in (("here", "a\n"), ("base", '{"product": "tea", "value": 2}\n')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.jsonl").write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    shown: list[pl.DataFrame] = []
    asked = sqlwin.spark.query(spark, "SELECT product, value * 2 AS n FROM 'rows.jsonl'")
    asked.run(tmp_path / "base", show=shown.append)
    assert pl.concat(shown).select("product", "n").rows() == [("tea", 4)]
    with pytest.raises(QueryError, match=r"no file matches rows.jsonl; it is relative to"):
        asked.run(tmp_path)
    with pytest.raises(QueryError, match="no stream or view is called nowhere"):
        sqlwin.spark.query(spark, "SELECT a FROM nowhere; SELECT * FROM 'rows.jsonl'")


def test_what_cannot_be_run_is_reported_before_anything_starts(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"no file matches orders/\*\.jsonl of orders; it is"):
        sqlwin.spark.query(spark, SCRIPT).run(tmp_path)
    with pytest.raises(QueryError, match="'pigeons'"):
        sqlwin.spark.query(spark, SCRIPT.replace("'files'", "'pigeons'", 1)).run(tmp_path)


def test_a_sink_that_fails_says_why_and_malformed_rows_may_end_a_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "orders").mkdir()
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "orders" / "1.jsonl").write_text(text)
    (tmp_path / "totals").write_text("no folder")
    parsed = sqlwin.spark.query(spark, SCRIPT)
    with pytest.raises(RunError, match=r"^cannot write .*/totals/part-00000001.jsonl: \w.*$"):
        parsed.run(tmp_path)
    with pytest.raises(RunError, match=r"^1 of 3 rows are malformed, which is more than --max-er"):
        parsed.run(tmp_path, max_errors=0)


GROWING = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/a[1]*', format = 'csv');
SELECT SUM(value) AS total FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)
GROUP BY window_start;
"""


@pytest.mark.long
def test_a_file_that_grows_between_runs_and_one_that_is_replaced(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "orders").mkdir()
    file = tmp_path / "orders" / "a[1]*"
    parsed = sqlwin.spark.query(spark, GROWING)
    shown: list[pl.DataFrame] = []
    kept = tmp_path / "state"
    file.write_text("value,ts\n1,2024-01-01T09:00:00Z\n2,2024-01-01T09:0")
    with pytest.warns(UserWarning, match=r"the last line of .*/a\[1\]\* has no line end"):
        assert parsed.run(tmp_path, kept, show=shown.append).read == 1
    file.write_text(file.read_text() + "1:00Z\n4,2024-01-01T09:02:00Z\n")
    assert parsed.run(tmp_path, kept, show=shown.append).read == 2
    assert not shown
    file.write_text(file.read_text().replace("1", "3"))
    with pytest.raises(RunError, match=r"/orders/a\[1\]\* was replaced or changed after it was"):
        parsed.run(tmp_path, kept)
    file.unlink()
    with pytest.warns(UserWarning, match="no file matches"):
        parsed.run(tmp_path, kept, drain=True, show=shown.append)
    assert pl.concat(shown)["total"].to_list() == [7]


@pytest.mark.long
def test_a_rotated_log_and_a_last_line_that_waits(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "orders").mkdir()
    file, kept = tmp_path / "orders" / "a[1]*", tmp_path / "state"
    parsed = sqlwin.spark.query(spark, GROWING)
    file.write_text("value,ts\n1,2024-01-01T09:00:00Z\n")
    assert parsed.run(tmp_path, kept).read == 1
    with file.open("a") as log:
        log.write("2,2024-01-01T09:01:00Z\n")
    file.rename(f"{file}.1")
    file.write_text("value,ts\n4,2024-01-01T09:02:00Z\n8,2024-01-01T09:03:00Z\n16,2024")
    monkeypatch.setattr("sqlwin.runtime.files.incomplete_lines.SECONDS", 0.0)
    warnings, read = list[str](), threading.Event()

    def warned(text: str) -> None:
        warnings.append(text)
        if len(warnings) == 1:
            assert read.wait(60)
            raise KeyboardInterrupt

    def came(batch: Batch) -> None:
        if batch.read:
            read.set()

    following = RunOptions(tmp_path, kept, follow=True, on_warning=warned, on_batch=came)
    assert run(script(GROWING), following, spark).read == 3
    assert all(f"the last line of {file} has no line end" in text for text in warnings)
    assert len(warnings) == 2  # while it ran, and at the end


LINES = b"""{"s": 1.50, "d": 1234567890123456.78, "n": 7}
{"s": "a", "d": 1.005, "n": 1}
{"s": "b", "d": "1", "n": true}
{"s": "\xff", "n": 2}
%s
{"s": {"a": 1}, "n": 300}
{"n": 3.0, "n": 4}
""" % (b"[" * 1000)
RECORDS = b"""\xef\xbb\xbfs;n
"";1
;2
"open;3
"two
lines";4
caf\xe9;5
x;6;7
"""
FORMS = """
CREATE STREAM j (s STRING, d DECIMAL(38, 2), n TINYINT)
WITH (connector = 'files', path = 'j.jsonl', format = 'json');
CREATE STREAM c (s STRING, n BIGINT, q INT)
WITH (connector = 'files', path = 'c.csv', format = 'csv', delimiter = ';');
SELECT s, d, n FROM j;
SELECT s, n, q FROM c;
"""


def test_files_mean_the_same_as_in_process(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(LINES)
    (tmp_path / "c.csv").write_bytes(RECORDS)

    def outcome(run: Callable[..., object]) -> tuple[object, ...]:
        shown: list[pl.DataFrame] = []
        refused: list[pl.DataFrame] = []
        warned: list[str] = []
        run(show=shown.append, on_errors=refused.append, on_warning=warned.append)
        rows = sorted(str(row) for frame in shown for row in frame.drop("row_key").rows())
        errors = pl.concat(refused).drop("watermark").sort("stream", "position")
        return rows, errors.rows(), sorted(set(warned))

    query = sqlwin.spark.query(spark, FORMS)
    here = script(FORMS)
    on_spark = outcome(lambda **options: query.run(tmp_path, **options))
    in_process = outcome(lambda **options: embedded.run(here, RunOptions(tmp_path, **options)))
    assert on_spark == in_process
    rows, errors, warnings = on_spark
    assert isinstance(rows, list) and isinstance(errors, list)
    assert (len(rows), len(errors)) == (5, 8)
    assert isinstance(warnings, list)
    unfit, malformed = warnings
    assert unfit == f"{tmp_path}/c.csv has no column q of stream c: it is NULL in every row"
    assert malformed.startswith("more than half of the first rows are malformed, 5 of 7")
    (tmp_path / "c.csv").write_bytes(b"s,n\n1,2\n")
    with pytest.raises(RunError, match=r"c.csv has no column of stream c.*delimiter = ','"):
        query.run(tmp_path, on_errors=lambda _: None)


def test_settings_of_spark_are_those_of_the_run(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n')
    text = "CREATE STREAM s (n INT) WITH (path = 'a.jsonl'); SELECT n FROM s"
    name, seen = "spark.sql.streaming.minBatchesToRetain", list[str | None]()

    def show(rows: object) -> None:
        seen.append(spark.conf.get(name))

    before = spark.conf.get(name)
    sqlwin.spark.query(spark, f"SET '{name}' = '7'; {text}").run(tmp_path, show=show)
    assert (seen, spark.conf.get(name)) == (["7"], before)
    with pytest.raises(InputError, match="cores cannot be 7 in a session that runs"):
        sqlwin.spark.query(spark, f"SET 'spark.executor.cores' = '7'; {text}").run(tmp_path)
