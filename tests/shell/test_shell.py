"""The shell as a pipe uses it: statements in, answers out, the first mistake ends it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.errors import InputError, QueryError
from sqlwin.inference.declared import inferred_from
from sqlwin.plan.ir.statements import Script
from sqlwin.running.engines import _Spark
from sqlwin.running.progress import Progress
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.shell import words
from sqlwin.shell.declared import Declarations
from sqlwin.shell.looking import look
from sqlwin.shell.reading import read
from sqlwin.shell.session import Session
from sqlwin.shell.splitting import split, whole
from sqlwin.shell.words import declared, keywords, matching

CSV = """\
zone,fare,ts
north,3.5,2024-01-01T09:00:10Z
south,4,2024-01-01T09:01:40Z
north,1,2024-01-01T09:00:20Z
north,,2024-01-01T09:00:30Z
"""
SINK = "connector = 'files', path = 'rides.csv/s', format = 'json'"
TOTALS = """
SELECT zone, COUNT(*) AS n, SUM(fare) AS fares
FROM TUMBLE(TABLE 'rides.csv', DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY zone, window_start, window_end EMIT EARLY ON UPDATE
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rides.csv").write_text(CSV)


def answered(*lines: str, format: str = "csv") -> str:
    session = Session(format=format, out=io.StringIO(), err=io.StringIO())
    read(session, [line + "\n" for line in lines])
    assert isinstance(session.out, io.StringIO)
    return session.out.getvalue()


def test_a_query_sees_what_was_declared_before() -> None:
    said = answered(
        "CREATE STREAM rides (zone STRING, fare DOUBLE) WITH (path = 'rides.csv', format = 'csv');",
        "CREATE VIEW dear AS SELECT zone, fare",
        "FROM rides WHERE fare > 2; -- a comment",
        "SELECT zone AS z FROM dear",
    )
    assert [line.split(",")[0] for line in said.splitlines()] == ["z", "north", "south"]


def test_a_look_is_at_the_last_revisions_sorted() -> None:
    assert (
        answered(f"{TOTALS} ORDER BY n DESC, zone LIMIT 5;")
        == "zone,n,fares\nnorth,3,4.5\nsouth,1,4.0\n"
    )
    assert answered("SELECT fare FROM 'rides.csv' ORDER BY fare;") == 'fare\n""\n1.0\n3.5\n4.0\n'
    assert answered("SELECT zone FROM 'rides.csv' ORDER BY 1 DESC LIMIT 1;") == "zone\nsouth\n"


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("ORDER BY cost", "cost is no column of the result\n  at line 1, column 30"),
        ("ORDER BY zone RETAIN 1 HOUR", "stand behind everything else"),
        ("ORDER BY SQRT(zone)", "cannot be sorted"),
    ],
)
def test_a_look_that_cannot_be_is_pointed_at(clause: str, message: str) -> None:
    with pytest.raises(QueryError) as refused:
        answered(f"SELECT zone FROM 'rides.csv' {clause};")
    assert message in str(refused.value)


def test_only_the_last_clauses_are_a_look() -> None:
    for text in (
        "SELECT SUM(n) OVER (ORDER BY ts ROWS 3 PRECEDING) AS k FROM s",
        "SELECT n FROM (SELECT n FROM s ORDER BY n LIMIT 3)",
        "SELECT 'ORDER BY' AS a FROM s -- LIMIT 3",
        "EXPLAIN SELECT n FROM s ORDER BY n",
        "SELECT DISTINCT ON (k) n FROM s ORDER BY k, n LIMIT 3",
        "SELECT limit FROM s",
        "SELECT n, limit AS most FROM s WHERE n = limit AND limit IS NOT NULL",
    ):
        assert look(text) == (text, None)
    cut = look("SELECT n AS limit FROM s WHERE n < limit OR n = 1 LIMIT 3")[1]
    assert cut is not None and cut.text == "LIMIT 3"


def test_comments_before_a_statement_are_passed_over_in_linear_time() -> None:
    comments = "/* of it */ -- and\n" * 10_000
    known = Declarations()
    assert known.drop(f"{comments}x") is None
    assert look(f"{comments}x LIMIT 3")[1] is None
    assert look(f"{comments}SELECT n FROM s LIMIT 3")[1] is not None
    said = answered(
        f"{comments}CREATE STREAM taps (n BIGINT);",
        "/* all of it */ DROP /* now */ STREAM taps -- and no other\n;",
        "\\d",
    )
    assert said == ""


def test_a_scripts_query_is_not_sorted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sql").write_text("SELECT zone FROM 'rides.csv' ORDER BY zone")
    assert main(["run", "q.sql", "--engine", "embedded"]) == 2
    assert "ORDER BY" in capsys.readouterr().err


def test_following_has_no_end_to_sort_at() -> None:
    with pytest.raises(InputError, match="end of the input"):
        answered("\\follow on", "SELECT zone FROM 'rides.csv' LIMIT 1;")


