"""Files of folders that WHERE excludes are found and numbered, and not decoded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.plan.properties.folders import folders_read
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.files import source
from sqlwin.runtime.files.folder_filter import FolderFilters
from sqlwin.sql import script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = tuple(f"2024-01-0{day}" for day in range(1, 7))
RIDES = """
CREATE STREAM rides (id INT, fare INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
PARTITIONED BY (day DATE, zone STRING)
WITH (connector = 'files', path = 'rides', format = '{format}');
"""
SELECT = "SELECT id, fare, day, zone FROM rides"
TUMBLE = """SELECT zone, window_start, SUM(fare) AS fares
    FROM TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '1' DAY) {where}
    GROUP BY zone, window_start, window_end"""


def ride(home: Path, day: str, zone: str, format_: str, *fares: Any, name: str = "a") -> Path:
    """A file in its folders, of rides of that day."""
    folder = home / "rides" / f"day={day}" / f"zone={zone}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{format_}"
    known = day in (*DAYS, "2024-01-07", "2024-01-08")
    first, of = (int(day[-2:]) * 10, day) if known else (0, "2024-01-09")
    rows = [
        {"id": first + at, "fare": fare, "ts": f"{of}T0{at}:00:00Z"}
        for at, fare in enumerate(fares)
    ]
    if format_ == "parquet":
        made = pl.DataFrame(rows, schema={"id": pl.Int32, "fare": pl.Int32, "ts": pl.String})
        made.with_columns(pl.col("ts").str.to_datetime(time_zone="UTC")).write_parquet(path)
    elif format_ == "csv":
        lines = ["id,fare,ts", *(f"{row['id']},{row['fare']},{row['ts']}" for row in rows)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def six_days(home: Path, format_: str = "json") -> None:
    for at, day in enumerate(DAYS):
        ride(home, day, "ab"[at % 2], format_, at, at + 1)


class Work:
    """What runs have read, emitted and refused."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[str] = []
        self.rows = 0
        original = source.read

        def read(path: str, number: int, *given: Any, **named: Any) -> Any:
            found = original(path, number, *given, **named)
            self.files.append(Path(path).parts[-3].removeprefix("day="))
            self.rows += len(found.rows) + len(found.errors)
            return found

        monkeypatch.setattr(source, "read", read)

    def run(self, home: Path, text: str, **options: Any) -> tuple[list[Any], list[str]]:
        """Results with their keys and revisions, in their order; reasons of the error stream."""
        results: list[Any] = []
        reasons: list[str] = []

        def seen(batch: Any) -> None:
            results.extend(batch.results.rows())
            reasons.extend(batch.errors["reason"].to_list())

        self.files.clear()
        self.rows = 0
        embedded.run(script(text), RunOptions(home, on_rows=seen, **options))
        return results, reasons


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


