"""The benchmark beside Flink, but for Flink: what it is told, and what is made of its times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.answers import counted, differences
from bench.data import Data, generated, paired
from bench.flink import beside
from bench.flink.contenders import (
    DUCKDB,
    ENGINES,
    FLINK,
    SPARK,
    SQLWIN,
    Contender,
    Limits,
    Measured,
    contenders,
    of_jobs,
    warm_parts,
)
from bench.flink.install import Missing, jars
from bench.flink.layout import laid_out
from bench.flink.memory import watched
from bench.flink.queries import FLINK as TEXTS
from bench.flink.queries import HOP, NEAR, QUERIES, ROWS
from bench.flink.table import BEGIN, Beside, Row, cells, load, write_docs
from bench.flink.tables import SETUPS, TYPES, checkpoints, insert, reading, settings, sink, sources
from bench.queries import OVER, TUMBLE, Query
from bench.report import END, save
from bench.run import Failed, RunSpec, answer

COUNT, FILE_ROWS, RATE = 8_000, 1_000, 60.0


def _data(query: Query, folder: Path) -> Data:
    made = paired if query.paired else generated
    return made("zipf", COUNT, folder, FILE_ROWS, RATE)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_each_query_is_answered_as_duckdb_does(query: Query, tmp_path: Path) -> None:
    data, results = _data(query, tmp_path), tmp_path / "results"
    spec = RunSpec("embedded", query.name, data, 1, results=str(results))
    outcome = answer(spec, QUERIES)
    counted(spec, query, outcome)
    assert differences(query, data, results) == 0


def test_results_that_are_missing_are_told(tmp_path: Path) -> None:
    spec = RunSpec("embedded", HOP.name, _data(HOP, tmp_path), 1, results=str(tmp_path / "results"))
    outcome = answer(spec, QUERIES)
    with pytest.raises(Failed, match="hop over zipf keys"):
        counted(spec, TUMBLE, outcome)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_flink_is_told_each_query(query: Query, tmp_path: Path) -> None:
    assert set(query.columns) <= set(TYPES)
    assert insert(query).startswith("INSERT INTO answers SELECT ")
    assert "'connector' = 'blackhole'" in sink(query, None)
    assert f"'path' = '{tmp_path.as_uri()}'" in sink(query, tmp_path)
    assert TEXTS.keys() == QUERIES.keys()


def test_a_stream_is_a_table_with_a_watermark(tmp_path: Path) -> None:
    one, other = sources([tmp_path / "a", tmp_path / "b"])
    assert one.startswith("CREATE TABLE events (key BIGINT, `value` BIGINT, ts TIMESTAMP(3), ")
    assert "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND" in one
    assert other.startswith("CREATE TABLE others ")
    assert f"'path' = '{(tmp_path / 'b').as_uri()}'" in other


def test_setups() -> None:
    found = {name: settings(setup, 2) for name, setup in SETUPS.items()}
    states = {name: found[name]["state.backend.type"] for name in found}
    assert states["heap"] == states["heap-tuned"] == "hashmap"
    assert states["rocksdb"] == states["rocksdb-tuned"] == "rocksdb"
    assert "pipeline.object-reuse" not in found["heap"]
    assert found["heap-tuned"]["table.exec.mini-batch.enabled"] == "true"
    assert {each["parallelism.default"] for each in found.values()} == {"2"}


def test_checkpoints_are_taken_where_asked(tmp_path: Path) -> None:
    assert checkpoints(0, tmp_path) == {}
    found = checkpoints(2.5, tmp_path)
    assert found["execution.checkpointing.interval"] == "2.5 s"
    assert found["execution.checkpointing.dir"] == tmp_path.as_uri()


def test_flinks_answer_is_read_as_it_writes_it(tmp_path: Path) -> None:
    """Its CSV: no header, blanks in instants, quotes around them, a part by each subtask."""
    data, results = _data(NEAR, tmp_path), tmp_path / "results"
    results.mkdir()
    assert differences(NEAR, data, _as_csv(NEAR, data, results), reading(NEAR)) == 0
    part = results / "part-0"
    part.write_text(part.read_text(encoding="utf-8").replace(",", ",1", 1), encoding="utf-8")
    assert differences(NEAR, data, results, reading(NEAR)) == 2


def _as_csv(query: Query, data: Data, results: Path) -> Path:
    import duckdb

    answered = results.with_name("parquet")
    answer(RunSpec("embedded", query.name, data, 1, results=str(answered)), QUERIES)
    named = ", ".join(
        f"strftime({name}, '%Y-%m-%d %H:%M:%S.%g') AS {name}" if "TIME" in TYPES[name] else name
        for name in query.columns
    )
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(f"""
            COPY (SELECT {named} FROM read_parquet('{answered}/**/*.parquet'))
            TO '{results}/part-0' (FORMAT csv, HEADER false)""")
    return results


def test_rows_whose_frame_depends_on_the_order_of_peers_are_not_compared(tmp_path: Path) -> None:
    """Rows 1 and 2 have one instant: what the first of them counts is theirs to choose."""
    instants = ["00:00:01.000", "00:00:02.000", "00:00:02.000", "00:00:03.000"]
    rows = [f"7,{at},2024-01-01T{instant}Z" for at, instant in enumerate(instants)]
    (tmp_path / "part-00000.csv").write_text("\n".join(["key,value,ts", *rows]), encoding="utf-8")
    results = tmp_path / "results"
    results.mkdir()
    answers = [
        "7,2024-01-01 00:00:01.000,0,0,1,0,0.0",
        "7,2024-01-01 00:00:02.000,1,3,3,2,1.0",
        "7,2024-01-01 00:00:02.000,2,2,2,2,1.0",
        "7,2024-01-01 00:00:03.000,3,6,4,3,1.5",
    ]
    (results / "part-0").write_text("\n".join(answers), encoding="utf-8")
    data = Data("zipf", 4, 4, 1.0, 0, str(tmp_path))
    assert differences(ROWS, data, results, reading(ROWS)) == 0
    answers[3] = answers[3].replace(",6,", ",5,")
    (results / "part-0").write_text("\n".join(answers), encoding="utf-8")
    assert differences(ROWS, data, results, reading(ROWS)) == 2


def test_a_file_for_each_reader_in_the_order_of_time(tmp_path: Path) -> None:
    data = generated("zipf", 5_000, tmp_path, FILE_ROWS, RATE)
    folder = laid_out(Path(data.folder), 2)
    files = [path.read_text(encoding="utf-8").splitlines() for path in sorted(folder.iterdir())]
    assert [len(lines) for lines in files] == [3_001, 2_000]
    given = [line for path in data.files for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [line for line in given if line != "key,value,ts"]
    assert files[0][0] == rows[0].replace("T", " ").removesuffix("Z")
    assert files[1][0] == rows[FILE_ROWS].replace("T", " ").removesuffix("Z")
    assert sum(map(len, files)) == len(rows)
    assert laid_out(Path(data.folder), 2) == folder, "made once"
    few = laid_out(Path(data.folder), 2, parts=2)
    assert (
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in few.iterdir()) == 2_000
    )


def test_no_rows_are_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no rows in"):
        laid_out(tmp_path, 2)


def test_flink_and_sqlwin_take_turns_and_limits_come_last() -> None:
    found = contenders(TUMBLE, ENGINES, [100, 1_000, 2_500], 5_000)
    engines = [each.engine for each in found]
    assert engines[:6] == [FLINK, SQLWIN] * 3
    assert engines[6:] == [FLINK, SPARK, DUCKDB]
    assert [each.batch for each in found if each.engine == SQLWIN] == [100, 1_000, 2_500]


def test_a_rate_needs_two_batches() -> None:
    found = contenders(TUMBLE, [SQLWIN], [100, 1_000, 2_500], 2_000)
    assert [each.batch for each in found] == [100, 1_000]


def test_spark_has_no_frames() -> None:
    assert SPARK not in {each.engine for each in contenders(OVER, ENGINES, [100], 1_000)}


def test_a_tenth_of_the_rows_warms_flink(tmp_path: Path) -> None:
    data = generated("zipf", 40_000, tmp_path, FILE_ROWS, RATE)
    assert warm_parts(data, Limits(cores=2)) == 4
    assert warm_parts(data, Limits(cores=8)) == 8


def test_the_run_that_warms_does_not_count_but_its_limit_does() -> None:
    assert of_jobs([(10, 0.1), (100, 2.0), (100, 1.0)], 9.0) == Measured(100, 100.0)
    assert of_jobs([(10, 0.1), (100, 2.0), (100, None)], 9.0) == Measured(100, 50.0)
    assert of_jobs([(10, None)], 5.0) == Measured(10, 2.0, slower=True)


def test_the_better_of_two_rounds() -> None:
    one, two = Measured(10, 5.0, peak=9), Measured(10, 4.0, peak=11)
    assert one.better(two) == two.better(one) == Measured(10, 5.0, peak=11)
    bound = Measured(10, 99.0, slower=True)
    assert bound.better(one) == one


def _beside(*measured: tuple[str, Measured]) -> Beside:
    rows = [Row("median", "zipf", Contender(name, name, batch=7), one) for name, one in measured]
    return Beside("a machine", "some rows", tuple(rows), ("one that failed",))


def test_the_table_on_the_page(tmp_path: Path) -> None:
    found = _beside(
        (FLINK, Measured(10, 50.0, peak=2_000_000_000)),
        (FLINK, Measured(10, 90.0, slower=True)),
        (SQLWIN, Measured(10, 125.0)),
    )
    page, result = tmp_path / "page.md", tmp_path / "result.json"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    save(found, result)
    assert load(result) == found
    write_docs(result, page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| 50 | 1.00 | 2,000 |" in text
    assert "| below 90 | below 1.80 |  |" in text
    assert "| 125 | 2.50 |  |" in text
    assert "PERCENTILE(value, 0.5)" in text
    assert "- Left out: one that failed" in text


def test_a_page_without_the_mark_is_left(tmp_path: Path) -> None:
    page, result = tmp_path / "page.md", tmp_path / "result.json"
    page.write_text("before\n", encoding="utf-8")
    save(_beside(), result)
    with pytest.raises(ValueError, match="has no line <!-- table"):
        write_docs(result, page)
    assert page.read_text(encoding="utf-8") == "before\n"


def test_ratios_where_flink_was_not_through() -> None:
    found = _beside((FLINK, Measured(10, 50.0, slower=True)), (SQLWIN, Measured(10, 1_250.0)))
    assert [row[6] for row in cells(found.rows)] == ["", "above 25"]


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nothing is measured: all have 10 rows/s but RocksDB, which fails. The file of the result."""

    def measured(who: Contender, *_: object) -> Measured:
        if who.way == "rocksdb":
            raise Failed("no disk\nat all")
        return Measured(100, 10.0)

    monkeypatch.setattr(beside, "BUILD", tmp_path)
    monkeypatch.setattr(beside, "measured", measured)
    return tmp_path / "flink.json"


