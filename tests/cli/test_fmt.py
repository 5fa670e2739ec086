"""`sqlwin fmt` of several files: a mistake in one is said with its name, the others are done."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.sql").write_text("SELECT FROM")
    Path("ugly.sql").write_text("select a from s")


@pytest.mark.parametrize("bad", ["bad.sql", "none.sql"])
def test_check_goes_on_behind_a_mistake(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", bad, "ugly.sql"]) == 2
    said = capsys.readouterr()
    assert said.out == "would change: ugly.sql\n"
    assert said.err.startswith("error: ") and said.err.count(bad) == 1


def test_what_can_be_laid_out_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "bad.sql", "ugly.sql"]) == 2
    assert Path("ugly.sql").read_text() == "SELECT a FROM s\n"
    assert Path("bad.sql").read_text() == "SELECT FROM"
