"""docs/quickstart.md, done as it says: the file, what is inferred of it, the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.cli import main
from tests.docs.blocks import REPO, page_blocks

PAGE = {block.kind: block.text for block in page_blocks(REPO / "docs" / "quickstart.md")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    exec(PAGE["python quickstart"], {})
    (tmp_path / "rides.sql").write_text(PAGE["sql quickstart"])
    return tmp_path


def test_the_declaration_is_what_infer_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["infer", "rides.csv"]) == 0
    assert capsys.readouterr().out.strip() == PAGE["text infer"]


def test_the_run_prints_what_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rides.sql"]) == 0
    capsys.readouterr()
    assert main(["run", "rides.sql", "--engine", "embedded", "--output", "csv"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        PAGE["text quickstart"].splitlines()
    )
