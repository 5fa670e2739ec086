"""A checkpoint knows its files by where they are, however their paths are spelt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sqlwin.embedded.run import run
from sqlwin.embedded.run_progress import PROGRESS
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import SqliteBlobs
from tests.support.embedded.runs import SCRIPT, land


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A script's folder with two files that a run has read."""
    home = tmp_path / "home"
    home.mkdir()
    land(home, "1", "09:00:10", 1)
    land(home, "2", "09:00:20", 2)
    assert resumed(home, home / "state") == (2, None)
    return home


def resumed(base: Path, state: Path, text: str = SCRIPT, drain: bool = False) -> tuple[int, object]:
    """How many rows a run reads, and the last total it shows."""
    shown: list[pl.DataFrame] = []
    options = RunOptions(base, state, drain=drain, show=shown.append)
    read = run(script(text), options).read
    return read, pl.concat(shown)["total"].to_list()[-1] if shown else None


def through_a_link(home: Path) -> Path:
    link = home.parent / "link"
    link.symlink_to(home)
    return link


def from_the_folder(home: Path) -> Path:
    return Path()


WAYS: dict[str, Callable[[Path], Path]] = {
    "through a link": through_a_link,
    "through ..": lambda home: home / "orders" / "..",
    "from its own folder": from_the_folder,
    "moved": lambda home: home.rename(home.parent / "moved"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_file_is_read_again(home: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    base = WAYS[way](home)
    assert resumed(base, base / "state") == (0, None)
    land(base, "3", "09:00:30", 4)
    assert resumed(base, base / "state", drain=True) == (1, 7)


def test_a_copy_goes_on_beside_what_it_was_copied_from(home: Path) -> None:
    copy = home.parent / "copy"
    shutil.copytree(home, copy)
    assert resumed(copy, copy / "state", drain=True) == (0, 3)


def test_absolute_paths_are_the_same_from_wherever_the_script_is(home: Path) -> None:
    text = SCRIPT.replace("orders/*", f"{home}/orders/*")
    assert resumed(home, home / "absolute", text) == (2, None)
    link = through_a_link(home)
    (home / "elsewhere").mkdir()
    assert resumed(link / "elsewhere", home / "absolute", text, drain=True) == (0, 3)


def test_two_paths_of_one_file_are_one_file(home: Path) -> None:
    (home / "orders" / "0.jsonl").symlink_to(home / "orders" / "1.jsonl")
    (home / "orders" / "more").symlink_to(home / "orders")
    assert resumed(home, home / "state", drain=True) == (0, 3)


def test_a_checkpoint_of_before_has_whole_paths(home: Path) -> None:
    blobs = SqliteBlobs(home / "state" / "query-0.sqlite")
    place = json.loads(blobs.get(PROGRESS))
    names = list(place["streams"]["orders"]["files"])
    assert names == ["orders/1.jsonl", "orders/2.jsonl"]
    link = through_a_link(home)
    files = [str(link / "orders" / ".." / name) for name in names]
    old = {"plan": place["plan"], "files": files, "done": 2, "batch": 2, "version": 1}
    blobs.put(PROGRESS, json.dumps(old).encode())
    blobs.close()
    assert resumed(home, home / "state", drain=True) == (0, 3)
