"""The command line: what it prints where, and how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.running.progress import Progress

DECLARED = """
CREATE STREAM orders (
  product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
"""
SELECT = """
SELECT product, window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start
"""
FIRST = [
    '{"product": "tea", "value": 1, "ts": "2024-01-01T09:00:10Z"}',
    '{"product": "tea", "value": 2, "ts": "2024-01-01T09:00:20Z"}',
    '{"product": "tea", "value": "x", "ts": "2024-01-01T09:00:20Z"}',
]
SECOND = ['{"product": "tea", "value": 4, "ts": "2024-01-01T09:00:30Z"}']


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "orders").mkdir()
    land(tmp_path, "1", FIRST)
    (tmp_path / "q.sql").write_text(DECLARED + SELECT)
    return tmp_path


def land(home: Path, name: str, lines: list[str]) -> None:
    (home / "orders" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def sqlwin(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_json_is_one_object_a_row(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sqlwin("run", home / "q.sql", "--engine", "embedded", "--output", "json") == 0
    out, err = capsys.readouterr()
    assert rows(out) == [
        {
            "product": "tea",
            "window_start": "2024-01-01T09:00:00Z",
            "total": 3,
            "op": "+I",
            "emit": "full",
            "revision": 0,
            "row_key": '["tea","2024-01-01T09:00:00Z","2024-01-01T09:01:00Z"]',
        }
    ]
    assert "malformed: value is 'x', not a BIGINT" in err
    assert "done: 3 rows read, 1 results" in err


def test_a_reader_that_has_enough(home: Path) -> None:
    parsed = [sys.executable, "-m", "sqlwin.cli", "run", str(home / "q.sql")]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*parsed, "--engine", "embedded"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=buffered,
    )
    os.close(write)
    assert (done.returncode, "BrokenPipe" in done.stderr) == (0, False), done.stderr


def test_csv_and_table(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sqlwin("run", home / "q.sql", "--engine", "embedded", "--output", "csv") == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header == "product,window_start,total,op,emit,revision,row_key"
    assert row.startswith("tea,2024-01-01T09:00:00Z,3,+I,full,0,")
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["product", "window_start", "total", "op", "emit", "revision"]
    assert row.split() == ["tea", "2024-01-01T09:00:00Z", "3", "+I", "full", "0"]


def test_a_checkpoint_keeps_windows_open_until_a_drain(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--output", "json")
    kept = ("--checkpoint", home / "state")
    assert sqlwin(*parsed, *kept) == 0
    assert capsys.readouterr().out == ""
    land(home, "2", SECOND)
    assert sqlwin(*parsed, *kept, "--drain") == 0
    out, err = capsys.readouterr()
    assert [row["total"] for row in rows(out)] == [7]
    assert "done: 1 rows read" in err


def test_a_mistake_exits_2_with_a_caret(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text(DECLARED + SELECT.replace("SUM(value)", "SUM(valeu)"))
    for command in ("run", "check", "explain"):
        assert sqlwin(command, home / "q.sql") == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "valeu" in err
        assert "^^^^^" in err
        assert "Traceback" not in err


def test_a_failure_exits_1(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    big = f'{{"product": "tea", "value": {2**63 - 1}, "ts": "2024-01-01T09:00:10Z"}}'
    land(home, "1", [big, big])
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 1
    assert "failed: total leaves the range of its type" in capsys.readouterr().err


def test_what_is_wrong_with_the_call(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sqlwin("run", home / "none.sql") == 2
    assert "cannot read" in capsys.readouterr().err
    assert sqlwin("run", home / "q.sql", "--param", "x") == 2
    assert "--param 'x' is not name=value" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        sqlwin("exlpain", home / "q.sql")
    said = capsys.readouterr().err
    assert "there is no command exlpain; did you mean explain?\nlegal: run, explain, " in said
    assert sqlwin() == 2
    assert "write a first project" in capsys.readouterr().err


def test_parameters(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text(DECLARED + SELECT.replace("GROUP", "WHERE value > :least GROUP"))
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--output", "json")
    assert sqlwin(*parsed, "--param", "least=1") == 0
    assert [row["total"] for row in rows(capsys.readouterr().out)] == [2]
    assert sqlwin(*parsed) == 2
    assert "least" in capsys.readouterr().err


def test_sinks_are_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for format_, suffix in (("json", "jsonl"), ("csv", "csv"), ("parquet", "parquet")):
        sink = f"CREATE SINK out WITH (connector = 'files', path = 'out', format = '{format_}');"
        (home / "q.sql").write_text(DECLARED + sink + "INSERT INTO out" + SELECT)
        assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 0
        assert capsys.readouterr().out == ""
        [file] = (home / "out").glob(f"*.{suffix}")
        assert file.stat().st_size > 0


def test_bad_sources_and_sinks_are_mistakes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for old, new, named in (
        ("'files'", "'pigeons'", "pigeons"),
        ("'json'", "'xml'", "xml"),
        ("path = 'orders/*.jsonl', ", "", "path"),
    ):
        (home / "q.sql").write_text(DECLARED.replace(old, new) + SELECT)
        assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 2
        assert named in capsys.readouterr().err


def test_check_and_explain(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sqlwin("check", home / "q.sql") == 0
    assert "1 query, no mistakes" in capsys.readouterr().out
    assert sqlwin("explain", home / "q.sql") == 0
    assert "WindowAggregate tumbling 1 minute" in capsys.readouterr().out


FILED = "CREATE SINK o WITH (connector = 'files', path = 'out', format = 'csv'); INSERT INTO o "


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        (
            "'files', path = 'orders",
            "'pigeons', path = 'orders",
            "stream orders has an unknown connector 'pigeons'",
        ),
        ("'json'", "'xml'", "stream orders has an unknown format 'xml'"),
        ("path = 'orders/*.jsonl', ", "", "stream orders needs an option 'path'"),
        ("'json'", "'json', evnts = 3", "stream orders has an unknown option 'evnts'"),
        (
            "'files', path = 'orders/*.jsonl', format = 'json'",
            "'nexmark', table = 'x'",
            "an option 'table' that cannot be 'x'",
        ),
        ("'files', path = 'out'", "'pigeons', path = 'out'", "sink o has an unknown connector"),
        ("path = 'out', ", "", "sink o needs an option 'path'"),
        ("'csv'", "'xml'", "sink o has an unknown format 'xml'"),
        ("'csv'", "'csv', evnts = 3", "sink o has an unknown option 'evnts'"),
    ],
)
def test_mistakes_in_options_are_reported_as_by_a_run(
    command: str, old: str, new: str, reported: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DECLARED + FILED + SELECT).replace(old, new)
    assert text != DECLARED + FILED + SELECT
    (home / "q.sql").write_text(text)
    assert sqlwin(command, home / "q.sql") == 2
    error = capsys.readouterr().err
    assert reported in error
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 2
    assert capsys.readouterr().err == error


def test_options_are_read_and_nothing_is_opened(home: Path) -> None:
    text = (DECLARED + FILED + SELECT).replace("orders/*", "nowhere/*")
    (home / "q.sql").write_text(text)
    assert sqlwin("check", home / "q.sql") == sqlwin("explain", home / "q.sql") == 0
    assert not (home / "out").exists()


@pytest.mark.parametrize(
    "path", ["none.jsonl", "orders/9.jsonl", "none", "/none/here.jsonl", "a" * 300]
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_file_that_is_not_there_is_a_mistake(
    home: Path, capsys: pytest.CaptureFixture[str], path: str, command: str
) -> None:
    (home / "q.sql").write_text((DECLARED + SELECT).replace("orders/*.jsonl", path))
    engine = ["--engine", "embedded"] if command == "run" else []
    assert sqlwin(command, home / "q.sql", *engine) == 2
    under = "" if path.startswith("/") else f"; it is relative to {home}"
    assert capsys.readouterr().err == f"error: no file matches {path} of orders{under}\n"


def test_a_pattern_may_match_later(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text((DECLARED + SELECT).replace("orders/*", "later/*"))
    reported = f"no file matches later/*.jsonl of orders; it is relative to {home}\n"
    assert sqlwin("check", home / "q.sql") == 0
    assert capsys.readouterr().out.endswith(f"warning: {reported}")
    parsed = ("run", home / "q.sql", "--engine", "embedded")
    assert sqlwin(*parsed) == 2
    assert capsys.readouterr().err == f"error: {reported}"
    kept = ("--checkpoint", home / "state")
    assert sqlwin(*parsed, *kept) == 2
    assert capsys.readouterr().err == f"error: {reported}"
    (home / "later").mkdir()
    file = home / "later" / "1.jsonl"
    file.write_text("\n".join(FIRST))
    assert sqlwin(*parsed, *kept) == 0
    file.unlink()  # it was read
    capsys.readouterr()
    assert sqlwin(*parsed, *kept, "--drain", "--output", "json") == 0
    out, err = capsys.readouterr()
    assert [row["total"] for row in rows(out)] == [3]
    assert f"warning: {reported}" in err


MALFORMED = ['{"product": "tea", "value": "many", "ts": "2024-01-01T09:00:10Z"}']


@pytest.mark.parametrize(
    ("allowed", "lines", "code"),
    [
        ("2", FIRST[:1] * 8 + MALFORMED * 2, 0),
        ("1", FIRST[:1] * 8 + MALFORMED * 2, 1),
        ("0", FIRST[:2], 0),
        ("20%", FIRST[:1] * 8 + MALFORMED * 2, 0),
        ("19.9 %", FIRST[:1] * 8 + MALFORMED * 2, 1),
        ("0%", MALFORMED, 1),
        ("1", [*FIRST[:2], '{"product": "tea"}', '{"product": "tea"}'], 0),  # no event time
    ],
)
def test_malformed_rows_may_end_a_run(
    home: Path, capsys: pytest.CaptureFixture[str], allowed: str, lines: list[str], code: int
) -> None:
    land(home, "1", lines)
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--max-errors", allowed)
    assert sqlwin(*parsed) == code
    error = capsys.readouterr().err
    if code == 1:
        at = lines.index(MALFORMED[0])
        assert f"failed: {lines.count(MALFORMED[0])} of {len(lines)} rows are malformed" in error
        assert f"the first: orders 0:{at}: malformed: value is 'many', not a BIGINT" in error
        assert '"value": "many"' in error


def test_malformed_rows_end_a_run_before_they_are_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next run meets them again, and may take them."""
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--checkpoint", home / "state")
    land(home, "2", MALFORMED * 3)
    assert sqlwin(*parsed, "--max-errors", "2") == 1
    assert "batch 1: 3 rows read" in capsys.readouterr().err
    assert sqlwin(*parsed, "--max-errors", "3") == 0
    error = capsys.readouterr().err
    assert "batch 2: 3 rows read" in error
    assert "error stream: 3 rows, malformed" in error


@pytest.mark.parametrize(
    "allowed", ["many", "-1", "101%", "1.5", "%", "", "\N{DEVANAGARI DIGIT FIVE}"]
)
def test_how_many_errors_is_a_count_or_a_percentage(
    home: Path, capsys: pytest.CaptureFixture[str], allowed: str
) -> None:
    assert sqlwin("run", home / "q.sql", f"--max-errors={allowed}", "--engine", "embedded") == 2
    reported = f"--max-errors is a count of rows, or a percentage of them, not {allowed!r}"
    assert reported in capsys.readouterr().err


def test_a_warning_where_most_rows_are_malformed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = "warning: more than half of the first rows are malformed, "
    for lines, many in ((FIRST[:1] + MALFORMED, ""), (FIRST[:1] + MALFORMED * 2, "2 of 3")):
        land(home, "1", lines)
        assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 0
        error = capsys.readouterr().err
        assert (reported in error) == bool(many)
        assert not many or f"{reported}{many}; the first: orders 0:1: malformed: value is" in error


@pytest.mark.parametrize("kept", [True, False])
def test_an_interruption_is_one_line(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    kept: bool,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sqlwin.embedded.run._loop", interrupted)
    parsed = ["run", home / "q.sql", "--engine", "embedded"]
    checkpoint = ["--checkpoint", home / "state"] if kept else []
    assert sqlwin(*parsed, *checkpoint) == 130
    reported = f"state is kept in {home / 'state'}; the same command goes on from there"
    nothing = "nothing is kept; with --checkpoint DIR a run can go on where it was"
    assert capsys.readouterr().err == f"interrupted: {reported if kept else nothing}\n"


def test_check_of_a_script_without_sources(home: Path) -> None:
    policy = " EXPIRED INTO lost"
    declared = "CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts"
    (home / "q.sql").write_text(declared + " AS ts);" + SELECT.rstrip("; \n") + policy)
    assert sqlwin("check", home / "q.sql") == 0


def test_check_warns_of_what_explain_warns_of(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grouped = "SELECT product, COUNT(*) AS n FROM orders GROUP BY product;"
    joined = "SELECT a.value FROM orders a JOIN orders b ON a.product = b.product;"
    chained = f"SELECT MAX(n) AS most FROM ({grouped[:-1]}) g;"
    (home / "q.sql").write_text(DECLARED + grouped + joined + chained)
    assert sqlwin("check", home / "q.sql") == 0
    first, *reported = capsys.readouterr().out.splitlines()
    assert first.endswith("q.sql: 3 queries, no mistakes")
    kept = "the aggregates of every key are kept, so state grows with keys"
    endless = "rows of orders are kept for ever, so state grows until a RETAIN or TTL is given"
    for line in (f"1: {kept}", f"2: {endless}", f"3: g: {kept}"):
        assert f"warning: query {line}" in reported
    assert sqlwin("explain", home / "q.sql") == 0
    explained = capsys.readouterr().out
    assert explained.count("Warning: ") == len(reported)
    for line in reported:
        assert f"Warning: {line.split(': ')[-1]}" in explained


TOP = "SELECT product, value FROM orders QUALIFY RANK() OVER (ORDER BY value DESC) <= 2"


@pytest.mark.parametrize(
    ("query", "reported"),
    [
        (SELECT, "so a row before the greatest ts is late; WATERMARK FOR ts AS ts - INTERVAL"),
        (TOP, "so its rows have no event time: none is too old for a RETAIN, and ties go by"),
        ("SELECT value FROM orders WHERE value > 1", None),  # nothing of it goes by event time
    ],
)
def test_a_stream_without_a_watermark(
    home: Path, capsys: pytest.CaptureFixture[str], query: str, reported: str | None
) -> None:
    def warned(text: str) -> bool:
        lines = [line for line in text.lower().splitlines() if "no watermark" in line]
        begun = f"warning: orders declares no WATERMARK, {reported}".lower()
        assert len(lines) <= 1
        return bool(lines) and lines[0].startswith(begun)

    declared = DECLARED.replace(", WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", "")
    (home / "q.sql").write_text(declared + query)
    assert sqlwin("check", home / "q.sql") == 0
    assert warned(capsys.readouterr().out) == (reported is not None)
    assert sqlwin("explain", home / "q.sql") == 0
    assert warned(capsys.readouterr().out) == (reported is not None)
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 0
    assert warned(capsys.readouterr().err) == (reported is not None)
    (home / "q.sql").write_text(DECLARED + query)
    assert sqlwin("check", home / "q.sql") == 0
    assert not warned(capsys.readouterr().out)


def test_statements_that_only_answer(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text(DECLARED + "SHOW STREAMS; DESCRIBE orders; EXPLAIN " + SELECT)
    assert sqlwin("run", home / "q.sql") == 0
    out = capsys.readouterr().out
    assert "orders (product, value, ts)" in out
    assert "watermark: ts less 5 seconds" in out
    assert "Operator: aggregator" in out


def test_a_file_that_is_no_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_bytes(b"SELECT \xe9 FROM s")
    assert sqlwin("check", home / "q.sql") == 2
    assert capsys.readouterr().err == f"error: {home}/q.sql is not UTF-8 text, at byte 7\n"


def test_a_byte_order_mark_is_no_part_of_the_query(home: Path) -> None:
    (home / "q.sql").write_text("\ufeff" + DECLARED + SELECT, encoding="utf-8")
    assert sqlwin("check", home / "q.sql") == 0


def test_a_script_without_a_query(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text(DECLARED)
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 2
    assert "asks for nothing: it has no SELECT and no INSERT INTO" in capsys.readouterr().err


def test_a_checkpoint_that_is_no_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = home / "state"
    state.write_text("")
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--checkpoint", state)
    assert sqlwin(*parsed) == 1
    assert capsys.readouterr().err.startswith(
        f"failed: cannot keep state in {state}/query-0.sqlite"
    )
    state.unlink()
    state.mkdir()
    (state / "query-0.sqlite").write_text("not a database")
    assert sqlwin(*parsed) == 1
    assert "checkpoint.json is gone, and query-0.sqlite is there" in capsys.readouterr().err


def test_a_checkpoint_of_other_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = home / "state"
    parsed = ("run", home / "q.sql", "--engine", "embedded", "--checkpoint", state)
    assert sqlwin(*parsed) == 0
    (state / "query-0.sqlite").write_text("not a database")
    capsys.readouterr()
    assert sqlwin(*parsed) == 1
    assert "file is not a database" in capsys.readouterr().err


def test_a_sink_that_cannot_be_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sink = "CREATE SINK out WITH (connector = 'files', path = 'q.sql'); INSERT INTO out"
    (home / "q.sql").write_text(DECLARED + sink + SELECT)
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 1
    reported = f"failed: cannot write {home}/q.sql/part-00000001.jsonl: "
    assert capsys.readouterr().err.splitlines()[-1].startswith(reported)


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ("path = 'orders', fromat = 'csv'", "has an unknown option 'fromat'; did you mean format?"),
        (
            "path = 'orders', format = 'csv', delimiter = '||'",
            "stream orders has an option 'delimiter' that cannot be '||'",
        ),
        ("path = ''", "stream orders needs an option 'path'"),
    ],
)
def test_options_that_cannot_be(
    home: Path, capsys: pytest.CaptureFixture[str], options: str, reported: str
) -> None:
    declared = f"CREATE STREAM orders (product STRING) WITH ({options}); SELECT * FROM orders"
    (home / "q.sql").write_text(declared)
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 2
    assert reported in capsys.readouterr().err


def test_a_file_of_another_format(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "q.sql").write_text(DECLARED.replace("'json'", "'parquet'") + SELECT)
    assert sqlwin("run", home / "q.sql", "--engine", "embedded") == 1
    assert f"failed: cannot read {home}/orders/1.jsonl of stream orders" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["json", "csv", "table"])
def test_a_window_that_ends_after_the_year_9999(
    home: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    land(home, "1", ['{"product": "tea", "value": 1, "ts": "9999-12-31T23:59:59Z"}'])
    (home / "q.sql").write_text(DECLARED + SELECT.replace("window_start, SUM", "window_end, SUM"))
    assert sqlwin("run", home / "q.sql", "--engine", "embedded", "--output", output) == 0
    assert "+10000-01-01T00:00:00Z" in capsys.readouterr().out


def test_a_warning_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(sys.stderr)
    for text in ("it looks odd", "it looks odd", "it looks odder"):
        progress.warning(text)
    assert capsys.readouterr().err == "warning: it looks odd\nwarning: it looks odder\n"


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ("spark.cores.max", "is not spark.name=value"),
        ("cores=2", "is not spark.name=value"),
        (
            "spark.sql.session.timeZone=CET",
            "cannot be set: the zone of a script is its SET 'time.zone'",
        ),
        ("spark.cores.max=2", "is of Spark, and the engine is embedded"),
    ],
)
def test_settings_of_spark_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], conf: str, said: str
) -> None:
    (tmp_path / "q.sql").write_text("CREATE STREAM s (n INT) WITH (path = 's'); SELECT n FROM s")
    assert main(["run", str(tmp_path / "q.sql"), "--engine", "embedded", "--conf", conf]) == 2
    assert said in capsys.readouterr().err
