"""Rows of a join after their TTL: in no answer of a state query, and in the end not on disk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sqlwin.embedded.checkpoint.reader import state
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import StateError
from sqlwin.sql import script
from sqlwin.state.blobs.blobs import DictBlobs, SqliteBlobs
from sqlwin.state.contract import Blobs
from tests.support.embedded.ttl import GONE, STAYS, said

DECLARED = """
CREATE STREAM logins (id BIGINT, user STRING, place STRING, ts TIMESTAMP,
  WATERMARK FOR ts AS ts, OFFSET id);
CREATE STREAM orders (id BIGINT, user STRING, item STRING, at TIMESTAMP,
  WATERMARK FOR at AS at, OFFSET id);
SET 'state.ttl.cleanup' = '{cleanup}';
SET 'state.ttl.update' = '{update}';
SET 'state.ttl.visibility' = '{visibility}';
SELECT {hint} {shown} FROM logins l {kind} JOIN orders o ON l.user = o.user{nearest}
EMIT EARLY {early} {retain}
"""
BOTH = "/*+ STATE_TTL('l' = '7 days', 'o' = '7 days') */"
LEFT = "/*+ STATE_TTL('l' = '7 days') */"


def query(
    blobs: Blobs | None,
    kind: str = "LEFT",
    cleanup: str = "timers",
    hint: str = BOTH,
    early: str = "ON UPDATE",
    update: str = "create-and-write",
    visibility: str = "never-return-expired",
    retain: str = "",
) -> EmbeddedQuery:
    words = {"cleanup": cleanup, "update": update, "visibility": visibility}
    words["shown"] = "l.user, place" + ", item" * (kind not in ("SEMI", "ANTI"))
    words |= {"nearest": " AND l.ts >= o.at" * ("ASOF" in kind), "retain": retain}
    text = DECLARED.format(kind=kind, hint=hint, early=early, **words)
    return EmbeddedQuery(script(text), blobs=blobs, segment_rows=2)


def day(on: EmbeddedQuery, at: int) -> str:
    on.advance(now=f"2024-01-{at:02}T09:00:00Z")
    return f"2024-01-{at:02}T09:00:00Z"


def login(on: EmbeddedQuery, user: str, at: int) -> None:
    on.push("logins", [{"id": at, "user": user, "place": f"of {user}", "ts": day(on, at)}])


def order(on: EmbeddedQuery, user: str, at: int) -> None:
    on.push("orders", [{"id": at, "user": user, "item": f"for {user}", "at": day(on, at)}])


def users(on: EmbeddedQuery, join_keys: str | None = None) -> list[str]:
    found = on.messages(join_keys=join_keys).to_pylist()
    return [f"{row['side']} {row['l.user'] or row['o.user']}" for row in found]


def goes(kept: EmbeddedQuery, blobs: DictBlobs, at: int) -> None:
    """With that day, from the second flush on; what is said of the others stays."""
    day(kept, at)
    for _ in range(2):
        kept.flush()
    kept._check()
    assert GONE not in said(blobs)
    assert STAYS in said(blobs)


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "FULL", "SEMI", "ANTI"])
@pytest.mark.parametrize("early", ["ON UPDATE", "EVERY 30 DAYS"])
def test_nothing_of_a_forgotten_row_is_left(kind: str, early: str) -> None:
    blobs = DictBlobs()
    kept = query(blobs, kind, early=early)
    login(kept, GONE, 1)
    order(kept, GONE, 2)
    order(kept, STAYS, 3)
    kept.flush()
    assert GONE in said(blobs)
    kept = query(blobs, kind, early=early)
    login(kept, STAYS, 8)
    goes(kept, blobs, 9)


@pytest.mark.parametrize("kind", ["ASOF", "LEFT ASOF"])
@pytest.mark.parametrize("retain", ["RETAIN INTERVAL '1' DAY", "RETAIN INTERVAL '90' DAY"])
def test_nothing_of_a_forgotten_row_of_an_asof_join_is_left(kind: str, retain: str) -> None:
    blobs = DictBlobs()
    kept = query(blobs, kind, retain=retain)
    order(kept, GONE, 1)
    order(kept, GONE, 2)
    order(kept, STAYS, 3)
    login(kept, GONE, 3)
    kept.flush()
    assert GONE in said(blobs)
    kept = query(blobs, kind, retain=retain)
    login(kept, STAYS, 8)
    order(kept, STAYS, 8)
    kept.flush()
    kept._check()
    goes(kept, blobs, 10)


def test_what_was_emitted_of_a_live_row_is_retracted_with_it() -> None:
    """The values of the right row are the result's, and that is the left row's."""
    blobs = DictBlobs()
    right = BOTH.replace("'l' = '7 days'", "'l' = '9 days'")
    kept = query(blobs, "ASOF", hint=right, retain="RETAIN INTERVAL '90' DAY")
    order(kept, GONE, 1)
    login(kept, GONE, 1)
    assert [row["item"] for row in kept.results().to_pylist()] == [f"for {GONE}"]
    for at, held in ((8, True), (10, False)):
        day(kept, at)
        for _ in range(2):
            kept.flush()
        assert (f"for {GONE}" in said(blobs)) == held
    assert len(kept.results()) == 0


def test_state_queries_of_an_asof_join_find_what_has_not_expired() -> None:
    kept = query(DictBlobs(), "LEFT ASOF", retain="RETAIN INTERVAL '90' DAY")
    order(kept, GONE, 1)
    order(kept, STAYS, 3)
    login(kept, STAYS, 3)
    assert users(kept) == [f"right {GONE}", f"left {STAYS}", f"right {STAYS}"]
    day(kept, 8)
    assert users(kept) == [f"left {STAYS}", f"right {STAYS}"]
    assert users(kept, GONE) == []


def test_a_query_of_an_asof_join_by_key_reads_its_rows() -> None:
    kept = query(None, "ASOF", update="read-and-write", cleanup="compaction")
    order(kept, GONE, 1)
    order(kept, STAYS, 2)
    day(kept, 7)
    assert users(kept, STAYS) == [f"right {STAYS}"]
    day(kept, 9)
    assert users(kept) == [f"right {STAYS}"]


SESSIONS = """
CREATE STREAM logins (id BIGINT, user STRING, place STRING, ts TIMESTAMP,
  WATERMARK FOR ts AS ts, OFFSET id);
