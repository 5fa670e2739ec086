"""SELECT … FROM 'rides.csv': the schema is inferred, wherever a text is bound."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.cli import main
from sqlwin.errors import QueryError
from sqlwin.inference.declared import inferred_from
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.sql import script

CSV = """\
zone,fare,ts
north,3.5,2024-01-01T09:00:10Z
south,4,2024-01-01T09:00:40Z
north,7,2024-01-01T09:00:20Z
"""
TOTALS = """
SELECT zone, SUM(fare) AS fares
FROM TUMBLE(TABLE '{}', DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY zone, window_start, window_end"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rides.csv").write_text(CSV)
    folder = Path("folder")
    folder.mkdir()
    rows = pl.read_csv("rides.csv")
    rows[:2].write_ndjson("folder/a.jsonl")
    rows[2:].write_ndjson("folder/b.jsonl")
    rows.with_columns(pl.col("ts").str.to_datetime(time_zone="UTC")).write_parquet("rides.parquet")


@pytest.mark.parametrize("path", ["rides.csv", "folder", "folder/*.jsonl", "rides.parquet"])
def test_of_each_format(path: str) -> None:
    assert _run(TOTALS.format(path)) == [("north", 10.5), ("south", 4.0)]


def _run(text: str, **options: object) -> list[tuple[object, ...]]:
    shown: list[pl.DataFrame] = []
    sqlwin.run(text, show=shown.append, **options)  # type: ignore[arg-type]
    return sorted(row[:2] for rows in shown for row in rows.iter_rows())


def test_a_path_is_relative_to_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert _run(TOTALS.format("rides.csv"), base=tmp_path) == [("north", 10.5), ("south", 4.0)]
    with pytest.raises(QueryError, match=r"no file matches rides\.csv"):
        sqlwin.explain(TOTALS.format("rides.csv"))


def test_the_stream_has_the_name_of_the_file() -> None:
    joined = "'rides.csv' JOIN 'rides.parquet' AS r ON rides.ts = r.ts"
    text = f"SELECT rides.zone, r.zone AS z FROM {joined}"
    asked = script(text, infer=inferred_from(Path()))
    read = asked.source_text
    assert read is not None
    assert [stream.name for stream in read.streams] == ["rides", "rides_2"]


def test_the_watermark_is_the_one_that_infer_proposes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sql").write_text(TOTALS.format("rides.csv"))
    assert main(["explain", "q.sql"]) == 0
    assert "ts less 20 seconds" in capsys.readouterr().out
    assert main(["check", "q.sql"]) == 0
    assert main(["run", "q.sql", "--engine", "embedded", "--output", "csv"]) == 0
    assert "north,10.5" in capsys.readouterr().out


def test_a_checkpoints_text_is_bound_without_the_file() -> None:
    asked = script(TOTALS.format("rides.csv"), infer=inferred_from(Path()))
    Path("rides.csv").unlink()
    assert asked.source_text is not None
    stored = SourceText.load(asked.source_text.dump())
    again = script(stored.text, {stream.name: stream for stream in stored.streams})
    assert again.queries[0].plan == asked.queries[0].plan


def test_rows_can_be_pushed_in_its_shape() -> None:
    query = sqlwin.query(TOTALS.format("rides.csv"))
    query.push("rides", [{"zone": "east", "fare": 2.0, "ts": "2024-01-01T09:00:10Z"}])
    query.drain()
    assert query.table()["fares"].to_pylist() == [2.0]


def test_a_stream_that_was_declared_over_the_file_is_another() -> None:
    declared = "CREATE STREAM taps (zone STRING) WITH (path = 'rides.csv', format = 'csv');"
    (taps,) = script(declared).streams
    infer = inferred_from(Path())
    asked = script("SELECT fare FROM 'rides.csv'", {"taps": taps}, infer=infer)
    assert asked.source_text is not None
    stored = SourceText.load(asked.source_text.dump()).streams
    assert [(each.name, each.inferred) for each in stored] == [("taps", False), ("rides", True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT a FROM 'none.csv'", "no file matches none.csv"),
        ("CREATE STREAM s (n INT); SELECT n FROM 's'", "FROM s, without quotes"),
        ("SELECT n FROM 'timeless.csv' OVER (RANGE INTERVAL '1' HOUR PRECEDING)", "no column of"),
        ("SELECT r.zone FROM 'rides.csv'; CREATE STREAM rides (n INT)", "rides exists already"),
        ("SELECT __n FROM 'own.csv'", "sqlwin's own"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    Path("timeless.csv").write_text("n\n1\n")
    Path("own.csv").write_text("__n\n1\n")
    with pytest.raises(QueryError) as refused:
        script(text.replace("r.zone", "zone"), infer=inferred_from(Path()))
    assert message in str(refused.value)


def test_nothing_is_read_where_nobody_reads() -> None:
    with pytest.raises(QueryError, match="no files are read here"):
        script("SELECT a FROM 'rides.csv'")
