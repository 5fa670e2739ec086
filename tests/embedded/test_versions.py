"""State of a version that is not known is refused, and never guessed at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlwin.embedded.checkpoint.durable_store import DurableStore
from sqlwin.embedded.run import run
from sqlwin.embedded.run_progress import PROGRESS
from sqlwin.errors import StateError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import SqliteBlobs
from sqlwin.state.contract import Blobs
from tests.support.embedded.orders import A_MINUTE_EACH, push, stored
from tests.support.embedded.runs import SCRIPT, land

NEWER = ": made by a newer sqlwin"
OLDER = (
    ": made by an older sqlwin, whose state is not read any more; "
    "start with a new store, from the first message"
)


def changed(blobs: Blobs, name: str, **fields: object) -> None:
    blobs.put(name, json.dumps({**json.loads(blobs.get(name)), **fields}).encode())


@pytest.mark.parametrize(
    ("name", "version", "why"),
    [
        *(
            ("header", version, why)
            for version, why in ((6, NEWER), (4, OLDER), (1, OLDER), (0, ""), (None, ""))
        ),
        *(("position", version, why) for version, why in ((2, NEWER), (0, ""), (None, ""))),
    ],
)
def test_a_store(tmp_path: Path, name: str, version: object, why: str) -> None:
    file = tmp_path / "orders.state"
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    changed(DurableStore(file), name, version=version, new="field")
    known = {"header": 5, "position": 1}[name]
    with pytest.raises(StateError, match=f"{name} has version {version}, known is {known}{why}$"):
        stored(file)


@pytest.mark.parametrize(("name", "known"), [("header", 5), (PROGRESS, 2)])
def test_a_checkpoint(tmp_path: Path, name: str, known: int) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    options = RunOptions(tmp_path, tmp_path / "state")
    run(script(SCRIPT), options)
    blobs = SqliteBlobs(tmp_path / "state" / "query-0.sqlite")
    changed(blobs, name, version=known + 1, new="field")
    blobs.close()
    message = f"{name} has version {known + 1}, known is {known}{NEWER}$"
    with pytest.raises(StateError, match=message):
        run(script(SCRIPT), options)


def test_places_of_before_they_had_a_version(tmp_path: Path) -> None:
    land(tmp_path, "1", "09:00:10", 1)
    options = RunOptions(tmp_path, tmp_path / "state")
    run(script(SCRIPT), options)
    blobs = SqliteBlobs(tmp_path / "state" / "query-0.sqlite")
    place = json.loads(blobs.get(PROGRESS))
    (files,) = (taken["files"] for taken in place["streams"].values())
    old = {"plan": place["plan"], "files": list(files), "done": 1, "batch": place["batch"]}
    blobs.put(PROGRESS, json.dumps(old).encode())
    blobs.close()
    assert run(script(SCRIPT), options).read == 0


def test_a_store_of_an_older_plan(tmp_path: Path) -> None:
    file = tmp_path / "orders.state"
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    blobs = DurableStore(file)
    (own, index), *others = json.loads(blobs.get("header"))["stores"].items()
    changed(blobs, "header", stores={"top": index, **dict(others)})
    with pytest.raises(
        StateError, match=f"the state has no {own}: this query was planned otherwise"
    ):
        stored(file)
