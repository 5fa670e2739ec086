"""`sqlwin infer`: what it prints reads the file, every row of it."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime, timezone
from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.cli import main
from sqlwin.inference.inferred import Inferred
from sqlwin.shell.words import keywords
from sqlwin.sql import script
from sqlwin.sql.sources.files import name_of

CSV = """\
zone,fare,rides,ts,day,paid,note,order
north,3.5,1,2024-01-01T09:00:10Z,2024-01-01,true,,1
south,4,2,2024-01-01T09:00:40Z,2024-01-02,false,"a, b",2
north,,3,2024-01-01T09:00:20Z,,true,7,3
"""
DECLARED = """\
CREATE STREAM rides (
  zone STRING,
  fare DOUBLE,
  rides BIGINT,
  ts TIMESTAMP,
  day DATE,
  paid BOOLEAN,
  note STRING,
  `order` BIGINT,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH (connector = 'files', path = 'rides.csv', format = 'csv');
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def inferred(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["infer", *arguments]) == 0
    return capsys.readouterr().out


def rows_of(ddl: str, name: str) -> list[tuple[object, ...]]:
    """Of the stream, read in process; a malformed one would be an error."""
    found: list[pl.DataFrame] = []
    sqlwin.run(f"{ddl}SELECT * FROM {name}", show=found.append, max_errors=0)
    return pl.concat(found).drop("op", "emit", "revision", "row_key").rows()


def test_a_csv_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rides.csv").write_text(CSV)
    ddl = inferred(capsys, "rides.csv")
    assert ddl == DECLARED
    first = datetime(2024, 1, 1, 9, 0, 10, tzinfo=timezone.utc)
    rows = rows_of(ddl, "rides")
    assert ("north", 3.5, 1, first, date(2024, 1, 1), True, None, 1) in rows
    assert len(rows) == 3


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter(delimiter: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(f"a{delimiter}b\n1{delimiter}x,y\n")
    ddl = inferred(capsys, "a.csv", "--name", "rows_of_it")
    assert rows_of(ddl, "rows_of_it") == [(1, "x,y")]


def test_json_lines_of_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    """Texts stay texts; a number is whole only if it is so in all files that were looked into."""
    Path("in").mkdir()
    rows = [{"id": "7", "v": 1, "deep": {"a": 1}}, {"id": "8", "v": 2.5, "deep": None, "b": False}]
    for at, row in enumerate(rows):
        Path(f"in/{at}.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode() + b"\n"))
    ddl = inferred(capsys, "in")
    assert "  id STRING,\n  v DOUBLE,\n  deep STRING,\n  b BOOLEAN\n" in ddl
    assert sorted(rows_of(ddl, "in")) == [("7", 1.0, '{"a": 1}', None), ("8", 2.5, None, False)]


def test_parquet(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame(
        {"n": [1, 2], "at": [datetime(2024, 1, 1), datetime(2024, 1, 2)], "s": ["a", None]},
        schema_overrides={"n": pl.UInt32},
    )
    frame.write_parquet("rows.parquet")
    ddl = inferred(capsys, "rows.parquet")
    assert "  n BIGINT,\n  at TIMESTAMP,\n  s STRING,\n  WATERMARK FOR at AS at\n" in ddl
    assert [row[0] for row in rows_of(ddl, "rows")] == [1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no file matches none.csv"), (b"", "has no columns"), (b"\x1f\x8b0", "cannot read")],
)
def test_mistakes(content: bytes | None, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        Path("none.csv").write_bytes(content)
    assert main(["infer", "none.csv"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("word", keywords())
def test_names_that_are_keywords(word: str) -> None:
    made = Inferred("a.csv", "csv", {"n": "BIGINT", word: "TIMESTAMP"}, word, behind=1)
    (stream,) = script(made.ddl(word)).streams
    assert (stream.name, stream.ts) == (word, word)


@pytest.mark.parametrize("path", ["2024 rides.csv", "a.b.csv"])
def test_a_stream_is_called_as_from_calls_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(path).write_text("n\n1\n")
    assert inferred(capsys, path).startswith(f"CREATE STREAM {name_of(path)} (")


MESSY = """\
Trip Id,Pickup Zone,Fare (EUR),Picked Up At
1,Mitte,12.5,01/02/2024 09:01:00
2,Kreuzberg,8.0,01/02/2024 09:04:30
3,Mitte,"7,5",01/02/2024 09:12:10
4,Mitte,20.0,01/02/2024 09:07:00
5,Wedding,11.0,01/02/2024 09:15:00
6,Mitte,9.0,not a time
7,Mitte,4.0
"""


def test_a_text_that_is_a_time_in_another_format_gives_the_event_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taxi trips.csv").write_text(MESSY, encoding="utf-8")
    assert main(["infer", "taxi trips.csv"]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "CREATE STREAM taxi_trips (\n"
        "  `Trip Id` BIGINT,\n"
        "  `Pickup Zone` STRING,\n"
        "  `Fare (EUR)` STRING,\n"
        "  `Picked Up At` STRING,\n"
        "  event_time AS TO_TIMESTAMP(`Picked Up At`, 'dd/MM/yyyy HH:mm:ss'),\n"
        "  WATERMARK FOR event_time AS event_time - INTERVAL '310' SECOND\n"
        ") WITH (connector = 'files', path = 'taxi trips.csv', format = 'csv');\n"
    )
    assert said.err == (
        "note: `Fare (EUR)` is STRING for 1 odd value; declared DOUBLE, such rows go to the error "
        "stream\n"
    )


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("12/31/2024 09:01", "MM/dd/yyyy HH:mm"),
        ("31.12.2024 09:01:02", "dd.MM.yyyy HH:mm:ss"),
        ("2024/12/31 09:01:02", "yyyy/MM/dd HH:mm:ss"),
        ("31-Dec-2024 09:01:02", "dd-MMM-yyyy HH:mm:ss"),
        ("12/31/2024 09:01:02 PM", "MM/dd/yyyy hh:mm:ss a"),
    ],
)
def test_the_format_that_is_found_is_one_that_to_timestamp_reads(
    text: str, pattern: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"at": "{text}", "event_time": 1}}\n', encoding="utf-8")
    assert main(["infer", str(file)]) == 0
    ddl = capsys.readouterr().out
    assert f"event_time_1 AS TO_TIMESTAMP(at, '{pattern}')" in ddl
    q = sqlwin.query(ddl + "SELECT event_time_1 AS at FROM rows")
    q.push("rows", [{"at": text, "event_time": 1}])
    (row,) = q.results().to_pylist()
    assert row["at"].strftime("%Y-%m-%d %M") == "2024-12-31 01"


def test_a_look_at_a_file_shows_its_own_columns_alone(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text(MESSY, encoding="utf-8")
    assert "event_time" not in sqlwin.explain("SELECT * FROM 'trips.csv'", base=tmp_path)
