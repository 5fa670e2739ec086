"""No crash of the simulation changes an answer, and it finds what would."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from sqlwin.embedded.checkpoint import query_position
from sqlwin.errors import StateError
from sqlwin.runtime.files import atomic_files
from sqlwin.state.blobs.blobs import SqliteBlobs
from tests.faults.simulation import HOSTS, Run, kept, runs, simulate
from tests.support.draws import seeds

QUICK, MORE = 15, 40


def ends_right(run: Run) -> None:
    try:
        simulate(run)
    except Exception as failure:
        command = f"python -m tests.faults.simulation --runs 1 --seed {run[1]}"
        raise AssertionError(f"{run}: {command}") from failure


@pytest.mark.drawn
def test_crashes_change_no_answer() -> None:
    for run in runs(0, len(seeds(QUICK))):
        ends_right(run)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_more_crashes_change_no_answer() -> None:
    for run in runs(QUICK, MORE):
        ends_right(run)


def test_a_seed_is_the_same_run_each_time() -> None:
    for host in HOSTS:
        assert simulate((host, 3)) == simulate((host, 3))


def test_seeds_that_failed_come_first_and_the_hosts_take_turns() -> None:
    first = list(runs(8, 3))
    assert first[: len(kept())] == kept()
    assert first[len(kept()) :] == [("scripted", 8), ("pushed", 9), ("scripted", 10)]


def commit_early(blobs: SqliteBlobs, name: str, data: bytes) -> None:
    """A put that is a transaction of its own."""
    blobs._db.execute(f"INSERT OR REPLACE INTO {blobs.table_of(name)} VALUES (?, ?)", (name, data))
    blobs._db.execute("COMMIT")
    blobs._db.execute("BEGIN IMMEDIATE")


@pytest.mark.parametrize(
    ("host", "seeds", "owner", "name", "broken"),
    [
        ("scripted", (105, 114), atomic_files, "_sync", lambda path: None),
        ("scripted", (100, 101, 106), SqliteBlobs, "put", commit_early),
        ("pushed", (113, 115), SqliteBlobs, "put", commit_early),
        ("pushed", (100, 103), query_position, "write_unsent_outputs", lambda blobs, outputs: None),
    ],
    ids=["nothing is synced", "state in parts", "store in parts", "outputs are not kept"],
)
def test_it_finds_what_is_wrong(
    host: str, seeds: tuple[int, ...], owner: Any, name: str, broken: Any
) -> None:
    def simulated() -> None:
        for seed in seeds:
            simulate((host, seed))

    with patch.object(owner, name, broken), pytest.raises((AssertionError, StateError)):
        simulated()