def unfiltered(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every folder is read from here on."""
    monkeypatch.setattr(FolderFilters, "of", staticmethod(lambda plan: FolderFilters({})))
    return monkeypatch


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_work_of_a_day(work: Work, tmp_path: Path, format_: str) -> None:
    six_days(tmp_path, format_)
    rides = RIDES.format(format=format_)
    some = work.run(tmp_path, f"{rides} {SELECT} WHERE day >= '2024-01-05' AND fare > 4")[0]
    assert (work.files, work.rows) == (["2024-01-05", "2024-01-06"], 4)
    whole = work.run(tmp_path, f"{rides} {SELECT}")[0]
    assert (work.files, work.rows) == (list(DAYS), 12)
    assert some == [row for row in whole if str(row[2]) >= "2024-01-05" and row[1] > 4]


@pytest.mark.parametrize(
    ("where", "days"),
    [
        ("day = DATE '2024-01-02' AND zone = 'b'", [2]),
        ("day = DATE '2024-01-02' AND zone = 'a'", []),
        ("day IN ('2024-01-02', '2024-01-05')", [2, 5]),
        ("YEAR(day) = 2024 AND DAY(day) % 3 = 0", [3, 6]),
        ("day BETWEEN '2024-01-02' AND '2024-01-03'", [2, 3]),
        ("NOT day > '2024-01-02'", [1, 2]),
        ("day = '2024-01-01' OR zone = 'b'", [1, 2, 4, 6]),
        ("day = '2024-01-01' OR fare > 4", [1, 2, 3, 4, 5, 6]),
        ("day = NULL", []),
        ("CAST(zone AS INT) = 1", [1, 2, 3, 4, 5, 6]),
        ("day < CURRENT_DATE", [1, 2, 3, 4, 5, 6]),
        ("day = CAST(ts AS DATE)", [1, 2, 3, 4, 5, 6]),
        ("TRUE", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_which_folders_are_read(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str, days: list[int]
) -> None:
    six_days(tmp_path)
    text = f"{RIDES.format(format='json')} {SELECT} WHERE {where}"
    some = work.run(tmp_path, text)
    assert work.files == [DAYS[day - 1] for day in days]
    with unfiltered(monkeypatch).context():
        assert some == work.run(tmp_path, text)
    assert len(work.files) == 6


def test_a_folder_without_a_value(work: Work, tmp_path: Path) -> None:
    six_days(tmp_path)
    ride(tmp_path, "__HIVE_DEFAULT_PARTITION__", "a", "json")
    ride(tmp_path, "someday", "a", "json", 7)
    found, reasons = work.run(tmp_path, f"{RIDES.format(format='json')} {SELECT} WHERE day IS NULL")
    assert (work.files, found) == (["__HIVE_DEFAULT_PARTITION__", "someday"], [])
    assert ["day is 'someday', not a DATE" in reason for reason in reasons] == [True]


WINDOWED = [
    TUMBLE.format(where="WHERE day = '2024-01-02'"),
    "SELECT id, SUM(fare) OVER (ORDER BY ts) AS fares FROM rides WHERE day = '2024-01-02'",
    "SELECT a.id, b.fare FROM rides a JOIN rides b ON a.ts = b.ts WHERE a.day = '2024-01-02'",
]


@pytest.mark.parametrize("query", WINDOWED)
def test_rows_that_where_drops_move_the_watermark(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, query: str
) -> None:
    """So all are read where something waits for it."""
    six_days(tmp_path)
    text = RIDES.format(format="json") + query
    options = {"checkpoint": tmp_path / "state"}
    some = work.run(tmp_path, text, **options)
    assert set(work.files) == {*DAYS}
    assert some[0], "windows of the second day are full by rows of the third"
    with unfiltered(monkeypatch).context():
        assert some == work.run(tmp_path, text, checkpoint=tmp_path / "other")


UNTIMED = RIDES.format(format="json").replace(", ts TIMESTAMP, WATERMARK FOR ts AS ts", "")


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("SELECT zone, SUM(fare) AS f FROM rides WHERE day > '2024-01-04' GROUP BY zone", [5, 6]),
        (
            "SELECT COUNT(*) AS n FROM rides OVER (ROWS 2 PRECEDING) WHERE day > '2024-01-04'",
            [1, 2, 3, 4, 5, 6],
        ),
        (f"{SELECT} WHERE day = '2024-01-02' UNION ALL {SELECT} WHERE day = '2024-01-04'", [2, 4]),
        (f"{SELECT} WHERE day = '2024-01-02' UNION ALL {SELECT}", [1, 2, 3, 4, 5, 6]),
        (f"CREATE VIEW v AS {SELECT}; SELECT id FROM v WHERE day = '2024-01-02'", [2]),
    ],
)
def test_a_stream_without_event_time_has_no_watermark(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, query: str, days: list[int]
) -> None:
    six_days(tmp_path)
    some = work.run(tmp_path, UNTIMED + query)
    assert sorted({*work.files}) == [DAYS[day - 1] for day in days]
    with unfiltered(monkeypatch).context():
        assert some == work.run(tmp_path, UNTIMED + query)


def test_what_knows_of_rows_in_other_folders_reads_all() -> None:
    def read(declared: str, query: str = f"{SELECT} WHERE day = '2024-01-02'") -> int:
        return len(folders_read(script(declared + query).queries[0].plan))

    assert read(UNTIMED) == 1
    assert read(UNTIMED.replace("fare INT", "fare INT, OFFSET id")) == 0
    assert read(UNTIMED.replace("path =", "changelog = 'retract', path =")) == 0


TABLE = """
CREATE STREAM orders (id INT, day DATE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (path = 'orders.jsonl');
""" + UNTIMED.replace("STREAM", "TABLE")


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("JOIN rides r ON o.id = r.id WHERE r.day > '2024-01-04'", [5, 6]),
        ("JOIN rides r ON o.id = r.id AND r.day > '2024-01-04' AND r.zone = 'a'", [5]),
        ("LEFT JOIN rides r ON o.id = r.id AND r.day > '2024-01-04'", [5, 6]),
        ("LEFT JOIN rides r ON o.id = r.id WHERE r.day IS NULL", [1, 2, 3, 4, 5, 6]),
        ("LEFT JOIN rides r ON o.id = r.id WHERE o.day > '2024-01-04'", [1, 2, 3, 4, 5, 6]),
        ("JOIN (SELECT * FROM rides WHERE day = '2024-01-02') r ON o.id = r.id", [2]),
        ("LEFT JOIN rides FOR SYSTEM_TIME AS OF o.ts AS r ON o.id = r.id", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_a_table_that_is_looked_up(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, query: str, days: list[int]
) -> None:
    six_days(tmp_path)
    orders = ({"id": at, "day": "2024-01-05", "ts": "2024-01-01T00:00:00Z"} for at in range(70))
    (tmp_path / "orders.jsonl").write_text("".join(json.dumps(o) + "\n" for o in orders), "utf-8")
    text = f"{TABLE} SELECT o.id, r.fare, r.day FROM orders o {query}"
    some = work.run(tmp_path, text)
    rides = [each for each in work.files if each in DAYS]
    assert rides == [DAYS[day - 1] for day in days]
    with unfiltered(monkeypatch).context():
        assert some == work.run(tmp_path, text)


def test_a_lookup_by_a_stream_that_is_partitioned(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its results wait for no watermark, unless RETAIN has rows expire by it."""
    six_days(tmp_path)
    (tmp_path / "zones.csv").write_text("zone,name\na,north\nb,south\n", "utf-8")
    zones = "CREATE TABLE zones (zone STRING, name STRING) WITH (path='zones.csv', format='csv');"
    text = f"""{RIDES.format(format="json")} {zones} SELECT r.id, z.name FROM rides r
        JOIN zones z ON r.zone = z.zone WHERE r.day = '2024-01-02'"""
    for query, days in ((text, [DAYS[1]]), (f"{text} RETAIN INTERVAL '1' HOUR", [*DAYS])):
        some = work.run(tmp_path, query)
        assert [each for each in work.files if each in DAYS] == days
        with unfiltered(monkeypatch).context():
            assert some == work.run(tmp_path, query)


def test_queries_of_a_script_read_each_their_own(
    work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    six_days(tmp_path)
    ride(tmp_path, "2024-01-03", "b", "json", "x", name="b")
    texts = [f"{SELECT} WHERE day = '2024-01-02'", TUMBLE.format(where="WHERE zone = 'a'")]
    both = work.run(tmp_path, RIDES.format(format="json") + "; ".join(texts))
    assert set(work.files) == {*DAYS}
    alone = [work.run(tmp_path, RIDES.format(format="json") + text) for text in texts]
    assert sorted(map(str, both[0])) == sorted(str(row) for found, _ in alone for row in found)
    assert [len(reasons) for _, reasons in alone] == [0, 1]
    assert both[1] == alone[1][1]


def changed(home: Path, run: Callable[[str], Iterable[Any]]) -> None:
    """A run goes on with another WHERE: what was passed over stays so, positions go on."""
    text = RIDES.format(format="json") + SELECT
    six_days(home)
    assert sorted(run(f"{text} WHERE day = '2024-01-02'")) == [20, 21]
    ride(home, "2024-01-02", "b", "json", 5, name="b")
    ride(home, "2024-01-07", "b", "json", 5)
    assert sorted(run(f"{text} WHERE day <> '2024-01-02'")) == [70]
    ride(home, "2024-01-08", "b", "json", 5)
    assert sorted(run(text)) == [80]


def test_a_checkpoint_goes_on_with_another_where(work: Work, tmp_path: Path) -> None:
    def run(text: str) -> list[Any]:
        return [row[0] for row in work.run(tmp_path, text, checkpoint=tmp_path / "state")[0]]

    changed(tmp_path, run)


def rows_of(run: Callable[[str, RunOptions], Any], home: Path, text: str) -> list[Any]:
    shown: list[pl.DataFrame] = []
    run(text, RunOptions(home, home / "state", show=shown.append))
    return pl.concat(shown)["id"].to_list() if shown else []


@pytest.mark.spark
def test_folders_on_spark(tmp_path: Path, spark: SparkSession) -> None:
    """A file that cannot be decoded is in a folder that is not read, and of another query all are
    read. Then runs go on with another WHERE."""
    from sqlwin.errors import SqlwinError
    from sqlwin.spark.run import run

    def on_spark(text: str, options: RunOptions) -> Any:
        return run(script(text), options, spark)

    damaged, going = tmp_path / "damaged", tmp_path / "going"
    six_days(damaged, "parquet")
    ride(damaged, "2024-01-03", "a", "parquet", 3).write_bytes(b"PAR1, or not")
    text = RIDES.format(format="parquet")
    query = f"{SELECT} WHERE day >= '2024-01-05' AND fare > 4"
    assert sorted(rows_of(on_spark, damaged, text + query)) == [51, 60, 61]
    windows = TUMBLE.format(where="WHERE day >= '2024-01-05'")
    with pytest.raises(SqlwinError, match=r"cannot read .*2024-01-03"):
        run(script(f"{text} {query}; {windows}"), RunOptions(damaged), spark)
    going.mkdir()
    changed(going, lambda each: rows_of(on_spark, going, each))
