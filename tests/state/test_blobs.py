from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwin.state.blobs.blobs import DictBlobs, SqliteBlobs
from sqlwin.state.contract import Blobs


@pytest.fixture(params=["dict", "sqlite"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    if request.param == "dict":
        yield DictBlobs()
        return
    lite = SqliteBlobs(tmp_path / "state.db")
    yield lite
    lite.close()


def test_put_get_delete_names(blobs: Blobs) -> None:
    blobs.put("b", b"\0\xff")
    blobs.put("a", b"")
    assert blobs.names() == ["a", "b"]
    assert (blobs.get("a"), blobs.get("b")) == (b"", b"\0\xff")
    blobs.delete("a")
    blobs.delete("a")
    assert blobs.names() == ["b"]
    with pytest.raises(KeyError, match="a"):
        blobs.get("a")


def test_a_transaction_is_there_in_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    writer, reader = SqliteBlobs(path), SqliteBlobs(path)
    writer.put("old", b"0")
    writer.begin()
    writer.put("new", b"1")
    writer.delete("old")
    assert reader.names() == ["old"]
    assert writer.names() == ["new"]
    writer.commit()
    assert reader.names() == ["new"]
    writer.begin()
    writer.put("lost", b"2")
    writer.close()  # as a crash does: no commit
    again = SqliteBlobs(path)
    assert again.names() == ["new"]
    again.close()
    reader.close()


def test_a_block_that_raises_is_rolled_back(tmp_path: Path) -> None:
    blobs = SqliteBlobs(tmp_path / "state.db")

    def fail() -> None:
        with blobs.transaction():
            blobs.put("a", b"1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert blobs.names() == []
    blobs.close()