def _run(result: Path, query: str, *more: str) -> Beside:
    asked = ["--rows", "4000", "--batches", "1000", "--result", str(result), "--queries", query]
    return beside.run(beside.options().parse_args([*asked, *more]))


def test_what_fails_is_left_out_and_told(canned: Path) -> None:
    found = _run(canned, "hop")
    assert {row.contender.engine for row in found.rows} == {*ENGINES}
    assert "rocksdb" not in {row.contender.way for row in found.rows}
    assert found.failed == (f"Flink SQL, RocksDB, {HOP.title}, zipf keys: no disk",)
    assert load(canned) == found


def test_queries_can_be_added_to_the_last_result(canned: Path) -> None:
    _run(canned, "hop")
    _run(canned, "over", "--shapes", "uniform")
    assert {row.query for row in load(canned).rows} == {"over"}
    _run(canned, "over", "--shapes", "zipf", "--add")
    _run(canned, "tumble", "--add")
    found = [(row.query, row.shape) for row in load(canned).rows]
    assert list(dict.fromkeys(found)) == [("tumble", "zipf"), ("over", "zipf"), ("over", "uniform")]


def test_flink_that_cannot_be_had_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(Missing, match=r"could not install apache-flink-libraries==0: .*copy its"):
        jars(tmp_path / "flink", "apache-flink-libraries==0")


HUNGRY = "import time; kept = bytearray(b'x' * 60_000_000); time.sleep(2)"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are read from /proc")
def test_the_memory_of_grandchildren_counts() -> None:
    with watched() as peak:
        subprocess.run([sys.executable, "-c", PARENT, HUNGRY], check=True)
    assert peak.bytes is not None
    assert 60_000_000 < peak.bytes < 200_000_000