CREATE STREAM orders (id BIGINT, user STRING, item STRING, at TIMESTAMP,
  WATERMARK FOR at AS at, OFFSET id);
SET 'state.ttl.cleanup' = '{cleanup}';
SET 'state.ttl.update' = 'read-and-write';
SELECT {hint} {shown}
FROM logins l OVER (PARTITION BY user ORDER BY ts SESSION INTERVAL '2' DAY GAP)
{kind} JOIN orders o OVER (PARTITION BY user ORDER BY at SESSION INTERVAL '1' DAY GAP)
ON l.user = o.user
EMIT EARLY {early} {retain}
"""


def sessions(
    blobs: Blobs | None,
    kind: str,
    early: str = "ON UPDATE",
    retain: str = "RETAIN INTERVAL '90' DAY",
    cleanup: str = "timers",
) -> EmbeddedQuery:
    shown = "l.user, place" + ", item" * (kind not in ("SEMI", "ANTI"))
    words = {"kind": kind, "early": early, "retain": retain, "cleanup": cleanup}
    text = SESSIONS.format(hint=BOTH, shown=shown, **words)
    return EmbeddedQuery(script(text), blobs=blobs, segment_rows=2)


@pytest.mark.parametrize("kind", ["INNER", "FULL", "SEMI", "ANTI"])
@pytest.mark.parametrize("early", ["ON UPDATE", "EVERY 30 DAYS"])
@pytest.mark.parametrize("retain", ["", "RETAIN INTERVAL '90' DAY"])
def test_nothing_of_a_forgotten_session_is_left(kind: str, early: str, retain: str) -> None:
    blobs = DictBlobs()
    kept = sessions(blobs, kind, early, retain)
    login(kept, GONE, 1)
    order(kept, GONE, 2)
    order(kept, STAYS, 3)
    kept.flush()
    assert GONE in said(blobs)
    kept = sessions(blobs, kind, early, retain)
    login(kept, STAYS, 8)
    order(kept, STAYS, 8)
    kept.flush()
    kept._check()
    goes(kept, blobs, 10)


def test_a_query_of_the_sessions_of_a_key_reads_it() -> None:
    kept = sessions(None, "INNER", cleanup="compaction")
    login(kept, GONE, 1)
    login(kept, STAYS, 2)
    assert len(kept.windows()) == 2
    day(kept, 7)
    assert kept.fetch(STAYS)["l.user"].to_pylist() == [STAYS]
    day(kept, 9)
    assert kept.windows()["l.user"].to_pylist() == users_of(kept) == [STAYS]
    day(kept, 15)
    assert len(kept.windows()) == len(kept.messages()) == 0


def users_of(on: EmbeddedQuery) -> list[str]:
    return [row["l.user"] for row in on.messages().to_pylist()]


def test_state_queries_find_what_has_not_expired() -> None:
    kept = query(DictBlobs())
    login(kept, GONE, 1)
    order(kept, STAYS, 3)
    login(kept, STAYS, 3)
    assert users(kept) == [f"left {GONE}", f"left {STAYS}", f"right {STAYS}"]
    day(kept, 8)
    assert users(kept) == [f"left {STAYS}", f"right {STAYS}"]
    assert users(kept, GONE) == []
    day(kept, 10)
    assert users(kept) == []


@pytest.mark.parametrize(
    "reads_state",
    [
        lambda kept: users(kept, STAYS) == [f"left {STAYS}"],
        lambda kept: kept.fetch(STAYS)["l.user"].to_pylist() == [STAYS],
    ],
    ids=["messages", "fetch"],
)
def test_a_query_by_key_reads_its_rows(reads_state: Callable[[EmbeddedQuery], bool]) -> None:
    kept = query(None, update="read-and-write", cleanup="compaction")
    login(kept, STAYS, 1)
    login(kept, GONE, 2)
    assert len(users(kept)) == 2
    day(kept, 7)
    assert reads_state(kept)
    day(kept, 9)
    assert users(kept) == [f"left {STAYS}"]


def test_what_had_expired_is_removed_by_who_reads_it() -> None:
    kept = query(None, visibility="return-expired-if-not-cleaned-up", cleanup="full-snapshot")
    login(kept, GONE, 1)
    order(kept, STAYS, 1)
    day(kept, 9)
    assert len(users(kept)) == 2
    assert users(kept, GONE) == [f"left {GONE}"]
    assert users(kept) == [f"right {STAYS}"]
    kept.results()
    login(kept, STAYS, 9)
    login(kept, STAYS, 10)  # the first one has read the order, which had expired
    emissions = kept.results().to_pylist()
    assert [(row["place"], row["item"]) for row in emissions] == [
        (f"of {STAYS}", f"for {STAYS}"),
        (f"of {STAYS}", None),
    ]


def test_a_replay_does_not_bring_back_what_was_forgotten() -> None:
    kept = query(DictBlobs())
    login(kept, GONE, 1)
    day(kept, 9)
    kept.results()
    kept.push("logins", [{"id": 1, "user": GONE, "place": "again", "ts": "2024-01-01T09:00:00Z"}])
    assert len(kept.results()) == 0
    assert users(kept) == []


def test_the_deadline_is_the_next_expiry_of_either_side() -> None:
    kept = query(None, "INNER")
    login(kept, STAYS, 1)
    order(kept, STAYS, 3)
    operator, stores = kept._task.top.query.operator, kept._task.top.stores
    assert operator is not None
    week = 7 * 86_400_000_000
    assert operator.next_deadline(stores) == kept._position.now - week // 7 * 2 + week
    day(kept, 8)
    assert operator.next_deadline(stores) == kept._position.now - week // 7 * 5 + week
    day(kept, 10)
    assert operator.next_deadline(stores) is None


def test_a_ttl_is_not_put_upon_a_side_without_one_nor_taken_off() -> None:
    blobs = DictBlobs()
    kept = query(blobs, hint=LEFT)
    login(kept, STAYS, 1)
    kept.flush()
    longer = query(blobs, hint=LEFT.replace("7 days", "70 days"))
    day(longer, 30)
    assert users(longer) == [f"left {STAYS}"]
    for other in (BOTH, ""):
        with pytest.raises(StateError, match="kept with a TTL or without"):
            query(blobs, hint=other)


def test_a_checkpoint_is_queried_by_the_wall_clock(tmp_path: Path) -> None:
    blobs = SqliteBlobs(tmp_path / "state")
    kept = query(blobs, "LEFT", cleanup="full-snapshot", early="EVERY 30 DAYS")
    now = datetime.now(UTC)
    for days, user in ((8, GONE), (1, STAYS)):
        kept.advance(now=now - timedelta(days=days))
        row = {"id": days, "user": user, "place": "Rome", "ts": "2024-01-01T09:00:00Z"}
        kept.push("logins", [row])
    kept.commit()
    blobs.close()
    reads_state = state(tmp_path / "state")
    assert [row["l.user"] for row in reads_state.messages().to_pylist()] == [STAYS]
    for store in ("left", "pending"):
        assert [row["l.user"] for row in reads_state.records(store).to_pylist()] == [STAYS]
    found = reads_state.sql('SELECT "left"."l.user" FROM "left" JOIN left_known USING (__seq)')
    assert found.to_pylist() == [{"l.user": STAYS}]
