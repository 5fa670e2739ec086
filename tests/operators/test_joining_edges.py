"""Joins at their edges, over few rows: window ends, NULL keys, corrections, SAMZA-552."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sqlwin.instants import END, MINUTE, SECOND, START, parse_instant
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.schema import POS
from sqlwin.operators.joins.sides import Side
from sqlwin.policies import Early, Late, Policy
from sqlwin.schema import PART, ROW_KEY, SEQ, TS
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow
from tests.support.operators.driving import emissions
from tests.support.operators.joins import INT, LEFT, RIGHT, Joined, join, rows_of, window


def left(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """(key, value, instant); the instant of the first is its position too."""
    return rows_of(LEFT, *((k, 1, v, ts, ts + n, ts, 1) for n, (k, v, ts) in enumerate(rows)))


def right(*rows: tuple[Any, ...], weight: int = 1) -> pl.DataFrame:
    placed = enumerate(rows)
    return rows_of(RIGHT, *((k, 1, v, ts, ts + n, ts, weight) for n, (k, v, ts) in placed))


@pytest.mark.parametrize(("at", "pairs"), [(94, 0), (95, 1), (110, 1), (111, 0)])
def test_both_ends_of_a_window_are_in_it(at: int, pairs: int) -> None:
    driven = Joined(join(window(-5, 10)))
    assert len(driven.step(left(("a", 1, 100)), right(("a", 1, at)))) == pairs


@pytest.mark.parametrize(("apart", "pairs"), [(2, 1), (3, 0)])
def test_a_window_of_n_messages_holds_n(apart: int, pairs: int) -> None:
    """ROWS 3 of the left stream: its row and the two before it."""
    driven = Joined(join(window(None, 2, Unit.ROWS)))
    assert len(driven.step(left(("a", 1, 1)), right(("a", 1, 1 + apart)))) == pairs


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("inner", 0), ("left", 1), ("right", 1), ("full", 2), ("semi", 0), ("anti", 1)],
)
def test_null_equals_nothing(kind: str, rows: int) -> None:
    driven = Joined(join(window(0, 0), kind))
    emitted = driven.step(left((None, 1, 10)), right((None, 1, 10)), watermark=11)
    assert len(emitted) == rows


def test_a_row_is_padded_once_no_match_may_come_that_is_not_late() -> None:
    driven = Joined(join(window(0, 5), "left"))
    assert driven.step(left(("a", 1, 10)), watermark=15).is_empty()
    assert emissions(driven.step(watermark=16), "v", "w") == [("+I", "full", 0, 1, None)]


def test_a_late_match_retracts_the_padded_row_first() -> None:
    driven = Joined(join(window(0, 5), "left"))
    padded = driven.step(left(("a", 1, 10)), watermark=16)
    emitted = driven.step(right=right(("a", 2, 12)))
    assert emissions(emitted, "v", "w") == [("-D", "late", 1, 1, None), ("+I", "late", 0, 1, 2)]
    assert emitted[ROW_KEY].to_list() == ["[[0,10],null]", "[[0,10],[0,12]]"]
    assert padded[ROW_KEY].to_list() == ["[[0,10],null]"]


def test_early_a_row_is_padded_at_once() -> None:
    driven = Joined(join(window(0, 5), "full", early=Early.ON_UPDATE))
    assert emissions(driven.step(left(("a", 1, 10))), "v", "w") == [("+I", "early", 0, 1, None)]
    emitted = driven.step(right=right(("a", 2, 12)))
    assert emissions(emitted, "v", "w") == [("-D", "full", 1, 1, None), ("+I", "full", 0, 1, 2)]


def test_a_row_that_was_retracted_leaves_its_partner_alone() -> None:
    driven = Joined(join(window(0, 5), "left", weighted=True))
    driven.step(left(("a", 1, 10)), right(("a", 2, 12)), watermark=16)
    emitted = driven.step(right=right(("a", 2, 12), weight=-1))
    assert emissions(emitted, "v", "w") == [("-D", "late", 1, 1, 2), ("+I", "late", 0, 1, None)]
    again = driven.step(right=right(("a", 3, 12)))
    assert emissions(again, "v", "w") == [("-D", "late", 1, 1, None), ("+I", "late", 2, 1, 3)]


def test_a_semi_row_goes_out_once_and_an_anti_row_once_it_is_certain() -> None:
    semi, anti = Joined(join(window(0, 5), "semi")), Joined(join(window(0, 5), "anti"))
    rows = left(("a", 1, 10), ("b", 2, 10)), right(("a", 1, 11))
    assert emissions(semi.step(*rows), "k") == [("+I", "full", 0, "a")]
    assert semi.step(right=right(("a", 1, 12)), watermark=16).is_empty()
    assert anti.step(*rows).is_empty()
    assert emissions(anti.step(watermark=16), "k") == [("+I", "full", 0, "b")]


def test_rows_are_kept_for_as_long_as_a_row_that_is_not_expired_may_match() -> None:
    driven = Joined(join(window(-3, 5), retain=4))
    driven.step(left(("a", 1, 10)), right(("a", 9, 30)), watermark=19)
    assert [len(driven.stores[name]) for name in ("left", "right")] == [1, 1]
    assert len(driven.step(right=right(("a", 2, 15)))) == 1  # 4 late
    driven.step(watermark=20)
    assert len(driven.stores["left"]) == 0


def test_retain_rows_evicts_a_row_when_its_window_has_passed_and_n_of_its_key_are_newer() -> None:
    driven = Joined(join(window(-3, 5), retain=None, retain_rows=2))
    driven.step(left(("a", 1, 10), ("a", 2, 12), ("a", 3, 14), ("b", 4, 10)), watermark=15)
    assert len(driven.stores["left"]) == 4
    driven.step(watermark=16)
    assert driven.stores["left"].scan(START, END)["v"].to_list() == [4, 2, 3]
    assert driven.horizons() == [{("a",): 12}, {}]


def test_without_a_window_retain_rows_makes_a_row_certain() -> None:
    driven = Joined(join(window(None, None), "left", retain=None, retain_rows=1))
    assert driven.step(left(("a", 1, 10), ("a", 2, 12)), watermark=10).is_empty()
    assert emissions(driven.step(watermark=11), "v", "w") == [("+I", "full", 0, 1, None)]
    assert len(driven.step(right=right(("a", 5, 9)))) == 1


def test_retain_rows_counts_the_rows_of_null() -> None:
    driven = Joined(join(window(None, None), "anti", retain=None, retain_rows=1))
    rows = left((None, 1, 10), (None, 2, 12), ("a", 3, 9))
    assert emissions(driven.step(rows, watermark=20), "v") == [("+I", "full", 0, 1)]


def test_what_waits_goes_out_together_at_the_end_of_its_period() -> None:
    driven = Joined(join(window(0, 5), early=Early.EVERY, early_period=10))
    assert driven.step(left(("a", 1, 10)), right(("a", 2, 10)), now=103).is_empty()
    assert driven.step(right=right(("a", 3, 11)), now=105).is_empty()
    assert driven.operator.next_deadline(driven.stores) == 110
    assert emissions(driven.step(now=110), "w") == [("+I", "full", 0, 2), ("+I", "full", 0, 3)]
    assert driven.operator.next_deadline(driven.stores) is None


def test_an_asof_row_is_corrected_by_a_late_one_that_is_nearer() -> None:
    driven = Joined(join(AsOf(">="), "left", update_before=True))
    rows = left(("a", 1, 8), ("b", 2, 8)), right(("a", 5, 5))
    assert driven.step(*rows, watermark=8).is_empty()
    assert emissions(driven.step(watermark=9), "v", "w") == [
        ("+I", "full", 0, 1, 5),
        ("+I", "full", 0, 2, None),
    ]
    emitted = driven.step(right=right(("a", 6, 6)))
    assert emissions(emitted, "v", "w") == [("-U", "late", 0, 1, 5), ("+U", "late", 1, 1, 6)]
    assert emitted[ROW_KEY].unique().to_list() == ["[0,8]"]


@pytest.mark.parametrize(("op", "w"), [(">=", 2), (">", 1), ("<=", 2), ("<", 3)])
def test_an_asof_join_compares_by_its_operator(op: str, w: int) -> None:
    driven = Joined(join(AsOf(op)))
    rows = left(("a", 1, 10)), right(("a", 1, 9), ("a", 2, 10), ("a", 3, 11))
    assert emissions(driven.step(*rows, watermark=12), "w") == [("+I", "full", 0, w)]


def test_the_newest_version_of_each_key_stays_however_old() -> None:
    driven = Joined(join(AsOf(">="), retain=0))
    driven.step(right=right(("a", 1, 10), ("a", 2, 20), ("b", 3, 10)), watermark=1000)
    emitted = driven.step(left(("a", 1, 1000), ("b", 2, 1000)), watermark=1001)
    assert emissions(emitted, "w") == [("+I", "full", 0, 2), ("+I", "full", 0, 3)]
    assert len(driven.stores["right"]) == 2


@pytest.mark.parametrize(
    ("large", "low", "unit", "keys", "order"),
    [
        (False, -5, Unit.RANGE, (), ("__ts", "k", "__part", "__seq")),
        (True, -5, Unit.RANGE, ("k",), ("__ts", "__part", "__seq")),
        (False, None, Unit.RANGE, ("k",), ("__ts", "__part", "__seq")),
        (False, -5, Unit.ROWS, (), ("__pos", "__part", "__seq")),
        (True, -5, Unit.ROWS, ("k",), ("__pos", "__part", "__seq")),
    ],
)
def test_the_message_key_is_that_of_the_table(
    large: bool, low: int | None, unit: Unit, keys: tuple[str, ...], order: tuple[str, ...]
) -> None:
    layout = join(window(low, 5, unit), large=large).left.layout
    assert (layout.keys, layout.order) == (keys, order)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"match": window(0, 5), "kind": "outer"}, "a join is one of inner, left"),
        ({"match": AsOf(">="), "kind": "full"}, "inner or left, got full"),
        ({"match": window(0, 5, Unit.ROWS), "retain_rows": 2}, "RETAIN"),
        ({"match": AsOf(">="), "retain_rows": 2, "weighted": True}, "RETAIN"),
    ],
)
def test_what_no_join_can_be_is_refused(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        join(**options)


# SAMZA-552's two worked examples.

SHIPMENT: dict[str, pl.DataType] = {"id": INT, "cost": INT}
ORDER: dict[str, pl.DataType] = {"order_id": INT, "value": INT}
ORDERS = [  # arrives, offset, value, id, time
    ("09:00:00", 1, 0, 1, "08:59:10"),
    ("09:00:59", 2, 5, 3, "09:00:00"),
    ("09:02:01", 3, 9, 9, "08:59:30"),
]
SHIPMENTS = [
    ("09:00:00", 1000, 0, 3, "09:00:10"),
    ("09:00:10", 1001, 2, 1, "09:00:10"),
    ("09:01:01", 1002, 3, 1, "09:01:10"),
    ("09:01:01", 1003, 1, 9, "09:01:20"),
]


def instant(clock: str) -> int:
    return parse_instant(f"2015-02-01T{clock}Z")


def placed(columns: dict[str, pl.DataType], rows: list[Any], first: int) -> pl.DataFrame:
    """first: the offset from which messages are numbered."""
    schema = {**columns, TS: INT, SEQ: INT, POS: INT}
    records = [(id, value, instant(at), seq, seq - first) for _, seq, value, id, at in rows]
    frame = pl.DataFrame(records, schema=schema, orient="row")
    return frame.with_columns(pl.lit(0, pl.Int32()).alias(PART))


def samza(match: JoinWindow, period: int) -> list[tuple[str, int, int, int]]:
    """When what goes out, by the clock: (id, value, cost)."""
    sides = (
        Side("left", SHIPMENT, ("id",), match, MINUTE),
        Side("right", ORDER, ("order_id",), match.mirrored, MINUTE),
    )
    policy = Policy(None, Late.ON_UPDATE, early=Early.EVERY, early_period=period)
    driven, out, newest = Joined(WindowJoin(*sides, "inner", policy)), [], {}
    for second in range(400):
        now = instant("09:00:00") + second * SECOND
        came = [[r for r in rows if instant(r[0]) == now] for rows in (SHIPMENTS, ORDERS)]
        for side, rows in enumerate(came):
            times = [instant(row[-1]) for row in rows]
            newest[side] = max([*times, newest.get(side, 0)])
        frames = placed(SHIPMENT, came[0], 999), placed(ORDER, came[1], 0)
        emitted = driven.step(*frames, now=now, watermark=min(newest.values()))
        sent = emitted.select("id", "value", "cost").rows()
        out += [(f"{9 + second // 3600:02}:{second // 60:02}:{second % 60:02}", *r) for r in sent]
    return out


def test_samza_orders_of_three_messages() -> None:
    """At 9:01, 9:02 and 9:03, as SAMZA-552 has it."""
    assert samza(JoinWindow(Unit.ROWS, -2, None), MINUTE) == [
        ("09:01:00", 3, 5, 0),
        ("09:01:00", 1, 0, 2),
        ("09:02:00", 1, 0, 3),
        ("09:03:00", 9, 9, 1),
    ]


def test_samza_orders_of_two_minutes() -> None:
    """The order of 8:59:10 and the shipment of 9:01:10 are exactly two minutes apart."""
    assert samza(JoinWindow(Unit.RANGE, -2 * MINUTE, None), 2 * MINUTE) == [
        ("09:02:00", 3, 5, 0),
        ("09:02:00", 1, 0, 2),
        ("09:02:00", 1, 0, 3),
        ("09:04:00", 9, 9, 1),
    ]
