"""The list of a stream's files: by names, whatever way leads to them. No Spark is started."""

from __future__ import annotations

import json
from pathlib import Path

from sqlwin.runtime.connectors.sources import source_of
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.sources.listing import Listing
from sqlwin.sql import script

TEXT = """CREATE STREAM orders (n BIGINT) WITH (path = 'orders/*.jsonl');
SELECT n FROM orders"""


def listed(base: Path, state: Path) -> Listing:
    (stream,) = script(TEXT).streams
    listing = Listing(Folder(str(state)), 0, source_of(stream), base, 1 << 20)
    listing.refresh()
    return listing


def names(listing: Listing) -> list[str]:
    return [piece.path for piece in listing.progress.pieces]


def land(home: Path, *names: str) -> None:
    (home / "orders").mkdir(parents=True, exist_ok=True)
    for name in names:
        (home / "orders" / name).write_text('{"n": 1}\n')


def test_files_keep_their_places_when_all_is_moved_or_linked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    land(home, "b.jsonl")
    listed(home, tmp_path / "state")
    home.rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to(tmp_path / "moved")
    land(tmp_path / "moved", "a.jsonl")
    again = listed(tmp_path / "link" / "orders" / "..", tmp_path / "state")
    assert names(again) == ["orders/b.jsonl", "orders/a.jsonl"]
    assert all(Path(again.piece(at).path).is_file() for at in again.progress.left())


def test_a_list_of_before_has_whole_paths(tmp_path: Path) -> None:
    land(tmp_path, "a.jsonl")
    (tmp_path / "link").symlink_to(tmp_path)
    kept = [(str(tmp_path / "link" / "orders" / "a.jsonl"), 0, 9, 9)]
    Folder(str(tmp_path / "state")).write("listing/0.json", json.dumps(kept))
    assert names(listed(tmp_path, tmp_path / "state")) == ["orders/a.jsonl"]