def test_insert_writes_its_sink() -> None:
    answered(
        "CREATE SINK kept WITH (connector = 'files', path = 'kept', format = 'csv');",
        "INSERT INTO kept SELECT zone FROM 'rides.csv';",
    )
    assert any("south" in file.read_text() for file in Path("kept").iterdir())


def test_the_small_statements() -> None:
    said = answered(
        "CREATE STREAM taps (n BIGINT);",
        "SET buckets = 4; SET buckets = 8;",
        "SHOW STREAMS; DESCRIBE taps; SHOW FUNCTIONS LIKE 'ucas*'; EXPLAIN SELECT n FROM taps;",
        "\\d taps",
    )
    assert "taps (n)\n" in said
    assert said.count("n  BIGINT") == 2
    assert "ucase\n" in said
    assert "Output: screen" in said


def test_what_is_declared_is_listed_and_dropped() -> None:
    declarations = [
        "CREATE STREAM taps (n BIGINT);",
        "CREATE TABLE names (n BIGINT, name STRING) WITH (path = 'names.csv', format = 'csv');",
        "CREATE VIEW big AS SELECT n FROM taps WHERE n > 9;",
        "CREATE SINK kept WITH (connector = 'none');",
    ]
    said = answered(*declarations, "\\d", format="table")
    kinds = [line.split()[1] for line in said.splitlines()]
    assert kinds == ["kind", "stream", "table", "view", "sink"]
    with pytest.raises(InputError, match="taps is still read"):
        answered(*declarations, "DROP STREAM taps;")
    left = answered(
        *declarations, "DROP VIEW big; DROP STREAM taps; DROP STREAM IF EXISTS x;", "\\d"
    )
    assert "taps" not in left
    with pytest.raises(InputError, match="did you mean kept"):
        answered(*declarations, "DROP SINK kep;")


def test_named_results_are_views_and_functions_are_known() -> None:
    said = answered(
        "CREATE STREAM taps (n BIGINT); CREATE FUNCTION twice(x) RETURN x * 2;",
        "CREATE MATERIALIZED VIEW doubled AS SELECT twice(n) AS d FROM taps;",
        "CREATE OR REPLACE TABLE doubled AS SELECT twice(n) AS e FROM taps;",
        "CREATE TABLE IF NOT EXISTS doubled AS SELECT n FROM taps;",
        "SHOW VIEWS;",
    )
    assert said == "doubled (e)\n"
    for dropped in ("MATERIALIZED VIEW", "TABLE", "VIEW"):
        left = answered(
            "CREATE STREAM taps (n BIGINT); CREATE MATERIALIZED VIEW v AS SELECT n FROM taps;",
            f"DROP {dropped} v; CREATE MACRO twice(x) AS x * 2; DROP MACRO twice;",
            "SHOW VIEWS;",
            "\\d",
        )
        assert "v" not in [line.split()[0] for line in left.splitlines() if line.strip()]
        assert "twice" not in left
    with pytest.raises(InputError, match="twice is still read: no function is called twice"):
        answered(
            "CREATE STREAM taps (n BIGINT); CREATE FUNCTION twice(x) RETURN x * 2;",
            "CREATE VIEW doubled AS SELECT twice(n) AS d FROM taps; DROP FUNCTION twice;",
        )
    with pytest.raises(InputError, match="t has a sink, which it would fill"):
        answered(
            "CREATE STREAM taps (n BIGINT);",
            "CREATE TABLE t WITH (connector = 'none') AS SELECT n FROM taps;",
        )


def test_a_mistake_changes_nothing_and_points_into_the_statement() -> None:
    known = Declarations()
    known.add("CREATE STREAM taps (n BIGINT) -- of the doors")
    with pytest.raises(QueryError, match="exists already"):
        known.add("CREATE STREAM taps (m BIGINT)")
    with pytest.raises(QueryError) as refused:
        known.bind("SELECT n\nFROM tapps")
    assert "at line 2, column 6\n  | FROM tapps" in str(refused.value)
    assert [each.name for each in known.all] == ["taps"]


def test_a_view_whose_file_is_gone_is_pointed_at() -> None:
    known = Declarations(inferred_from(Path()))
    known.add("CREATE STREAM taps (n BIGINT);")
    known.add("CREATE VIEW dear AS\n  SELECT fare FROM 'rides.csv'")
    assert declared(known, "") == ["taps", "dear", "n", "fare"]
    Path("rides.csv").unlink()
    with pytest.raises(QueryError) as refused:
        known.bind("SELECT n\nFROM taps")
    assert "at line 2, column 20\n  |   SELECT fare FROM 'rides.csv'\n" in str(refused.value)
    assert declared(known, "") == ["taps", "dear", "n", "fare"]
    words._cached.clear()
    assert declared(known, "") == ["taps", "dear"]
    Path("rides.csv").write_text(CSV)
    assert declared(known, "") == ["taps", "dear", "n", "fare"]


