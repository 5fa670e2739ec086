from __future__ import annotations

import pytest

from sqlwin.instants import MINUTE, SECOND
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.policies import Early, Late
from sqlwin.windows.group import Cumulate
from tests.support.operators.aggregators import HOPPING, Fed, aggregator

BOTH = ("total", "values")


def held(fed: Fed, name: str = PANES) -> int:
    return len(fed.driven.stores[name])


def horizons(fed: Fed) -> dict[object, float]:
    frame = fed.driven.operator.horizons(fed.driven.stores)
    return {row[0]: row[-1] / MINUTE for row in frame.iter_rows()}


def test_without_retention_nothing_ever_leaves() -> None:
    fed = Fed(aggregator(late=Late.ON_UPDATE))
    fed(("tea", 1, 0), watermark=1e6)
    assert fed(("tea", 2, 0)) == [("+U", "late", 1, "tea", 1, 3)]
    assert held(fed) == 1


@pytest.mark.parametrize("restarts", [False, True])
def test_a_window_is_retained_until_the_watermark_is_past_its_retention(restarts: bool) -> None:
    fed = Fed(aggregator(HOPPING, retain=2 * MINUTE, values=BOTH, late=Late.ON_UPDATE), restarts)
    fed(("tea", 1, 0.5), watermark=3.9)
    # [0, 2) is retired at 4: this is the last row that corrects it
    assert fed(("tea", 2, 1.95)) == [
        ("+U", "late", 1, "tea", 2, 3, [1, 2]),
        ("+I", "late", 0, "tea", 3, 2, [2]),
    ]
    fed(watermark=4)
    assert (held(fed), held(fed, MESSAGES), fed.records()) == (1, 1, 1)
    assert fed(("tea", 4, 2)) == [
        ("+U", "late", 1, "tea", 3, 6, [2, 4]),
        ("+I", "late", 0, "tea", 4, 4, [4]),
    ]


def test_what_waits_in_a_leaving_window_goes_out_before() -> None:
    fed = Fed(aggregator(retain=MINUTE, update_before=True))
    fed(("tea", 1, 0.5), watermark=1)
    fed(("tea", 2, 0.5), now=1)
    assert fed(("tea", 4, 1.5), watermark=2, now=2) == [
        ("+I", "full", 0, "tea", 2, 4),
        ("-U", "late", 0, "tea", 1, 1),
        ("+U", "late", 1, "tea", 1, 3),
    ]
    assert (held(fed), fed.records(), fed.deadline) == (1, 0, None)


def test_records_of_early_windows_leave_with_them() -> None:
    fed = Fed(aggregator(Cumulate(2 * MINUTE, MINUTE), early=Early.ON_UPDATE, retain=0))
    for minute in range(10):
        fed(("tea", 1, minute), watermark=minute)
    assert fed.records() <= 2
    assert held(fed) <= 3


# By messages.


@pytest.mark.parametrize("restarts", [False, True])
def test_the_floor_is_the_pane_of_the_nth_newest_row(restarts: bool) -> None:
    fed = Fed(aggregator(retain_rows=3), restarts)
    fed(("tea", 1, 0.5), ("tea", 1, 1.2), ("tea", 1, 1.5), ("milk", 1, 0), ("milk", 1, 7))
    assert horizons(fed) == {"tea": 0}
    fed(("tea", 1, 3.5), (None, 1, 5), (None, 1, 5), (None, 1, 5))
    assert horizons(fed) == {"tea": 1, None: 5}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_full_window_below_the_floor_of_its_key_retires(restarts: bool) -> None:
    fed = Fed(aggregator(HOPPING, retain_rows=2, values=BOTH), restarts)
    fed(("tea", 1, 0.5), (None, 1, 0.5), watermark=5)
    assert fed(("tea", 2, 0.6), now=1) == []
    # two rows from minute 4 on: tea's windows that end by 4 are out of retention
    assert fed(("tea", 4, 4.1), ("tea", 8, 4.2), now=2) == [
        ("+U", "late", 1, "tea", 1, 3, [1, 2]),
        ("+U", "late", 1, "tea", 2, 3, [1, 2]),
    ]
    assert horizons(fed) == {"tea": 4}
    left = fed.driven.stores[PANES].scan(-(2**62), 2**62)
    assert left.select("k", "__rows").rows() == [(None, 1), ("tea", 2)]
    assert held(fed, MESSAGES) == 3
    assert fed(now=20) == [("+I", "late", 0, "tea", 5, 12, [4, 8])]
    assert fed((None, 16, 0.7), now=30) == []
    assert [row[:6] for row in fed(now=40)] == [
        ("+U", "late", 1, None, 1, 17),
        ("+U", "late", 1, None, 2, 17),
    ]


