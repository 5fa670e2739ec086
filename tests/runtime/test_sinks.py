"""A files sink: what it leaves in its folder, and what it clears away."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from sqlwin.runtime.connectors.sinks import FORMATS, Files
from sqlwin.runtime.files import atomic_files
from sqlwin.runtime.files.atomic_files import replaced

ROW = pl.DataFrame({"n": [1]})


def written(sink: Files, *batches: int, empty: int = 0) -> None:
    for batch in batches:
        sink.write(batch, ROW.clear() if batch == empty else ROW)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("empty", [0, 1])
def test_parts_of_an_earlier_run_that_was_longer_go(tmp_path: Path, empty: int) -> None:
    written(Files(tmp_path, "json"), 1, 2, 3)
    written(Files(tmp_path, "json", writer=2), 1, 2)
    (tmp_path / "part-notes.jsonl").touch()
    written(Files(tmp_path, "json"), 1, empty=empty)
    others = ["part-2-00000001.jsonl", "part-2-00000002.jsonl", "part-notes.jsonl"]
    assert names(tmp_path) == [*([] if empty else ["part-00000001.jsonl"]), *others]


def test_a_run_that_goes_on_keeps_what_it_wrote(tmp_path: Path) -> None:
    written(Files(tmp_path, "json"), 1, 2)
    again = Files(tmp_path, "json")
    written(again, 2, 3)
    written(again, 2)
    assert names(tmp_path) == [f"part-0000000{n}.jsonl" for n in (1, 2, 3)]


def test_a_part_is_on_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's name, the file, then its name: the state that counts them done is synced
    as well."""
    done: list[Path] = []
    monkeypatch.setattr(atomic_files, "_sync", done.append)
    written(Files(tmp_path / "out", "csv"), 1)
    above, unfinished, folder = done
    assert above == tmp_path
    assert unfinished.name.startswith(".part-00000001.csv")
    assert folder == tmp_path / "out"
    with replaced(tmp_path / "cached", sync=False) as path:
        path.touch()
    assert len(done) == 3


def test_a_part_that_goes_is_gone_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a batch that is done again and emits nothing; and what a killed run has not synced."""
    written(Files(tmp_path / "out", "json"), 1)
    done: list[Path] = []
    monkeypatch.setattr(atomic_files, "_sync", done.append)
    written(Files(tmp_path / "out", "json"), 1, empty=1)
    assert names(tmp_path / "out") == []
    assert done == [tmp_path / "out", tmp_path, tmp_path / "out"]


def test_a_file_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("before")

    def half() -> None:
        with replaced(target) as path:
            path.write_text("hal")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (names(tmp_path), target.read_text()) == (["a"], "before")


def test_rows_decide_nothing_about_where_they_go(tmp_path: Path) -> None:
    sink = Files(tmp_path / "out", "json")
    sink.write(1, pl.DataFrame({"../../up": ["/etc/x", "../../x", "a\0b"]}))
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["part-00000001.jsonl"]


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_a_link_in_the_folder_is_replaced_and_not_followed(tmp_path: Path, format_: str) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.write_text("mine")
    folder.mkdir()
    part = f"part-00000001.{FORMATS[format_]}"
    (folder / part).symlink_to(elsewhere)
    (folder / f".{part}.{os.getpid()}").symlink_to(elsewhere)
    (folder / f"part-00000009.{FORMATS[format_]}").symlink_to(elsewhere)
    written(Files(folder, format_), 1)
    assert elsewhere.read_text() == "mine"
    assert names(folder) == [part]
    assert not (folder / part).is_symlink()