def test_commands_of_its_own() -> None:
    Path("begin.sql").write_text("CREATE STREAM taps (n BIGINT); SHOW STREAMS")
    assert answered("\\i begin.sql") == "taps (n)\n"
    assert "\\follow [on|off]" in answered("\\?")
    assert answered("\\q", "SHOW STREAMS;") == ""
    assert (
        answered("\\format json", "SELECT zone FROM 'rides.csv' LIMIT 1;") == '{"zone": "north"}\n'
    )
    for wrong, message in (
        ("\\x", "there is no command"),
        ("\\engine flink", "legal is embedded, spark"),
        ("\\i", "needs a file"),
        ("\\q now", "takes no argument"),
    ):
        with pytest.raises(InputError, match=message):
            answered(wrong)


@pytest.mark.parametrize("word", ["exit", "QUIT;", " quit ", "\\q"])
def test_what_others_call_the_way_out(word: str) -> None:
    assert answered(word, "SHOW STREAMS;", "SELECT nothing FROM nowhere;") == ""
    assert "\\follow [on|off]" in answered("help")
    assert whole(word)
    assert not whole("SELECT zone,\nexit")


def test_a_list_of_everything_that_is_declared() -> None:
    said = answered(
        "CREATE STREAM taps (n BIGINT); CREATE FUNCTION twice(x BIGINT) RETURN x * 2;",
        "\\d",
        "\\d 'rides.csv'",
    )
    assert said.splitlines() == [
        "name,kind,columns",
        "taps,stream,n BIGINT",
        "twice,function,TWICE(x BIGINT)",
        "CREATE STREAM rides (",
        "  zone STRING,",
        "  fare DOUBLE,",
        "  ts TIMESTAMP,",
        "  WATERMARK FOR ts AS ts - INTERVAL '80' SECOND",
        ") WITH (connector = 'files', path = 'rides.csv', format = 'csv');",
    ]


def test_where_nothing_is_found_it_is_said() -> None:
    session = Session(out=io.StringIO(), err=io.StringIO())
    read(session, ["SHOW STREAMS; SHOW FUNCTIONS LIKE 'nonesuch';\n"])
    assert isinstance(session.out, io.StringIO)
    assert isinstance(session.err, io.StringIO)
    assert (session.out.getvalue(), session.err.getvalue()) == ("", "nothing is found\n" * 2)


def test_exit_codes_are_those_of_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, code in (
        ("SELECT zone FROM 'rides.csv';", 0),
        ("SELECT z FROM 'rides.csv'; SELECT zone FROM 'rides.csv'", 2),
        (f"CREATE SINK s WITH ({SINK}); INSERT INTO s SELECT zone FROM 'rides.csv';", 1),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert main(["shell"]) == code
    assert "error: unknown column z" in capsys.readouterr().err
    assert main(["shell", "-c", "SHOW FUNCTIONS LIKE 'ucase'"]) == 0
    assert capsys.readouterr().out == "ucase\n"


def test_statements_of_the_command_line_have_lines(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\\format json\nSHOW FUNCTIONS\n  LIKE 'ucase';\n\\q\nSHOW FUNCTIONS;"
    assert main(["shell", "-c", text]) == 0
    assert capsys.readouterr().out == "ucase\n"


def piped(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), "latin-1"))


@pytest.mark.parametrize("command", [["shell"], ["run", "-", "--engine", "embedded"]])
def test_a_pipe_brings_utf_8(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT zone AS `zöne` FROM 'rides.csv'"
    piped(monkeypatch, query.encode("utf-8-sig"))
    assert main([*command, "--output", "csv"]) == 0
    assert capsys.readouterr().out.startswith("zöne,")
    piped(monkeypatch, query.encode("latin-1"))
    assert main(command) == 2
    assert capsys.readouterr().err == "error: what is piped in is not UTF-8 text\n"


def test_a_start_is_measured_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0, 103.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    err = io.StringIO()
    spark = _Spark(Progress(err))
    monkeypatch.setattr(_Spark, "_run", lambda self, script, options: options.on_started())
    spark(Script((), ()), RunOptions(Path()))
    assert err.getvalue() == "starting Spark …\nSpark is up after 3.0 s\n"


def test_statements_are_cut_at_semicolons() -> None:
    assert split("a ';' ; b -- ;\n; c /* ; */") == (["a ';' ", " b -- ;\n"], " c /* ; */")
    assert split("SELECT 'open ; ") == ([], "SELECT 'open ; ")
    assert [whole(each) for each in ("a;", "a", "a; b", "\\d", "a; -- b")] == [
        *(True, False, False, True, True)
    ]


def test_words_to_complete() -> None:
    assert {"SELECT", "TUMBLE", "RETAIN", "BIGINT", "PRECEDING"} <= {*keywords()}
    known = Declarations()
    known.add("CREATE STREAM taps (n BIGINT)")
    assert declared(known, "SELECT x FROM 'rides.csv'") == ["taps", "n", "zone", "fare", "ts"]
    assert [*matching("sel", iter(keywords()))] == ["select"]
