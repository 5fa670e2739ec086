"""Names of files are names, whatever signs they have, once they are listed or where they exist."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.sources import FileSource
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.globbing import listing
from sqlwin.schema import Column, type_named

NAMES = [
    "a[1]", "a*", "a?", "**", "[", "{a,b}", "a b", " ", "é", "茶", "#", "%20", "a%", "a:b",
    "'", '"', "\\", "a\nb", "a\tb", "~", "$HOME", "-", "http:", "file", os.fsdecode(b"\xff"),
]  # fmt: skip
COLUMNS = (Column("n", type_named("BIGINT")),)  # type: ignore[arg-type]


def write(path: Path, format_: str, n: int) -> None:
    frame = pl.DataFrame({"n": [n]})
    text = {"json": frame.write_ndjson, "csv": frame.write_csv}
    if format_ == "parquet":
        with path.open("wb") as file:
            frame.write_parquet(file)
    else:
        path.write_text(text[format_]())


def read(path: str, home: Path, format_: str) -> list[int]:
    source = FileSource(Stream("s", COLUMNS, None, options=(("format", format_),)), path)
    progress = FileProgress()
    source.find(progress, home)
    found = [replace(p, path=source.split(p.path, home)) for p in progress.pieces]
    came = [source.read(piece, at) for at, piece in enumerate(found)]
    assert all(each.errors.is_empty() for each in came)
    return [n for each in came for n in each.rows["n"].to_list()]


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_any_name(tmp_path: Path, format_: str) -> None:
    """Beside others that it would match as a pattern; in a folder of such a name, too."""
    home = tmp_path / "h[1]*"
    home.mkdir()
    (tmp_path / "h1x").mkdir()
    (home / "sub?").mkdir()
    write(tmp_path / "h1x" / "a", format_, -1)
    write(home / "a1", format_, -2)
    for number, name in enumerate(NAMES):
        write(home / "sub?" / name, format_, number)
    assert sorted(read("sub?/*", home, format_)) == list(range(len(NAMES)))
    assert sorted(read("sub?", home, format_)) == list(range(len(NAMES)))
    for number, name in enumerate(NAMES):
        assert read(f"sub?/{name}", home, format_) == [number]
        assert read(str(home / "sub?" / name), Path("/"), format_) == [number]


def test_a_name_that_is_too_long_is_of_no_file(tmp_path: Path) -> None:
    for path in ("a" * 300, "a" * 300 + "/*", "*/" + "a" * 300):
        assert listing(path, tmp_path) == []


def test_a_pattern_where_nothing_has_that_name(tmp_path: Path) -> None:
    for name in ("a1", "a2", "b", "_a", ".a"):
        (tmp_path / name).touch()
    assert listing("a[12]", tmp_path) == [str(tmp_path / name) for name in ("a1", "a2")]
    (tmp_path / "a[12]").touch()
    assert listing("a[12]", tmp_path) == [str(tmp_path / "a[12]")]
    assert listing("_a", tmp_path) == [str(tmp_path / "_a")]  # who names it means it
    assert listing("[_.]a", tmp_path) == []
