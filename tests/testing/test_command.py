"""`sqlwin test` as its users call it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sqlwin.cli import main

ROWS = """\
zone,fare,ts
north,3.5,2024-01-01T09:00:10Z
south,4,2024-01-01T09:00:20Z
north,2.5,2024-01-01T09:01:10Z
north,9,2024-01-01T09:00:40Z
south,1,2024-01-01T09:02:10Z
north,,2024-01-01T09:02:30Z
"""
QUERY = """\
CREATE STREAM rides (zone STRING, fare DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rides.csv', format = 'csv');
SELECT zone, window_start, SUM(fare) AS total
FROM TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY zone, window_start;
"""
TWO = (
    QUERY
    + """
CREATE SINK counts WITH (connector = 'files', path = 'out', format = 'csv');
INSERT INTO counts SELECT COUNT(*) AS n
FROM TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start;
"""
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rides.csv").write_text(ROWS)
    (tmp_path / "fares.sql").write_text(QUERY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_golden_of_a_query_passes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "--new", "fares.sql", "-o", "goldens/fares.golden"]) == 2  # no folder
    (project / "goldens").mkdir()
    assert main(["test", "--new", "fares.sql", "-o", "goldens/fares.golden"]) == 0
    text = (project / "goldens" / "fares.golden").read_text()
    assert "--- query ../fares.sql\n" in text
    assert "north | NULL | 2024-01-01T09:02:30Z" in text
    capsys.readouterr()
    assert main(["test"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "passed  goldens/fares: the first rows of fares"
    assert said[1].startswith("1 golden on embedded: 1 passed in ")


def test_what_differs_is_aligned_below_its_step(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = project / "fares.golden"
    assert main(["test", "--new", "fares.sql"]) == 0
    text = golden.read_text()
    golden.write_text(text.replace("2024-01-01T09:00:00Z | 12.5", "2024-01-01T09:00:00Z | 12"))
    capsys.readouterr()
    assert main(["test", "--junit", "out/found.xml"]) == 1
    said = capsys.readouterr().out
    assert "after step 1, line 4: feed rides\n    expect, line 11:" in said
    assert "    ! +I | full | 0        | north | 2024-01-01T09:00:00Z | 12 -> 12.5\n" in said
    assert "      +I | full | 0        | south | 2024-01-01T09:00:00Z | 4.0\n" in said
    suite = ElementTree.parse(project / "out" / "found.xml").getroot()[0]
    assert suite.attrib["failures"] == "1"
    assert "12 -> 12.5" in str(suite[0][0].text)
    assert main(["test", "--update"]) == 0
    assert golden.read_text() == text


def test_the_legend_stands_once_below_the_last_difference(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "--new", "fares.sql"]) == 0
    golden = project / "fares.golden"
    golden.write_text(golden.read_text().replace("| 12.5", "| 12").replace("0Z | 4.0", "0Z | 5.0"))
    capsys.readouterr()
    assert main(["test", "--junit", "found.xml"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert sum("12 -> 12.5" in line for line in said) > 1
    legends = [at for at, line in enumerate(said) if "-: missing" in line]
    assert legends == [len(said) - 2]  # above the counts
    failure = ElementTree.parse(project / "found.xml").getroot()[0][0][0]
    assert str(failure.text).count("-: missing") == 1


def test_what_xml_has_no_character_for_is_escaped_in_junit(project: Path) -> None:
    assert main(["test", "--new", "fares.sql"]) == 0
    golden = project / "fares.golden"
    golden.write_text(golden.read_text().replace("0        | north", "0        | \x1b[1m\ufffe"))
    assert main(["test", "--junit", "found.xml"]) == 1
    failure = ElementTree.parse(project / "found.xml").getroot()[0][0][0]
    assert "\\u001b[1m\\ufffe -> north" in str(failure.text)


def test_rows_may_lie_in_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "more.jsonl").write_text(
        '{"zone": "east", "fare": 7, "ts": "2024-01-01T09:03:00Z"}\n'
    )
    (project / "files.golden").write_text(
        "title: rows of files\n--- query fares.sql\n--- feed rides from rides.csv\n"
        "--- feed rides from more.jsonl\n--- drain\n--- table\n"
    )
    assert main(["test", "--update"]) == 0
    text = (project / "files.golden").read_text()
    assert "--- feed rides from more.jsonl\n--- expect\n" in text
    assert "east  | 2024-01-01T09:03:00Z | 7.0\n" in text
    assert main(["test"]) == 0


BAD = "zone,fare,ts\nnorth,much,2024-01-01T09:00:10Z\n,2,2024-01-01T09:00:20Z\n"


def test_malformed_rows_of_a_file_are_errors_of_their_step(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.csv").write_text(BAD)
    golden = project / "bad.golden"
    golden.write_text(
        "--- query fares.sql\n--- feed rides from bad.csv\n--- expect\n"
        "--- errors\nreason | stream\nmalformed: fare is 'less', not a DOUBLE | rides\n"
    )
    assert main(["test"]) == 1
    assert "'less', not a DOUBLE -> malformed: fare is 'much', not a DOUBLE | rides" in (
        capsys.readouterr().out
    )
    assert main(["test", "--update"]) == 0
    assert "stream" in golden.read_text().splitlines()[4]  # its columns are those it had
    assert golden.read_text().endswith("malformed: fare is 'much', not a DOUBLE | rides\n")
    assert main(["test"]) == 0


def test_a_recorded_run_has_the_malformed_rows(project: Path) -> None:
    (project / "rides.csv").write_text(BAD)
    assert main(["test", "--new", "fares.sql"]) == 0
    text = (project / "fares.golden").read_text()
    assert "north | much | 2024-01-01T09:00:10Z\n" in text
    assert "malformed: fare is 'much', not a DOUBLE" in text
    assert main(["test"]) == 0


def test_of_several_queries_one_is_recorded(project: Path) -> None:
    (project / "fares.sql").write_text(TWO)
    assert main(["test", "--new", "fares.sql"]) == 2
    assert main(["test", "--new", "fares.sql", "--query", "counts"]) == 0
    assert "query: counts\n" in (project / "fares.golden").read_text()
    assert main(["test"]) == 0


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("--- feed taxis\nzone\nx\n", "step 1, line 2: feed taxis: no stream 'taxis'"),
        ("--- feed rides from no.csv\n", "line 2: feed rides from no.csv: cannot read no.csv"),
        ("--- feed rides from bad.jsonl\n", "a row of bad.jsonl is none: malformed"),
        ("--- feed rides from rides.txt\n", "of rides.txt the suffix is none of .csv"),
        ("--- clock soon\n", "clock soon: 'soon' is not an ISO 8601 instant"),
        ("--- feed rides\nzone\nx | y\n", "line 2: 2 cells under 1 columns: x | y"),
        ("--- feeds rides\n", "line 2: no block is called feeds; there are query, "),
        ("--- watermark rides\n", "watermark needs a stream and an instant, got 'rides'"),
    ],
)
def test_a_golden_that_cannot_be_run_says_where_and_why(
    steps: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.jsonl").write_text('{"zone": "north", "fare":\n')
    (project / "bad.golden").write_text(f"--- query fares.sql\n{steps}")
    assert main(["test"]) in (1, 2)
    captured = capsys.readouterr()
    assert said in captured.out + captured.err


def test_of_several_queries_one_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "fares.sql").write_text(TWO)
    golden = project / "counts.golden"
    golden.write_text("--- query fares.sql\n--- feed rides from rides.csv\n--- drain\n--- table\n")
    assert main(["test"]) == 1
    assert "the script has 2 queries; `query: …` in the head" in capsys.readouterr().out
    golden.write_text("query: counts\n" + golden.read_text())
    assert main(["test", "--update"]) == 0
    assert "--- table\nn\n3\n1\n2\n" in golden.read_text()


def test_a_gap_is_one_only_as_long_as_it_is_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "--new", "fares.sql"]) == 0
    golden = project / "fares.golden"
    golden.write_text("gap embedded: not yet\n" + golden.read_text())
    assert main(["test"]) == 1
    assert "the line can go" in capsys.readouterr().out
    golden.write_text(golden.read_text().replace("0Z | 4.0", "0Z | 5.0"))
    assert main(["test"]) == 0


def test_functions_of_a_module_may_be_called(project: Path) -> None:
    (project / "own.py").write_text(
        "import sqlwin\n"
        "most = sqlwin.aggregate('most', ['DOUBLE'], reducer=lambda a, b: max(a, b))\n"
    )
    golden = project / "most.golden"
    query = QUERY.replace("SUM(fare) AS total", "MOST(fare) AS most")
    golden.write_text(
        f"functions: own.py\n--- query\n{query}"
        "--- feed rides from rides.csv\n--- drain\n--- table\n"
    )
    assert main(["test", "--update"]) == 0
    assert "2024-01-01T09:00:00Z | 9.0" in golden.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["test", "none"], "no file or folder none"),
        (["test"], "no golden below ."),
        (["test", "--new", "fares.sql", "--update"], "--new stands alone"),
        (["test", "--new", "rides.sql"], "cannot read rides.sql"),
    ],
)
def test_mistakes_of_a_call(
    arguments: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.long
def test_both_hosts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--new", "fares.sql"]) == 0
    (project / "off.golden").write_text(
        (project / "fares.golden").read_text().replace("0Z | 4.0", "0Z | 5.0")
    )
    (project / "fails.golden").write_text("--- query fares.sql\n--- feed taxis\nzone\nx\n")
    assert main(["test", "--engine", "both"]) == 1
    said = capsys.readouterr().out
    assert said.count("5.0 -> 4.0") == 4  # in expect and in the table, on both
    assert said.count("no stream 'taxis'") == 2
    assert "3 goldens on embedded and spark: 2 passed, 4 failed in " in said
