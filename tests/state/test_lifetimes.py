"""How long TTL entries last, what may be read of them, and how many records each cleanup leaves."""

from __future__ import annotations

import json

import polars as pl
import pytest

from sqlwin.errors import StateError
from sqlwin.instants import END, START
from sqlwin.policies import Cleanup, Ttl, TtlTime, Update, Visibility
from sqlwin.state.blobs.blobs import DictBlobs
from sqlwin.state.combine import last_written
from sqlwin.state.contract import Layout
from sqlwin.state.segments.codec import decode_segment
from sqlwin.state.segments.store import SegmentStore
from sqlwin.state.ttl.entries import STORE as TTL_ENTRIES
from sqlwin.state.ttl.entries import ttl_layout
from sqlwin.state.ttl.keyed_store import TtlStore, lived
from sqlwin.state.ttl.lifetimes import LATEST, Lifetimes

LAYOUT = Layout(
    "logins", (("t", pl.Int64()), ("user", pl.String()), ("n", pl.Int64())), ("user",), ("t",), 10
)
HOUR = 60


class Bucket:
    """A store of logins, its TTL entries, and what of them is written."""

    def __init__(self, ttl: Ttl, run: str | None = None) -> None:
        self.ttl, self.blobs, self.flushes = ttl, DictBlobs(), 0
        self.indexes: dict[str, object] = {}
        self.text = "null"
        self.open(run)

    def open(self, run: str | None) -> None:
        known = ttl_layout({"user": pl.String()})
        self.lifetimes = Lifetimes(self.ttl, self._store(known), json.loads(self.text), run)
        self.store = TtlStore(self._store(lived(LAYOUT)), self.lifetimes)

    def _store(self, layout: Layout) -> SegmentStore:
        index = self.indexes.get(layout.name)
        return SegmentStore(layout, last_written(layout), self.blobs, index=index, segment_rows=2)  # type: ignore[arg-type]

    def flush(self) -> None:
        self.flushes += 1
        inner = (self.store.inner, self.lifetimes.entries.store)
        self.indexes = {s.layout.name: s.flush(f"f{self.flushes}") for s in inner}  # type: ignore[attr-defined]
        self.text = json.dumps(self.lifetimes.to_json())

    def step(self, now: int, *users: str, reads: tuple[str, ...] = (), latest: int = 0) -> None:
        """Rows of `users` are put, those of `reads` change nothing."""
        self.lifetimes.begin(now, now)
        if users or reads:
            batch = pl.DataFrame({"user": [*users, *reads]}, schema={"user": pl.String})
            event = self.ttl.time is TtlTime.EVENT
            self.lifetimes.accessed(
                batch.with_columns(pl.lit(latest).alias(LATEST)) if event else batch, len(batch)
            )
            self.store.put(logins(*users))
            self.lifetimes.taken()
        self.lifetimes.end(now, now)
        self.store._check()

    def users(self) -> list[str]:
        return self.store.scan(START, END)["user"].to_list()

    @property
    def held(self) -> int:
        """Records that are there, whether they may be read or not."""
        return len(self.store.inner)

    def on_disk(self) -> str:
        """Whatever any blob says."""
        return str([decode_segment(data).rows() for data in self.blobs.blobs.values()])


def logins(*users: str) -> pl.DataFrame:
    schema = {"t": pl.Int64, "user": pl.String, "n": pl.Int64}
    return pl.DataFrame([(0, user, 1) for user in users], schema=schema, orient="row")


def bucket(cleanup: Cleanup, **more: object) -> Bucket:
    return Bucket(Ttl(HOUR, cleanup=cleanup, **more))  # type: ignore[arg-type]


NOTHING = Cleanup()
TIMERS = Cleanup(timers=True)


def test_a_life_ends_a_ttl_after_its_last_write_and_at_that_very_time() -> None:
    kept = bucket(NOTHING)
    kept.step(0, "ann", "bob")
    kept.step(30, "bob", reads=("ann",))
    for now, users in ((59, ["ann", "bob"]), (60, ["bob"]), (89, ["bob"]), (90, [])):
        kept.step(now)
        assert kept.users() == users
    assert kept.held == 2


def test_reading_renews_where_it_is_set_to() -> None:
    kept = bucket(NOTHING, update=Update.READ)
    kept.step(0, "ann", "bob", "cid")
    kept.step(30, reads=("ann",))
    kept.lifetimes.read(logins("bob"))  # an emission, or who asks by key
    kept.step(60)
    assert kept.users() == ["ann", "bob"]


def test_a_scan_of_everything_reads_no_key() -> None:
    kept = bucket(NOTHING, update=Update.READ, visibility=Visibility.UNTIL_CLEANED)
    kept.step(0, "ann")
    kept.step(30)
    assert kept.users() == ["ann"]
    kept.step(60)
    assert kept.users() == kept.users() == ["ann"]


def test_a_key_that_comes_again_has_another_life() -> None:
    kept = bucket(NOTHING)
    kept.step(0, "ann")
    kept.step(60, "ann")
    assert (kept.users(), kept.held) == (["ann"], 2)
    assert kept.lifetimes.entries.store.scan(START, END)["__life"].to_list() == [0, 1]


def test_what_has_expired_is_read_once_where_it_may_be() -> None:
    kept = bucket(NOTHING, visibility=Visibility.UNTIL_CLEANED)
    kept.step(0, "ann", "bob")
    kept.step(60, "bob", reads=("ann",))
    assert (kept.users(), kept.lifetimes.next) == (["bob"], 2)
    kept.step(60, "ann")
    assert (kept.users(), kept.lifetimes.next) == (["ann", "bob"], 3)


