"""The file an embedded query keeps its state in, and what else a path may name."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import sqlwin
from sqlwin.embedded.checkpoint.durable_store import DurableStore
from tests.support.embedded.orders import (
    A_MINUTE_EACH,
    MEDIANS,
    content,
    emissions,
    push,
    stored,
    without,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "orders.state"
    with pytest.raises(sqlwin.InputError, match=f"cannot keep state in {path}: unable to open"):
        stored(path)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(sqlwin.InputError, match=r"cannot keep state in .*: unable to open"):
        stored(tmp_path)


def test_a_file_that_is_something_else(file: Path) -> None:
    file.write_text("id,value,ts\n" * 100)
    with pytest.raises(sqlwin.InputError, match=r"cannot keep state in .*: file is not a database"):
        stored(file)
    assert file.read_text().startswith("id,value,ts")


def test_a_database_of_something_else(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE customers (id INT)")
    db.close()
    with pytest.raises(sqlwin.InputError, match="the file is a database of something else"):
        stored(file)


def test_a_path_may_be_text(file: Path) -> None:
    query = sqlwin.query(MEDIANS, store=str(file))
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    assert stored(file).offsets() == {"orders": {0: 2}}


def test_the_store_of_another_query(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    for other in (MEDIANS.replace("'1' MINUTE", "'2' MINUTE"), MEDIANS.replace("MEDIAN", "SUM")):
        with pytest.raises(sqlwin.InputError, match="belongs to another query; give this one a"):
            stored(file, other)
    assert stored(file).offsets() == {"orders": {0: 2}}


def test_two_that_write_to_one_store(file: Path) -> None:
    one, other = stored(file), stored(file)
    push(one, A_MINUTE_EACH[:2])
    one.flush()
    before = content(file)
    push(other, A_MINUTE_EACH[:3])
    with pytest.raises(sqlwin.RunError, match="another query has written to the store since"):
        other.flush()
    assert content(file) == before
    push(one, A_MINUTE_EACH[2:])
    one.flush()
    assert stored(file).offsets() == {"orders": {0: 5}}


def test_window_state_that_is_lost_is_reported(file: Path) -> None:
    query = stored(file)
    push(query, A_MINUTE_EACH[:2])
    query.flush()
    without(file, "windows")
    with pytest.raises(sqlwin.RunError, match="its bytes are gone"):
        push(stored(file), A_MINUTE_EACH)


def test_a_transaction_is_whole_or_not_at_all(file: Path) -> None:
    store = DurableStore(file)
    with pytest.raises(ZeroDivisionError):
        half(store)
    assert store.names() == []
    with store.transaction():
        store.put("rows-a-0", b"1")
        store.put("panes-a-0", b"2")
        store.put("header", b"3")
    store.close()
    again = DurableStore(file)
    assert again.names() == ["header", "panes-a-0", "rows-a-0"]
    assert {table: sorted(rows) for table, rows in content(file).items()} == {
        "messages": ["rows-a-0"],
        "windows": ["panes-a-0"],
        "offsets": ["header"],
    }
    again.delete("panes-a-0")
    again.delete("panes-a-0")
    with pytest.raises(KeyError):
        again.get("panes-a-0")


def half(store: DurableStore) -> None:
    with store.transaction():
        store.put("messages-a-0", b"1")
        store.put("header", b"1")
        raise ZeroDivisionError


def test_results_of_before_are_those_of_after(file: Path) -> None:
    """Times, texts and NULLs of outputs that wait come back as they were."""
    query = stored(file)
    query.push("orders", [{"id": 1, "value": None, "ts": A_MINUTE_EACH[0]["ts"]}])
    push(query, A_MINUTE_EACH[2:3])
    query.commit()
    before = query.results()
    assert stored(file).results().equals(before)
    assert emissions(query) == []
