"""`sqlwin new`, `fmt` and `completion`, and the small commands, on a pseudo-terminal."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.commands.new import FILES
from sqlwin.project import __file__ as project
from tests.support.terminal import COMMANDS, Terminal


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_first_project_from_new_to_its_results(tmp_path: Path) -> None:
    """One process for all commands, for the imports take longest."""
    with Terminal(COMMANDS, tmp_path, os.environ, size=(100, 110)) as terminal:

        def answered(command: str, wanted: str, code: int = 0) -> None:
            before = terminal.text.count("\n$")
            terminal.send(command + "\r")
            screen = terminal.wait("\n$", before + 1)  # the next prompt
            assert wanted in screen
            assert screen.rstrip().endswith(f"exit code {code}\n$")

        terminal.wait("$")
        answered("new .", "sqlwin test")
        answered("test", "1 golden on embedded: 1 passed")
        answered("fmt fares.sql --check", "")
        answered("check fares.sql", "1 query, no mistakes")
        answered("explain fares.sql", "WindowAggregate tumbling 5 minutes")
        answered("explain fares.sql --analyze", "Measured: 10 rows read, 5 results")
        answered("infer rides.csv", "WATERMARK FOR ts AS ts")
        answered(
            "run fares.sql --engine embedded", "north  2024-01-01T09:00:00Z      3   9.75  +U  late"
        )
        answered(
            "run fares.sql --engine embedded --checkpoint kept --plain", "batch 10: 1 rows read"
        )
        answered("state kept --status", "engine")
        answered("doctor --quick", "python")
        terminal.send("exit\r")
        assert terminal.ended() == 0


def test_new_replaces_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "first"]) == 0
    assert "cd first" in capsys.readouterr().out
    assert sorted(each.name for each in Path("first").iterdir()) == sorted(FILES)
    assert main(["new", "first"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_fmt_writes_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.sql").write_text("select a from s;")
    shutil.copy(Path(project).parent / "fares.sql", "b.sql")
    assert main(["fmt", "a.sql", "b.sql", "--check"]) == 1
    assert capsys.readouterr().out == "would change: a.sql\n"
    assert main(["fmt", "a.sql", "b.sql"]) == 0
    assert Path("a.sql").read_text() == "SELECT a FROM s;\n"
    assert main(["fmt", "a.sql", "b.sql", "--check"]) == 0
    Path("a.sql").write_text("select a frm s")
    assert main(["fmt", "a.sql"]) == 2
    assert "  | select a frm s" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path: Path) -> None:
    """Of a command, of an option, and of a file."""
    Path("fares.sql").write_text("")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PS1": "$ "}
    with Terminal(["bash", "--norc", "--noprofile"], tmp_path, env) as bash:
        bash.send('eval "$(sqlwin completion bash)"; clear; echo rea""dy\r')
        bash.wait("ready")
        bash.send("sqlwin expl\t")
        bash.wait("sqlwin explain")
        bash.send("--ana\t")
        bash.wait("explain --analyze")
        bash.send("fa\t")
        bash.wait("--analyze fares.sql")


@pytest.mark.parametrize(
    ("shell", "part"), [("zsh", "compdef"), ("fish", "complete --command sqlwin")]
)
def test_other_shells_get_their_script(
    shell: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert said.startswith("# ")
    assert part in said
