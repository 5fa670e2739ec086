"""After its TTL nothing of a key is on disk, once a flush has compacted and one more has passed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlwin
from sqlwin.embedded.checkpoint.durable_store import DurableStore
from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import QueryError, StateError
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs, SqliteBlobs
from sqlwin.state.contract import Blobs
from tests.support.embedded.ttl import GONE, STAYS, said

DECLARED = """
CREATE STREAM logins (id BIGINT, user STRING, place STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts{})
WITH ('state.ttl' = '7 days', 'state.ttl.cleanup' = '{}');
"""
QUERIES = {
    "last": """SELECT user, place FROM logins
        QUALIFY ROW_NUMBER() OVER (PARTITION BY user ORDER BY ts DESC) = 1""",
    "counts": "SELECT user, COUNT(*) AS n, MODE(place) AS most FROM logins GROUP BY user",
    "sets": """SELECT user, place, COUNT(*) AS n FROM logins
        GROUP BY GROUPING SETS ((user, place), (user))""",
    "over": """SELECT user, COUNT(*) OVER w AS n, LAG(place) OVER w AS before FROM logins
        WINDOW w AS (PARTITION BY user ORDER BY ts) EMIT EARLY ON UPDATE RETAIN 2 ROWS""",
    "windows": """SELECT /*+ STATE_TTL('logins' = '7 days') */ user, window_start, COUNT(*) AS n
        FROM TUMBLE(TABLE logins, DESCRIPTOR(ts), INTERVAL '1' DAY)
        GROUP BY user, window_start EMIT LATE ON UPDATE RETAIN 2 ROWS""",
    "chain": """SELECT user, COUNT(*) AS places, SUM(n) AS n, MAX(n) AS most
        FROM (SELECT user, place, COUNT(*) AS n FROM logins GROUP BY user, place)
        GROUP BY user""",
    "chain_last": """SELECT user, place, n
        FROM (SELECT user, place, COUNT(*) AS n FROM logins GROUP BY user, place)
        QUALIFY ROW_NUMBER() OVER (PARTITION BY user ORDER BY n DESC) = 1""",
}


@pytest.fixture(params=["blobs", "sqlite", "durable"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    if request.param == "blobs":
        yield DictBlobs()
        return
    made = (SqliteBlobs if request.param == "sqlite" else DurableStore)(tmp_path / "state")
    yield made
    made.close()


def query(
    parsed: str, blobs: Blobs | None, cleanup: str = "timers", offset: str = ""
) -> EmbeddedQuery:
    text = DECLARED.format(offset, cleanup) + parsed
    return EmbeddedQuery(script(text), blobs=blobs, segment_rows=2)


def login(on: EmbeddedQuery, user: str, day: int) -> None:
    """Two logins of a user on a day, the later one first; the clock is there already."""
    on.advance(now=f"2024-01-{day:02}T09:00:00Z")
    places = [("Rome", 12), ("Oslo", 10)]
    rows = [(day * 100 + hour, place, hour) for place, hour in places]
    on.push(
        "logins",
        [
            {"id": id_, "user": user, "place": place, "ts": f"2024-01-{day:02}T{hour}:00:00Z"}
            for id_, place, hour in rows
        ],
    )
    on.flush()


@pytest.mark.parametrize("parsed", QUERIES)
def test_nothing_of_a_forgotten_key_is_left(parsed: str, blobs: Blobs) -> None:
    kept = query(QUERIES[parsed], blobs, offset=", OFFSET id")
    for day in (1, 2, 3):
        login(kept, GONE, day)
    login(kept, STAYS, 4)
    assert GONE in said(blobs)
    kept = query(QUERIES[parsed], blobs, offset=", OFFSET id")
    login(kept, STAYS, 9)
    kept.advance(now="2024-01-10T09:00:00Z")  # 7 days after the last login
    for _ in range(2):
        kept.flush()
    kept._check()
    assert GONE not in said(blobs)
    assert STAYS in said(blobs)


def test_compaction_leaves_nothing_either_a_quarter_of_the_ttl_later(blobs: Blobs) -> None:
    kept = query(QUERIES["last"], blobs, "compaction")
    login(kept, GONE, 1)
    for day in (2, 4):
        for n in range(5):
            login(kept, f"{n}.{STAYS}", day)
    kept.advance(now="2024-01-09T09:00:00Z")
    kept.flush()
    assert GONE in said(blobs)
    kept.advance(now="2024-01-09T21:00:00Z")  # hidden since the 8th, and not a quarter of all
    kept.flush()
    assert GONE in said(blobs)
    kept.advance(now="2024-01-10T03:00:00Z")
    for _ in range(2):
        kept.flush()
    assert GONE not in said(blobs)
    assert STAYS in said(blobs)


@pytest.mark.parametrize("parsed", QUERIES)
def test_a_full_snapshot_has_no_expired_state(parsed: str, blobs: Blobs) -> None:
    kept = query(QUERIES[parsed], blobs, "full-snapshot", offset=", OFFSET id")
    login(kept, GONE, 1)
    login(kept, STAYS, 4)
    assert GONE in said(blobs)
    kept.advance(now="2024-01-10T09:00:00Z")
    for _ in range(2):  # the second deletes what the first has left behind
        kept.flush()
    kept._check()
    assert GONE not in said(blobs)
    assert STAYS in said(blobs)


def test_a_full_snapshot_has_what_may_still_be_read() -> None:
    blobs = DictBlobs()
    shown = "full-snapshot', state.ttl.visibility = 'return-expired-if-not-cleaned-up"
    kept = query("SELECT user, COUNT(*) AS n FROM logins GROUP BY user", blobs, shown)
    login(kept, GONE, 1)
    kept.advance(now="2024-01-10T09:00:00Z")
    kept.flush()
    assert GONE in said(blobs)
    assert kept.fetch(GONE)["n"].to_pylist() == [2]


def test_a_checkpoint_that_cleans_changes_no_result() -> None:
    runs = [query(QUERIES["last"], DictBlobs(), by) for by in ("full-snapshot", "compaction")]
    for day in (1, 5, 9, 13):
        for kept in runs:
            login(kept, f"{day % 3}", day)
    assert runs[0].windows().equals(runs[1].windows())


def test_not_even_the_free_pages_of_the_file_say_it(tmp_path: Path) -> None:
    store = SqliteBlobs(tmp_path / "state")
    store.put("a", GONE.encode() * 1000)
    store.put("b", STAYS.encode())
    store.delete("a")
    store.close()
    data = (tmp_path / "state").read_bytes()
    assert GONE.encode() not in data
    assert STAYS.encode() in data


def test_a_flush_leaves_nothing_in_the_log_either(tmp_path: Path) -> None:
    kept = query(QUERIES["last"], SqliteBlobs(tmp_path / "state"))
    login(kept, GONE, 1)
    login(kept, STAYS, 4)
    kept.advance(now="2024-01-10T09:00:00Z")
    for _ in range(2):
        kept.flush()
    assert not any(GONE.encode() in file.read_bytes() for file in tmp_path.iterdir())
    assert not (tmp_path / "state-wal").read_bytes()
    kept.close()
    assert not (tmp_path / "state-wal").exists()


@pytest.mark.parametrize("kind", [SqliteBlobs, DurableStore])
def test_no_flush_nor_close_leaves_erased_bytes_in_file_or_log(
    kind: type[SqliteBlobs], tmp_path: Path
) -> None:
    """Each user is gone from every file a week later, while others come and go."""
    kept = query(QUERIES["last"], kind(tmp_path / "state"))
    for day in range(1, 20, 3):
        login(kept, f"<user {day}>", day)
        for _ in range(2):
            kept.flush()
        said_now = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        left = [past for past in range(1, day + 1) if f"<user {past}>".encode() in said_now]
        assert left == [past for past in range(1, day + 1, 3) if past > day - 7]
    kept.advance(now="2024-01-30T09:00:00Z")
    kept.flush()
    kept.flush()
    kept.close()
    assert sorted(file.name for file in tmp_path.iterdir() if "-wal" in file.name) == []
    assert not any(b"<user" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_close_leaves_nothing_in_the_log_while_another_has_the_file_open(tmp_path: Path) -> None:
    """SQLite itself empties the log only when the last connection closes."""
    store = SqliteBlobs(tmp_path / "state")
    kept = query(QUERIES["last"], store)
    store.put("first", b"written back with the first commit")
    store.put("other", GONE.encode() * 1000)
    store.delete("other")
    assert GONE.encode() in (tmp_path / "state-wal").read_bytes()
    other = sqlite3.connect(tmp_path / "state")
    assert other.execute("SELECT COUNT(*) FROM blobs").fetchone() is not None
    kept.close()
    assert not any(GONE.encode() in file.read_bytes() for file in tmp_path.iterdir())
    other.close()


def test_the_deadline_is_the_next_expiry_and_what_was_due_is_forgotten() -> None:
    kept = query(
        "SELECT user, COUNT(*) AS n FROM logins GROUP BY user EMIT EARLY EVERY '8' DAY", None
    )
    kept.advance(now="2024-01-06T09:00:00Z")
    kept.push("logins", [{"user": GONE, "ts": "2024-01-06T09:00:00Z"}])
    operator, stores = kept._task.top.query.operator, kept._task.top.stores
    assert operator is not None
    hour = 3_600_000_000
    assert operator.next_deadline(stores) == kept._position.now + 7 * 24 * hour
    kept.advance(now="2024-01-13T09:00:00Z")
    assert operator.next_deadline(stores) == kept._position.now + 15 * hour  # of what is expired
    kept.advance(now="2024-01-14T00:00:00Z")
    assert operator.next_deadline(stores) is None
    assert kept.results().num_rows == 0


def test_a_ttl_is_not_put_upon_state_without_one_nor_taken_off() -> None:
    blobs = DictBlobs()
    with_ttl = (
        "SELECT /*+ STATE_TTL('logins' = '{}') */ user, COUNT(*) AS n FROM logins GROUP BY user"
    )
    login(query(with_ttl.format("7 days"), blobs), GONE, 1)
    login(query(with_ttl.format("8 days"), blobs), GONE, 2)  # how long may change
    with pytest.raises(StateError, match="kept with a TTL or without"):
        query(with_ttl.format("0"), blobs)


def test_a_lost_message_store_is_not_filled_again() -> None:
    blobs = DictBlobs()
    login(query(QUERIES["over"], blobs, offset=", OFFSET id"), GONE, 1)
    for name in [name for name in blobs.names() if name.startswith("rows-")]:
        blobs.delete(name)
    with pytest.raises(StateError, match="nobody knows which of its messages a TTL had forgotten"):
        query(QUERIES["over"], blobs, offset=", OFFSET id")


def test_every_state_query_finds_only_live_rows(tmp_path: Path) -> None:
    file = tmp_path / "state"
    on = sqlwin.query(DECLARED.format("", "compaction") + QUERIES["counts"], store=file)
    login(on, GONE, day=1)
    on.flush()  # long ago by any clock
    parsed = state(file)
    assert "messages" in parsed.stores()["name"].to_pylist()
    assert parsed.records("panes").num_rows == parsed.records("messages").num_rows == 0
    assert parsed.sql("SELECT user FROM messages").num_rows == 0
    assert (
        parsed.records("ttl_entries").num_rows
        == parsed.sql("SELECT * FROM ttl_entries").num_rows
        == 0
    )
    assert parsed.windows().num_rows == parsed.fetch(GONE).num_rows == 0
    assert on.fetch(GONE).num_rows == 1
    on.advance(now="2024-01-09T09:00:00Z")
    assert on.fetch(GONE).num_rows == on.windows().num_rows == on.messages().num_rows == 0


@pytest.mark.parametrize("text", ["", "DROP VIEW panes", "SELECT 1; SELECT 2", "SELECT n FROM no"])
def test_one_select_is_allowed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "state"
    sqlwin.query(DECLARED.format("", "compaction") + QUERIES["counts"], store=file).flush()
    with pytest.raises(QueryError) as refused:
        state(file).sql(text)
    assert str(refused.value).endswith(
        "legal: SELECT … FROM panes, revisions, messages, ttl_entries"
    )


def test_so_it_is_of_the_results_of_another_query() -> None:
    on = query(QUERIES["chain"], DictBlobs())
    login(on, GONE, day=1)
    assert on.fetch(GONE).to_pylist()[0]["n"] == 2
    on.advance(now="2024-01-09T09:00:00Z")
    assert on.fetch(GONE).num_rows == on.windows().num_rows == on.messages().num_rows == 0
