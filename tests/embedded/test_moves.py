"""A checkpoint in process as a file, and from one; cut into buckets in between."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest

from sqlwin.cli import main
from sqlwin.embedded.checkpoint.moves import export_checkpoint, import_checkpoint
from sqlwin.embedded.run import run
from sqlwin.embedded.script_query import ScriptQuery
from sqlwin.errors import InputError, RunError, StateError
from sqlwin.runtime.checkpoint import export_file
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.files.lock import locked
from tests.support.runtime.moves import ALL, Moved, cut_again, question


def half(moved: Moved, checkpoint: str, drain: bool = False) -> None:
    moved.land()
    run(moved.script, RunOptions(moved.home, moved.home / checkpoint, drain))


SOME = ("tumble", "session", "range", "top", "outer")


@pytest.mark.parametrize(
    ("names", "offset"),
    [
        (SOME, False),
        pytest.param(ALL, False, marks=pytest.mark.long),
        pytest.param(ALL, True, marks=pytest.mark.long),
    ],
)
def test_a_moved_checkpoint_goes_on(tmp_path: Path, names: tuple[str, ...], offset: bool) -> None:
    """Whatever buckets it had on the way: 1, 3, 2, and 1 again. offset: messages come twice."""
    policy = "early" if offset else "late"
    moved = Moved(tmp_path, [question(name, policy, offset) for name in names])
    half(moved, "first")
    half(moved, "first")
    export_checkpoint(tmp_path / "first", tmp_path / "one")
    cut_again(tmp_path / "one", tmp_path / "three", 3)
    cut_again(tmp_path / "three", tmp_path / "two", 2)
    import_checkpoint(tmp_path / "two", tmp_path / "second")
    shutil.rmtree(tmp_path / "first")
    half(moved, "second")
    half(moved, "second", drain=True)
    moved.check()


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    moved = Moved(tmp_path, [question("tumble")])
    half(moved, "first")
    export_checkpoint(tmp_path / "first", tmp_path / "x")
    return tmp_path / "x"


def test_what_cannot_be_exported(tmp_path: Path, exported: Path) -> None:
    with pytest.raises(InputError, match=r"/x is there already; an export makes a new file"):
        export_checkpoint(tmp_path / "first", exported)
    with pytest.raises(InputError, match="no committed state yet"):
        export_checkpoint(tmp_path / "none", tmp_path / "y")
    with pytest.raises(InputError, match=r"cannot export to .*: there is no folder"):
        export_checkpoint(tmp_path / "first", tmp_path / "no" / "y")
    with pytest.raises(InputError, match=r"is the store of sqlwin\.query"):
        export_checkpoint(tmp_path / "first" / "query-0.sqlite", tmp_path / "y")
    with (
        locked(tmp_path / "first"),
        pytest.raises(RunError, match="another process runs on the checkpoint"),
    ):
        export_checkpoint(tmp_path / "first", tmp_path / "y")
    assert not [file for file in tmp_path.iterdir() if file.name.startswith((".", "y"))]


def test_a_run_that_was_interrupted_is_run_once_more(tmp_path: Path) -> None:
    """What its sinks have is not known: here they have a batch that was not committed."""
    moved = Moved(tmp_path, [question("tumble")])
    half(moved, "first")
    moved.land()
    options = RunOptions(tmp_path, tmp_path / "first")
    with (
        patch.object(ScriptQuery, "_commit", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        run(moved.script, options)
    with pytest.raises(InputError, match="its run was killed or interrupted, and sinks may have"):
        export_checkpoint(tmp_path / "first", tmp_path / "x")
    run(moved.script, options)
    export_checkpoint(tmp_path / "first", tmp_path / "x")
    import_checkpoint(tmp_path / "x", tmp_path / "second")
    half(moved, "second", drain=True)
    moved.check()


def test_a_query_that_was_removed_is_left_out(tmp_path: Path) -> None:
    moved = Moved(tmp_path, [question("tumble"), question("totals")])
    half(moved, "first")
    moved.questions = [question("tumble")]
    half(moved, "first")
    export_checkpoint(tmp_path / "first", tmp_path / "x")
    import_checkpoint(tmp_path / "x", tmp_path / "second")
    half(moved, "second", drain=True)
    moved.check()
    assert not (tmp_path / "second" / "query-1.sqlite").exists()


def test_what_cannot_be_imported(tmp_path: Path, exported: Path) -> None:
    with pytest.raises(InputError, match=r"/first is there already; an import makes a new folder"):
        import_checkpoint(exported, tmp_path / "first")
    with pytest.raises(
        InputError, match=r"there is no file .*/y; --import takes one that --export"
    ):
        import_checkpoint(tmp_path / "y", tmp_path / "second")
    with pytest.raises(InputError, match="is no export"):
        import_checkpoint(tmp_path / "first" / "query-0.sqlite", tmp_path / "second")
    (tmp_path / "text").write_text("no database")
    with pytest.raises(InputError, match=r"cannot import .*/text: file is not a database"):
        import_checkpoint(tmp_path / "text", tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_a_damaged_export_is_refused(tmp_path: Path, exported: Path) -> None:
    """Any bit of what is in it, and any file that was cut short."""
    whole = exported.read_bytes()
    for size in (0, 100, len(whole) // 2, len(whole) - 5000):
        exported.write_bytes(whole[:size])
        with pytest.raises(StateError):
            import_checkpoint(exported, tmp_path / "second")
    exported.write_bytes(whole)
    with sqlite3.connect(exported) as db:
        db.execute("UPDATE blobs SET data = zeroblob(length(data)) WHERE name LIKE '%header'")
    db.close()
    with pytest.raises(StateError, match="header is damaged"):
        import_checkpoint(exported, tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_an_export_of_a_newer_version(tmp_path: Path) -> None:
    moved = Moved(tmp_path, [question("tumble")])
    half(moved, "first")
    with patch.object(export_file.Exported.__init__, "__defaults__", (0, 0, True, 2)):
        export_checkpoint(tmp_path / "first", tmp_path / "x")
    with pytest.raises(StateError, match="the export has version 2, known is 1: made by a newer"):
        import_checkpoint(tmp_path / "x", tmp_path / "second")


def test_an_export_is_not_queried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = Moved(tmp_path, [question("tumble", "early", False)])
    moved.land()
    run(moved.script, RunOptions(tmp_path, tmp_path / "state"))
    export_checkpoint(tmp_path / "state", tmp_path / "kept.sqlwin")
    for parsed in ([], ["--status"]):
        assert main(["state", str(tmp_path / "kept.sqlwin"), *parsed]) == 2
        output = capsys.readouterr().err
        assert (
            "kept.sqlwin is an export, not a checkpoint; legal is sqlwin state CHECKPOINT" in output
        )