def test_open_windows_stay_whatever_the_floor() -> None:
    fed = Fed(aggregator(HOPPING, retain_rows=1))
    fed(("tea", 1, 0.5), ("tea", 2, 9.5), watermark=1)
    assert horizons(fed) == {"tea": 9}
    assert fed(watermark=2) == [("+I", "full", 0, "tea", 2, 1)]
    fed(watermark=4)
    assert held(fed) == 1


def test_a_row_at_the_floor_is_kept() -> None:
    fed = Fed(aggregator(retain_rows=2, late=Late.ON_UPDATE))
    fed(("tea", 1, 1.5), ("tea", 2, 2.5), watermark=4)
    assert fed(("tea", 4, 1.0)) == [("+U", "late", 1, "tea", 2, 5)]


def test_without_keys_there_is_one_floor() -> None:
    fed = Fed(aggregator(keys=(), retain_rows=2))
    assert fed.driven.operator.horizons(fed.driven.stores).is_empty()
    fed(("tea", 1, 1.5), ("milk", 2, 2.5), ("tea", 1, 3.5), watermark=4)
    assert fed.driven.operator.horizons(fed.driven.stores).rows() == [(2 * MINUTE,)]
    assert held(fed) == 2


def test_grouping_sets_count_the_rows_of_what_they_have_in_common() -> None:
    operator = aggregator(keys=("k", "b"), sets=(("k", "b"), ("k",)), retain_rows=2, values=BOTH)
    fed = Fed(operator, restarts=True)
    rows = [(("tea", 1), 1, 0.5), (("tea", 2), 1, 1.5), (("tea", 3), 1, 2.5), (("milk", 1), 1, 0)]
    fed(*rows, watermark=4)
    assert horizons(fed) == {"tea": 1}
    assert held(fed) == 2 * 3
    assert held(fed, MESSAGES) == 3


# By both.


def test_by_both_the_first_to_be_over_retires() -> None:
    fed = Fed(aggregator(retain=10 * MINUTE, retain_rows=2))
    fed(("tea", 1, 0.5), ("tea", 2, 1.5), ("tea", 4, 2.5), ("milk", 8, 0.5), watermark=4)
    assert held(fed) == 3
    fed(watermark=11)
    assert held(fed) == 2
    fed(watermark=20)
    assert held(fed) == 0
    assert horizons(fed) == {}


def test_early_full_late_timeout_and_both_retentions_at_once() -> None:
    operator = aggregator(
        HOPPING,
        values=BOTH,
        early=Early.ROWS,
        early_rows=2,
        late_period=10 * SECOND,
        timeout=MINUTE,
        retain=5 * MINUTE,
        retain_rows=3,
    )
    fed = Fed(operator, restarts=True)
    assert fed(("tea", 1, 0.5), ("tea", 2, 1.5)) == [("+I", "early", 0, "tea", 2, 3, [1, 2])]
    assert fed(now=60) == [
        ("+I", "full", 0, "tea", 1, 1, [1]),
        ("+U", "full", 1, "tea", 2, 3, [1, 2]),
        ("+I", "full", 0, "tea", 3, 2, [2]),
    ]
    assert fed(("tea", 4, 1.7), watermark=2, now=61) == []
    assert fed.deadline == 70
    assert fed(now=70) == [
        ("+U", "late", 2, "tea", 2, 7, [1, 2, 4]),
        ("+U", "late", 1, "tea", 3, 6, [2, 4]),
    ]
    assert fed(("tea", 8, 1.8), now=80) == []
    # three rows from minute 2 on retire what is full below
    assert fed(("tea", 16, 2.5), ("tea", 32, 2.6), ("tea", 64, 2.7), now=81) == [
        ("+U", "late", 3, "tea", 2, 15, [1, 2, 4, 8]),
        ("+I", "early", 0, "tea", 4, 112, [16, 32, 64]),
    ]
    assert fed(watermark=4, now=82) == [("+U", "full", 1, "tea", 4, 112, [16, 32, 64])]
    assert fed(now=90) == [("+U", "late", 2, "tea", 3, 126, [2, 4, 8, 16, 32, 64])]
