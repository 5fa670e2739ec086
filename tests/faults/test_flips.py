"""A checkpoint that is damaged anywhere is refused by name, or gives the answer all the same."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

import sqlwin
from sqlwin.cli import main
from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.run import run
from sqlwin.errors import RunError, StateError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.files.lock import locked
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import SqliteBlobs
from tests.faults.flips import Ground, case, prepared
from tests.support.embedded.orders import A_MINUTE_EACH, emissions, push, stored
from tests.support.embedded.runs import SCRIPT, land

CASES, MORE = 60, 120


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return prepared(tmp_path_factory.mktemp("flips") / "ground")


def test_damage(ground: Ground) -> None:
    found = [case(ground, f"1-{number}") for number in range(CASES)]
    assert {"same", "refused"} == set(found)


@pytest.mark.long
def test_more_damage(ground: Ground) -> None:
    for number in range(MORE):
        case(ground, f"2-{number}")


def kept(home: Path) -> tuple[RunOptions, Path]:
    """A run with a checkpoint of one file; its options, and the file of its state."""
    land(home, "1", "09:00:10", 1)
    options = RunOptions(home, home / "state")
    run(script(SCRIPT), options)
    return options, home / "state" / "query-0.sqlite"


def row_lost(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("DELETE FROM blobs WHERE name = 'progress'")
    db.close()


def row_of_before(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("UPDATE blobs SET data = replace(data, '\"batch\": 2', '\"batch\": 1')")
    db.close()


def list_lost(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("DROP TABLE checksums")
    db.close()


def log_left(file: Path) -> None:
    file.rename(file.with_name(file.name + "-wal"))
    (file.parent / "checkpoint.json").unlink()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda file: file.write_bytes(b""), "the file is empty"),
    "cut": (lambda file: os.truncate(file, 5000), "malformed"),
    "deleted": (lambda file: file.unlink(), "is gone, and checkpoint.json says that it was made"),
    "deleted, but for its log": (log_left, "the file is gone, but query-0.sqlite-wal is there"),
    "a blob deleted": (row_lost, "progress: its bytes are gone"),
    "a blob of before": (row_of_before, "progress is damaged: its checksum"),
    "checksums deleted": (list_lost, "a table is gone"),
}


def test_a_log_that_is_deleted_does_not_take_commits_with_it_unnoticed(tmp_path: Path) -> None:
    file, copy = tmp_path / "orders.state", tmp_path / "copy"
    query = stored(file)
    copy.mkdir()
    for rows in (A_MINUTE_EACH[:1], A_MINUTE_EACH[1:2], A_MINUTE_EACH[2:3]):
        push(query, rows)
        query.commit()  # a flush would empty the log
    for each in tmp_path.glob("orders.state*"):  # as after a kill
        shutil.copy(each, copy)
    log = copy / "orders.state-wal"
    whole = log.read_bytes()
    for damage in (log.unlink, partial(log.write_bytes, whole[: len(whole) // 2])):
        damage()
        for path in (lambda: stored(copy / file.name), lambda: state(copy / file.name)):
            with pytest.raises(
                StateError, match=r"orders\.state is damaged: it has \d commits, and"
            ):
                path()
        log.write_bytes(whole)
    log.unlink()
    (copy / "orders.state-commits").unlink()  # as the message says: then the earlier commit it is
    stored(copy / file.name)


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_reported_with_the_file_and_what_to_do(tmp_path: Path, how: str) -> None:
    options, file = kept(tmp_path)
    damage, why = DAMAGE[how]
    damage(file)
    with pytest.raises(StateError) as refused:
        run(script(SCRIPT), options)
    assert str(file) in str(refused.value)
    assert why in str(refused.value)
    assert "put a copy of it there, or delete the checkpoint" in str(refused.value)


def test_a_list_of_files_that_is_gone_is_missed(tmp_path: Path) -> None:
    options, file = kept(tmp_path)
    (file.parent / "checkpoint.json").unlink()
    with pytest.raises(StateError, match=r"checkpoint\.json is gone, and query-0\.sqlite is"):
        run(script(SCRIPT), options)


def test_a_run_ends_with_one_message_and_goes_on_when_that_is_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = kept(tmp_path)
    (tmp_path / "q.sql").write_text(SCRIPT)
    command = ["run", str(tmp_path / "q.sql"), "--engine", "embedded"]
    whole = file.read_bytes()
    file.write_bytes(whole[:5000])
    assert main([*command, "--checkpoint", str(file.parent)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"failed: the state in {file} is damaged: ")
    file.write_bytes(whole)
    assert main([*command, "--checkpoint", str(file.parent)]) == 0


def test_a_store_that_was_emptied_does_not_begin_anew(tmp_path: Path) -> None:
    file = tmp_path / "orders.state"
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    file.write_bytes(b"")
    with pytest.raises(StateError, match=r"orders\.state is damaged: the file is empty"):
        stored(file)


def test_a_store_of_zeros_does_not_begin_anew(tmp_path: Path) -> None:
    file = tmp_path / "orders.state"
    file.write_bytes(bytes(4096))
    with pytest.raises(StateError, match="is damaged: the file begins with zeros; put a copy"):
        stored(file)


def test_a_damaged_store_is_refused_or_says_the_same(tmp_path: Path) -> None:
    """The message store may be lost, which is reported as well, or filled again."""
    file, rng, refused = tmp_path / "orders.state", random.Random(9), 0
    query = stored(file)
    push(query, A_MINUTE_EACH[:3])
    query.flush()
    query._blobs.close()  # type: ignore[union-attr]
    whole = file.read_bytes()
    for bit in rng.sample(range(8 * len(whole)), 40):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        try:
            again = stored(file)
            push(again, A_MINUTE_EACH[again.offsets()["orders"][0] :])
            again.drain()
            assert emissions(again) == [(float(n), "full", 0) for n in (2, 3, 4)], bit
        except sqlwin.Incomplete:
            refused += 1
        except sqlwin.RunError as error:
            refused += 1
            assert str(file) in str(error)  # noqa: PT017
    assert refused > 3


def test_a_file_without_checksums_is_read_and_gets_them(tmp_path: Path) -> None:
    options, file = kept(tmp_path)
    with sqlite3.connect(file) as db:  # as it was before there were any
        db.executescript("DROP TABLE checksums; PRAGMA application_id = 0; PRAGMA user_version = 0")
    db.close()
    assert run(script(SCRIPT), options).read == 0
    row_lost(file)
    with pytest.raises(StateError, match="progress: its bytes are gone"):
        run(script(SCRIPT), options)


# --- what stands in the way of a run that is whole ---


def test_two_runs_on_one_checkpoint(tmp_path: Path) -> None:
    options, _ = kept(tmp_path)
    with (
        locked(tmp_path / "state"),
        pytest.raises(RunError, match=r"another process runs on .*state \(process \d+\)"),
    ):
        run(script(SCRIPT), options)
    assert run(script(SCRIPT), options).read == 0


HOLDER = """
import sys, time
from pathlib import Path
from sqlwin.runtime.files.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    options, _ = kept(tmp_path)
    parsed = [sys.executable, "-c", HOLDER, str(tmp_path / "state")]
    with subprocess.Popen(parsed, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunError, match=rf"process {holder.pid}\)"):
            run(script(SCRIPT), options)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert run(script(SCRIPT), options).read == 0


