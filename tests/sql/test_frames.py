"""Frames of OVER: every spelling, mirrored and without peers; and what is no frame."""

import pytest

from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from tests.support.sql.cases import MINUTE, over

RANGE, ROWS = Unit.RANGE, Unit.ROWS


def frame(window: str) -> Frame:
    (call,) = over(f"SELECT SUM(n) OVER ({window}) FROM orders").calls
    return call.frame


@pytest.mark.parametrize(
    ("window", "meant"),
    [
        ("ORDER BY ts", Frame(RANGE, None, 0)),
        ("ORDER BY ts ASC NULLS LAST", Frame(RANGE, None, 0)),
        ("", Frame(RANGE, None, None)),
        ("PARTITION BY product", Frame(RANGE, None, None)),
        ("RANGE CURRENT ROW", Frame(RANGE, None, None)),
        (
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            Frame(RANGE, None, None),
        ),
        ("ORDER BY ts ROWS UNBOUNDED PRECEDING", Frame(ROWS, None, 0)),
        ("ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", Frame(ROWS, 3, 2)),
        ("ORDER BY ts ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING", Frame(ROWS, 5, -2)),
        ("ORDER BY ts ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING", Frame(ROWS, -2, 5)),
        ("ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING", Frame(ROWS, 0, 1)),
        ("ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING", Frame(ROWS, -1, None)),
        (
            "ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' MINUTE PRECEDING",
            Frame(RANGE, None, -MINUTE),
        ),
        (
            "ORDER BY ts RANGE BETWEEN 1 MINUTE PRECEDING AND 2 MINUTES FOLLOWING",
            Frame(RANGE, MINUTE, 2 * MINUTE),
        ),
        (
            "ORDER BY ts RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            Frame(RANGE, 0, None),
        ),
    ],
)
def test_every_bound_at_either_end(window: str, meant: Frame) -> None:
    assert frame(window) == meant


@pytest.mark.parametrize("exclude", Exclude)
def test_exclude(exclude: Exclude) -> None:
    assert frame(f"ORDER BY ts ROWS 3 PRECEDING EXCLUDE {exclude.value}").exclude is exclude


def test_exclude_without_order() -> None:
    whole = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW"
    assert frame(whole) == Frame(RANGE, None, None, Exclude.CURRENT_ROW)


@pytest.mark.parametrize(
    ("window", "meant"),
    [
        ("ORDER BY ts DESC", Frame(RANGE, 0, None)),
        ("ORDER BY ts DESC ROWS 3 PRECEDING", Frame(ROWS, 0, 3)),
        ("ORDER BY ts DESC ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING", Frame(ROWS, 1, 3)),
        (
            "ORDER BY ts DESC RANGE BETWEEN 3 MINUTES PRECEDING AND 1 MINUTE PRECEDING",
            Frame(RANGE, -MINUTE, 3 * MINUTE),
        ),
    ],
)
def test_descending_order_mirrors(window: str, meant: Frame) -> None:
    assert frame(window) == meant


@pytest.mark.parametrize(
    ("window", "meant"),
    [
        ("ORDER BY ts, id", Frame(ROWS, None, 0)),
        ("ORDER BY ts DESC, id DESC", Frame(ROWS, 0, None)),
        ("ORDER BY ts, id ROWS 9 PRECEDING", Frame(ROWS, 9, 0)),
        ("ORDER BY ts, id RANGE BETWEEN CURRENT ROW AND CURRENT ROW", Frame(ROWS, 0, 0)),
        (
            "ORDER BY ts, id ROWS 9 PRECEDING EXCLUDE GROUP",
            Frame(ROWS, 9, 0, Exclude.CURRENT_ROW),
        ),
        ("ORDER BY ts, id ROWS 9 PRECEDING EXCLUDE TIES", Frame(ROWS, 9, 0)),
    ],
)
def test_behind_the_offset_no_rows_are_peers(window: str, meant: Frame) -> None:
    assert frame(window) == meant


@pytest.mark.parametrize(
    ("window", "meant", "order"),
    [
        ("ORDER BY ts, price", Frame(RANGE, None, 0), [Order("price")]),
        ("ORDER BY ts, id DESC", Frame(RANGE, None, 0), [Order("id", True, True)]),
        (
            "ORDER BY ts DESC, price, n NULLS LAST",
            Frame(RANGE, 0, None),
            [Order("price", True, True), Order("n", descending=True)],
        ),
        ("ORDER BY ts, n, n DESC ROWS 2 PRECEDING", Frame(ROWS, 2), [Order("n")]),
        ("ORDER BY ts, n + 1 RANGE CURRENT ROW", Frame(RANGE, 0), [Order("_order1")]),
        (
            "ORDER BY ts, n ROWS 9 PRECEDING EXCLUDE GROUP",
            Frame(ROWS, 9, 0, Exclude.GROUP),
            [Order("n")],
        ),
    ],
)
def test_keys_behind_event_time_are_a_part_of_the_call(
    window: str, meant: Frame, order: list[Order]
) -> None:
    (call,) = over(f"SELECT SUM(value) OVER ({window}) FROM orders").calls
    assert (call.frame, list(call.order)) == (meant, order)


def test_the_offset_may_be_renamed_below() -> None:
    inner = "(SELECT n, ts AS t, id AS i FROM orders)"
    (call,) = over(f"SELECT SUM(n) OVER (ORDER BY t, i) FROM {inner}").calls
    assert call.frame == Frame(ROWS, None, 0)


def test_an_excluded_part_of_a_named_window() -> None:
    made = over(
        "SELECT SUM(n) OVER (w ROWS 3 PRECEDING EXCLUDE TIES), SUM(n) OVER v FROM orders "
        "WINDOW w AS (ORDER BY ts), v AS (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    )
    assert [call.frame for call in made.calls] == [
        Frame(ROWS, 3, 0, Exclude.TIES),
        Frame(ROWS, 2, 0),
    ]


def test_unbounded_frames_are_kept_for_ever_and_others_no_less_than_the_delay() -> None:
    unbounded = over("SELECT SUM(n) OVER (ORDER BY ts) FROM orders")
    assert unbounded.policy.retain is None
    following = "RANGE BETWEEN 1 MINUTE PRECEDING AND 3 MINUTES FOLLOWING"
    made = over(f"SELECT SUM(n) OVER (ORDER BY ts {following}) FROM orders")
    assert made.policy.retain == 3 * MINUTE