def test_timers_leave_nothing_and_say_when() -> None:
    kept = bucket(TIMERS)
    kept.step(0, "ann")
    kept.step(30, "bob")
    assert kept.lifetimes.deadline == 60
    kept.step(60)
    assert (kept.held, kept.lifetimes.deadline) == (1, 90)
    kept.step(90)
    assert (kept.held, len(kept.lifetimes.entries.store), kept.lifetimes.deadline) == (0, 0, None)


def test_incremental_cleanup_looks_at_so_many_entries_in_turn() -> None:
    kept = bucket(Cleanup(incremental=2), visibility=Visibility.UNTIL_CLEANED)
    kept.step(0, "a", "b", "c", "d", "e")
    kept.step(60)
    assert kept.users() == list("abcde")  # without access nothing is cleaned
    kept.step(60, "x")
    assert kept.users() == list("cdex")
    kept.step(60, "y")
    assert kept.users() == list("exy")
    assert kept.held == 5  # a and b were a third of all, and so compacted away


def test_incremental_cleanup_may_count_rows_as_well() -> None:
    cleanup = Cleanup(incremental=1, each_record=True)
    kept = bucket(cleanup, visibility=Visibility.UNTIL_CLEANED)
    kept.step(0, "a", "b", "c", "d", "e")
    kept.lifetimes.begin(60, 60)
    kept.lifetimes.accessed(logins("x", "x"), rows=2)
    assert kept.users() == list("de")


@pytest.mark.parametrize(
    ("others", "now", "held"), [(3, 60, 3), (4, 60, 5), (4, 74, 5), (4, 75, 4)]
)
def test_compaction_is_due_at_a_quarter_of_the_entries_or_of_the_ttl(
    others: int, now: int, held: int
) -> None:
    kept = bucket(Cleanup(compaction=True))
    alive = [str(n) for n in range(others)]
    kept.step(0, "ann", *alive)
    kept.step(50, *alive)
    kept.step(now)
    assert kept.held == held


@pytest.mark.parametrize("run", [None, "second"])
def test_a_restore_cleans_where_it_is_set_to(run: str | None) -> None:
    kept = bucket(Cleanup(full_snapshot=True))
    kept.open("first")
    kept.step(0, "ann", "bob")
    kept.step(30, "bob")
    kept.flush()
    kept.open("first")  # the same run goes on
    kept.step(60)
    assert (kept.users(), kept.held) == (["bob"], 2)
    kept.flush()
    kept.open(run)
    kept.step(61)
    assert (kept.users(), kept.held) == (["bob"], 1)


def test_in_event_time_a_life_goes_by_its_newest_row_or_the_watermark() -> None:
    kept = bucket(NOTHING, time=TtlTime.EVENT)
    kept.step(0, "ann", latest=20)
    kept.step(10, "bob", latest=5)  # late
    for watermark, users in ((69, ["ann", "bob"]), (70, ["ann"]), (80, [])):
        kept.step(watermark)
        assert kept.users() == users
    assert bucket(TIMERS, time=TtlTime.EVENT).lifetimes.deadline is None


def test_numbers_and_turns_survive_a_restart() -> None:
    kept = bucket(Cleanup(incremental=1), visibility=Visibility.UNTIL_CLEANED)
    kept.step(0, "a", "b", "c")
    for turn, users in ((60, list("bc")), (60, list("c"))):
        kept.step(turn, reads=("z",))
        kept.flush()
        kept.open(None)
        assert kept.users() == users
    kept.step(60, "x")
    assert kept.lifetimes.next == 4


def test_a_cut_is_of_one_life_and_names_no_key() -> None:
    kept = bucket(TIMERS)
    kept.step(0, "ann", "bob")
    kept.store.cut(pl.DataFrame({"user": ["ann"], "__floor": [5]}))
    kept.flush()
    assert kept.users() == ["bob"]
    (cut,) = kept.indexes["logins"]["cuts"]  # type: ignore[index]
    assert decode_segment(kept.blobs.get(cut["name"])).rows() == [(0, 5)]
    kept.step(60, "ann")
    kept.flush()
    assert kept.users() == ["ann"]
    assert kept.indexes["logins"]["cuts"] == []  # type: ignore[index]


def test_what_is_erased_is_gone_from_disk_two_flushes_later() -> None:
    kept = bucket(TIMERS)
    kept.step(0, "ann")
    kept.flush()
    kept.step(30, "bob")
    kept.flush()
    kept.step(60)
    assert "ann" in kept.on_disk()
    for _ in range(2):
        kept.flush()
    assert "ann" not in kept.on_disk()
    assert "bob" in kept.on_disk()


def test_a_put_outside_of_a_batch_begins_no_life() -> None:
    kept = bucket(NOTHING)
    kept.store.put(logins("ann"))
    assert (kept.users(), kept.held, len(kept.lifetimes.entries.store)) == ([], 0, 0)


def test_state_of_another_time_is_refused() -> None:
    kept = bucket(NOTHING)
    kept.flush()
    kept.ttl = Ttl(HOUR, time=TtlTime.EVENT)
    with pytest.raises(StateError, match="processing time, not event time"):
        kept.open(None)


def test_ttl_entries_are_a_store_of_its_own_name() -> None:
    assert ttl_layout({}).name == TTL_ENTRIES