@contextmanager
def no_file_larger(than: int) -> Iterator[None]:
    """What a full disk does to writes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (than, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [5_000, 20_000, 60_000])
def test_a_full_disk_under_the_state(tmp_path: Path, room: int) -> None:
    """When it is opened, in its log, or in a commit of more than there is room for."""
    options, file = kept(tmp_path)
    for number in range(40):
        land(tmp_path, f"2{number:02d}", f"09:{number:02d}:20", 2)
    with (
        no_file_larger(room),
        pytest.raises(RunError, match=r"cannot \w+ state in ") as full,
    ):
        run(script(SCRIPT), options)
    assert str(file) in str(full.value)
    assert not isinstance(full.value, StateError)
    shown: list[pl.DataFrame] = []
    run(script(SCRIPT), replace(options, drain=True, show=shown.append))
    assert pl.concat(shown)["total"].to_list()[-1] == 2


def test_a_full_disk_under_a_store(tmp_path: Path) -> None:
    file = tmp_path / "orders.state"
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    push(query, A_MINUTE_EACH[2:3])
    with no_file_larger(5_000), pytest.raises(RunError, match="cannot write state in"):
        query.flush()
    again = sqlwin.query(query._source_text.text, store=file)  # type: ignore[union-attr]
    assert again.offsets() == {"orders": {0: 2}}


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_a_full_disk_under_a_sink(tmp_path: Path, format_: str) -> None:
    text = SCRIPT.replace("SELECT window_start", "INSERT INTO out SELECT window_start", 1)
    sink = f"CREATE SINK out WITH (connector = 'files', path = 'out', format = '{format_}');"
    land(tmp_path, "1", "09:00:10", 1)
    options = RunOptions(tmp_path, tmp_path / "state", drain=True)
    parsed = script(sink + text)
    with (
        no_file_larger(10),
        pytest.raises(RunError, match=r"cannot write .*out/part-\d+\.\w+: .*the last commit"),
    ):
        run(parsed, RunOptions(tmp_path, drain=True))
    assert run(parsed, options).emitted == 1
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_a_database_that_another_process_locks(tmp_path: Path) -> None:
    blobs = SqliteBlobs(tmp_path / "state")
    blobs._db.execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(tmp_path / "state", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RunError, match=r"cannot write state in .*: another process uses it"):
        blobs.put("a", b"1")
    other.execute("ROLLBACK")
    other.close()
    blobs.put("a", b"1")
    assert blobs.get("a") == b"1"
    blobs.close()


def test_rights_that_are_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", str(tmp_path / "state" / "lock"))

    monkeypatch.setattr(os, "open", denied)
    land(tmp_path, "1", "09:00:10", 1)
    with pytest.raises(RunError, match=r"cannot keep state in .*state: .*Permission denied"):
        run(script(SCRIPT), RunOptions(tmp_path, tmp_path / "state"))
