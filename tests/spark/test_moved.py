"""A checkpoint of Spark in another folder names the schemas of its state by that folder."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest

from sqlwin.errors import StateError
from sqlwin.runtime.files.lock import locked
from sqlwin.spark.checkpoint import state_queries as checkpoint
from sqlwin.spark.checkpoint.moved import _sums, in_place, is_moved
from sqlwin.spark.checkpoint.state_queries import _find
from tests.support.state.checkpoint_fixtures import FOLDER

MADE = FOLDER / "checkpoint_v5_spark" / "state" / "spark"
CHECKSUM = Path("state") / "0" / "_metadata" / "v2" / ".0.crc"
PLACE = Path("state") / "0" / "_metadata" / "v2" / "0"


def schemas(spark: Path) -> list[str]:
    head, body = (spark / PLACE).read_text().split("\n")
    assert head == "v2"
    (store,) = json.loads(body)["stateStoreInfo"]
    return list(store["stateSchemaFilePaths"])


def test_moved_twice(tmp_path: Path) -> None:
    """Also into a folder with a quote and a blank in its name, and letters of no ASCII."""
    here = shutil.copytree(MADE, tmp_path / "a")
    (old,) = schemas(here)
    assert old.startswith("file:/checkpoints/orders/")
    for name in ("a", "th\u00e9 \U0001f375", 'b "c"'):
        here = here.rename(tmp_path / name)
        in_place(here)
        (now,) = schemas(here)
        assert now.startswith(f"file:{tmp_path / name}/")
        assert Path(now.removeprefix("file:")).is_file()
        assert (here / CHECKSUM).read_bytes() == _sums((here / PLACE).read_bytes())
    rest = (here / PLACE).read_text().replace(json.dumps(now), json.dumps(old))
    assert rest == (MADE / PLACE).read_text()


def test_what_is_in_place_is_left(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    in_place(here)
    before = (here / PLACE).stat()
    in_place(here)
    assert (here / PLACE).stat() == before


def test_one_that_spark_wrote_in_a_folder_that_is_no_ascii(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    text = (here / PLACE).read_text().replace("/checkpoints/", "/Pr\u00fcfpunkte/")
    (here / PLACE).write_text(text, "utf-8")
    (here / CHECKSUM).write_bytes(_sums(text.encode()))
    in_place(here)
    (now,) = schemas(here)
    assert now.startswith(f"file:{here}/")


def test_files_stay_readable_for_those_who_read_them(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    (here / PLACE).chmod(0o640)
    in_place(here)
    assert [(here / each).stat().st_mode & 0o777 for each in (PLACE, CHECKSUM)] == [0o640] * 2


@pytest.mark.parametrize("fails", [1, 2])
def test_a_disk_that_is_full(tmp_path: Path, fails: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left behind, and there is no checksum of another text."""
    here = shutil.copytree(MADE, tmp_path / "a")
    before, write, calls = sorted((here / PLACE).parent.iterdir()), Path.write_bytes, [0]

    def full(path: Path, data: bytes) -> int:
        calls[0] += 1
        if calls[0] == fails:
            write(path, data[:5])
            raise OSError(errno.ENOSPC, "no space left")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        in_place(here)
    left = set((here / PLACE).parent.iterdir())
    assert left <= set(before)
    assert is_moved(here) == (fails == 1)
    known = here / CHECKSUM
    assert not known.exists() or known.read_bytes() == _sums((here / PLACE).read_bytes())


def test_a_state_query_on_one_that_a_run_has(tmp_path: Path) -> None:
    """The run finds the state itself; before it has, there is nothing to read."""
    here = shutil.copytree(MADE, tmp_path / "a" / "spark")
    with (
        locked(tmp_path / "a" / "sqlwin"),
        pytest.raises(StateError, match="was moved, and its state is named by its old folder: ano"),
    ):
        _find(here)
    assert is_moved(here)
    _find(here)
    assert not is_moved(here)


def test_a_state_query_on_one_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a copy, whose original is there, the state is found; of one that was moved it is not."""
    first = shutil.copytree(MADE, tmp_path / "a" / "spark")
    in_place(first)
    copy = shutil.copytree(first, tmp_path / "b" / "spark")

    def read_only(_: Path) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr(checkpoint, "in_place", read_only)
    _find(copy)
    shutil.rmtree(first)
    with pytest.raises(StateError, match="read-only file system"):
        _find(copy)


def test_what_is_no_file_here_is_left(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    (old,) = schemas(here)
    for other in (
        "file:/checkpoints/x/_stateSchema/default/1_gone",
        old.replace("file:", "s3a://b"),
    ):
        text = (here / PLACE).read_text()
        (here / PLACE).write_text(text.replace(schemas(here)[0], other))
        in_place(here)
        assert schemas(here) == [other]


def test_what_is_damaged_is_left_for_spark_to_refuse(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    damaged = (here / PLACE).read_bytes().replace(b"default", b"\xffefault")
    (here / CHECKSUM).write_bytes(_sums((here / PLACE).read_bytes()))
    (here / PLACE).write_bytes(damaged)
    in_place(here)
    assert (here / PLACE).read_bytes() == damaged


def test_the_checksum_is_that_of_hadoop() -> None:
    offsets = MADE / "offsets"
    assert (offsets / ".0.crc").read_bytes() == _sums((offsets / "0").read_bytes())


def test_there_may_be_no_state_yet(tmp_path: Path) -> None:
    in_place(tmp_path / "spark")
