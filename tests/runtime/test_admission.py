"""What a task admits: nothing beyond its count, nothing twice, in bounded memory."""

from __future__ import annotations

import polars as pl
import pytest

from sqlwin.operators.contract import Stores
from sqlwin.runtime.inputs.admission import SEEN, Admission, Admitted, admit, expired_before
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.rows.error_stream import WHOLE
from sqlwin.schema import PART, SEQ, TS
from sqlwin.state.contract import HORIZON
from sqlwin.state.stores.memory import MemoryStore

KEYS = (("k", pl.String()),)
BY_TIME = Admission("orders", True, False, None, RowRetention(10), slice_width=5)
BY_ROWS = Admission("orders", True, False, KEYS, retention=None, slice_width=5)
RISING = Admission("orders", True, True, None, retention=None, slice_width=5)


def stores(rule: Admission) -> Stores:
    return Stores({spec.name: MemoryStore(spec.layout, spec.combine) for spec in rule.stores()})


def rows(*found: tuple[int, int] | tuple[int, int, int], k: str = "a") -> pl.DataFrame:
    """(seq, ts), or (seq, ts, part)."""
    parts = [row[2] if len(row) == 3 else 0 for row in found]
    return pl.DataFrame(
        {
            "k": [k] * len(found),
            TS: [row[1] for row in found],
            PART: parts,
            SEQ: [row[0] for row in found],
            WHOLE: [f"row {row[0]}" for row in found],
        },
        schema={"k": pl.String, TS: pl.Int64, PART: pl.Int32, SEQ: pl.Int64, WHOLE: pl.String},
    )


def horizons(k: str | None, floor: int) -> pl.DataFrame:
    return pl.DataFrame({"k": [k], HORIZON: [floor]}, schema={"k": pl.String, HORIZON: pl.Int64})


def seqs(admitted: Admitted) -> list[int]:
    return admitted.rows[SEQ].to_list()


@pytest.mark.parametrize("rule", [BY_TIME, RISING], ids=["seen", "rising"])
def test_a_message_is_taken_once(rule: Admission) -> None:
    known, offsets = stores(rule), {}
    first = admit(rule, rows((1, 5), (2, 6)), known, offsets, None, 0)
    again = admit(rule, rows((2, 6), (3, 7), (3, 7)), known, offsets, None, 0)
    assert (seqs(first), first.replayed) == ([1, 2], 0)
    assert (seqs(again), again.replayed) == ([3], 2)
    assert offsets == {0: 3}
    assert WHOLE not in again.rows.columns


def test_positions_are_those_of_a_partition() -> None:
    for rule in (BY_TIME, RISING):
        known, offsets = stores(rule), {}
        admit(rule, rows((1, 5), (2, 5)), known, offsets, None, 0)
        assert seqs(admit(rule, rows((1, 5, 1), (2, 5)), known, offsets, None, 0)) == [1]
        assert offsets == {0: 2, 1: 1}


def test_offsets_need_not_rise_where_positions_are_kept() -> None:
    known, offsets = stores(BY_TIME), {}
    admit(BY_TIME, rows((7, 5)), known, offsets, None, 0)
    assert seqs(admit(BY_TIME, rows((3, 5), (7, 5)), known, offsets, None, 0)) == [3]
    assert offsets == {0: 7}
    assert stores(RISING).named == {}, "a tuple window keeps no more than the offset"


def test_no_rows() -> None:
    known, offsets = stores(BY_TIME), {}
    assert seqs(admit(BY_TIME, rows(), known, offsets, None, 0)) == []
    assert offsets == {}


def test_positions_out_of_retention_are_forgotten() -> None:
    known = stores(BY_TIME)
    admit(BY_TIME, rows(*((n, n) for n in range(100))), known, {}, None, 0)
    BY_TIME.retire(90, known, None, [])
    assert known[SEEN].scan(-100, 100)[SEQ].to_list() == list(range(80, 100))


def test_positions_stay_as_long_as_their_messages() -> None:
    known = stores(BY_TIME)
    (spec,) = BY_TIME.stores()
    known.named["messages"] = MemoryStore(spec.layout, spec.combine)
    known["messages"].expire(30)
    admit(BY_TIME, rows(*((n, n) for n in range(100))), known, {}, None, 0)
    BY_TIME.retire(90, known, None, [known["messages"]])
    assert known[SEEN].scan(-100, 100)[SEQ].to_list() == list(range(30, 100))


def test_a_late_row_below_its_floor_is_expired_whole() -> None:
    known = stores(BY_ROWS)
    found = admit(BY_ROWS, rows((1, 5), (2, 8), (3, 20)), known, {}, horizons("a", 8), 10)
    assert seqs(found) == [2, 3]
    (error,) = found.errors.to_dicts()
    assert (error["reason"], error["position"], error["row"]) == ("expired", "0:1", "row 1")
    assert seqs(admit(BY_ROWS, rows((4, 5)), known, {}, horizons("b", 8), 10)) == [4]
    assert seqs(admit(BY_ROWS, rows((5, 9)), known, {}, horizons("a", 50), 9)) == [5], "not late"


@pytest.mark.parametrize(("watermark", "left"), [(50, [6, 7, 8, 9]), (3, [3, 4, 5, 6, 7, 8, 9])])
def test_floors_forget_positions_that_can_only_expire(watermark: int, left: list[int]) -> None:
    known = stores(BY_ROWS)
    admit(BY_ROWS, rows(*((n, n) for n in range(10))), known, {}, None, 0)
    BY_ROWS.retire(watermark, known, horizons("a", 6), [])
    assert known[SEEN].scan(-9, 99)[SEQ].to_list() == left
    BY_ROWS.retire(watermark, known, horizons("b", 99), [])
    assert known[SEEN].scan(-9, 99)[SEQ].to_list() == left


def test_floors_forget_no_position_of_a_message_that_is_kept() -> None:
    known = stores(BY_ROWS)
    (spec,) = BY_ROWS.stores()
    known.named["messages"] = MemoryStore(spec.layout, spec.combine)
    given = rows(*((n, n) for n in range(10)))
    admit(BY_ROWS, given, known, {}, None, 0)
    known["messages"].put(given.filter(pl.col(TS) >= 4).drop(WHOLE))
    BY_ROWS.retire(50, known, horizons("a", 6), [known["messages"]])
    assert known[SEEN].scan(-9, 99)[SEQ].to_list() == [4, 5, 6, 7, 8, 9]


def test_while_floors_are_lost_what_is_not_known_and_not_new_had_expired() -> None:
    left, errors = expired_before(BY_ROWS, rows((3, 5), (9, 5), (4, 30)), {0: 8}, 10)
    assert left[SEQ].to_list() == [9, 4]
    assert errors["row"].to_list() == ["row 3"]
