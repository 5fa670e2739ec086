"""docs/quickstart.md, done as it says: the file, what is inferred of it, the run.

And the same with a file of one's own, on both engines: within minutes, in a folder whose name has a
space.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwin.cli import main
from tests.docs.blocks import REPO, page_blocks

PAGE = {block.kind: block.text for block in page_blocks(REPO / "docs" / "quickstart.md")}
SPARK = [pytest.mark.spark(processes=True), pytest.mark.long]
ENGINES = ["embedded", pytest.param("spark", marks=SPARK)]
FIVE_MINUTES = 300.0
CHILDREN = resource.RUSAGE_CHILDREN

OWN = """\
Trip Id,Pickup Zone,Fare (EUR),Picked Up At
1,Mitte,12.5,01/02/2024 09:01:00
2,Kreuzberg,8.0,01/02/2024 09:04:30
3,Mitte,"7,5",01/02/2024 09:12:10
4,Mitte,20.0,01/02/2024 09:07:00
5,Wedding,11.0,01/02/2024 09:15:00
6,Mitte,9.0,not a time
7,Kreuzberg,11.0,01/02/2024 09:21:00
8,Mitte,4.0
"""
QUERY = """
SELECT `Pickup Zone` AS zone, window_start, COUNT(*) AS trips, SUM(`Fare (EUR)`) AS revenue
FROM TUMBLE(TABLE trips, DESCRIPTOR(event_time), INTERVAL '10' MINUTE)
GROUP BY `Pickup Zone`, window_start, window_end
RETAIN INTERVAL '1' HOUR;
"""
ANSWER = [
    "Kreuzberg,2024-02-01T09:00:00Z,1,8.0",
    "Kreuzberg,2024-02-01T09:20:00Z,1,11.0",
    "Mitte,2024-02-01T09:00:00Z,2,32.5",
    "Wedding,2024-02-01T09:10:00Z,1,11.0",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "my project"
    home.mkdir()
    monkeypatch.chdir(home)
    exec(PAGE["python quickstart"], {})
    (home / "rides.sql").write_text(PAGE["sql quickstart"])
    began = _cpu()
    yield home
    assert _cpu() - began < FIVE_MINUTES


def _cpu() -> float:
    """Seconds of this process and those it has waited for: a busy machine adds none."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "sqlwin.cli", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)


def test_the_declaration_is_what_infer_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["infer", "rides.csv"]) == 0
    assert capsys.readouterr().out.strip() == PAGE["text infer"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_run_prints_what_is_shown(folder: Path, engine: str) -> None:
    assert command("check", "rides.sql").returncode == 0
    ran = command("run", "rides.sql", "--engine", engine, "--output", "csv")
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.splitlines()) == sorted(PAGE["text quickstart"].splitlines())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_of_ones_own(folder: Path, engine: str) -> None:
    """Names with blanks, times as people write them, rows that are malformed."""
    Path("my trips.csv").write_text(OWN, encoding="utf-8")
    inferred = command("infer", "my trips.csv", "--name", "trips")
    assert inferred.stderr.startswith(
        "note: `Fare (EUR)` is STRING for 1 odd value; declared DOUBLE"
    )
    ddl = inferred.stdout.replace("`Fare (EUR)` STRING", "`Fare (EUR)` DOUBLE")
    Path("my trips.sql").write_text(ddl + QUERY, encoding="utf-8")
    ran = command("run", "my trips.sql", "--engine", engine, "--output", "csv")
    assert ran.returncode == 0, ran.stderr
    rows = [line.partition(",+I")[0] for line in ran.stdout.splitlines()[1:]]
    assert sorted(rows) == ANSWER
    for why in ("Fare (EUR) is '7,5', not a DOUBLE", "Text 'not a time'", "event_time is NULL"):
        assert why in ran.stderr


@pytest.mark.long
def test_what_else_a_newcomer_tries(folder: Path) -> None:
    """A golden of the query, a recording and its picture, a project, in a path with a space."""
    steps = [
        (["test", "--new", "rides.sql"], "written: rides.golden"),
        (["test", "rides.golden", "--engine", "embedded"], "1 passed"),
        (["run", "rides.sql", "--engine", "embedded", "--record", "a run.jsonl"], "Berlin"),
        (["timeline", "a run.jsonl", "-o", "a picture.html"], "a picture.html"),
        (["explain", "rides.sql", "--format", "mermaid"], "flowchart"),
        (["new", "a new project"], "a new project"),
    ]
    for arguments, said in steps:
        done = command(*arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        assert said in done.stdout + done.stderr, (arguments, done.stdout, done.stderr)
