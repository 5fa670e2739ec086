from __future__ import annotations

import pytest

from sqlwin.errors import OverflowInAggregate
from sqlwin.instants import MINUTE
from sqlwin.operators.windows.messages import MESSAGES, PANES
from sqlwin.policies import Early, Late
from sqlwin.windows.group import Cumulate, Hop, Whole
from tests.support.operators.aggregators import HOPPING, Fed, aggregator, brief

BOTH = ("total", "values")


def test_windows_begin_at_the_offset() -> None:
    fed = Fed(aggregator(Hop(2 * MINUTE, 2 * MINUTE, offset=MINUTE // 2)))
    assert fed(("tea", 1, 0.4), ("tea", 2, 0.5), ("tea", 4, 2.4), watermark=9) == [
        ("+I", "full", 0, "tea", 0.5, 1),
        ("+I", "full", 0, "tea", 2.5, 6),
    ]


def test_emissions_come_by_end_start_and_keys() -> None:
    fed = Fed(aggregator(HOPPING, keys=("k", "b")))
    emitted = fed((("tea", 2), 1, 0), (("tea", 1), 1, 0), ((None, 3), 1, 1), watermark=3)
    assert emitted == [
        ("+I", "full", 0, "tea", 1, 1, 1),
        ("+I", "full", 0, "tea", 2, 1, 1),
        ("+I", "full", 0, None, 3, 2, 1),
        ("+I", "full", 0, "tea", 1, 2, 1),
        ("+I", "full", 0, "tea", 2, 2, 1),
        ("+I", "full", 0, None, 3, 3, 1),
    ]


@pytest.mark.parametrize("values", [("total",), BOTH])
def test_a_null_key_is_a_key_everywhere(values: tuple[str, ...]) -> None:
    operator = aggregator(
        values=values, early=Early.ON_UPDATE, late=Late.ON_UPDATE, update_before=True, retain=MINUTE
    )
    fed = Fed(operator, restarts=True)
    assert [row[:6] for row in fed((None, 1, 0.1))] == [("+I", "early", 0, None, 1, 1)]
    assert [row[:6] for row in fed((None, 2, 0.2), watermark=1)] == [
        ("-U", "full", 0, None, 1, 1),
        ("+U", "full", 1, None, 1, 3),
    ]
    assert [row[:6] for row in fed((None, 4, 0.3))] == [
        ("-U", "late", 1, None, 1, 3),
        ("+U", "late", 2, None, 1, 7),
    ]


# Cumulating.


def test_cumulating_windows_grow_to_the_whole() -> None:
    fed = Fed(aggregator(Cumulate(3 * MINUTE, MINUTE)))
    fed(("tea", 1, 0.5), ("tea", 2, 1.5), ("tea", 4, 4.5))
    assert fed(watermark=2) == [("+I", "full", 0, "tea", 1, 1), ("+I", "full", 0, "tea", 2, 3)]
    assert fed(watermark=5) == [("+I", "full", 0, "tea", 3, 3), ("+I", "full", 0, "tea", 5, 4)]
    assert fed(watermark=6) == [("+I", "full", 0, "tea", 6, 4)]


def test_a_late_row_corrects_cumulating_windows_that_hold_it() -> None:
    fed = Fed(aggregator(Cumulate(3 * MINUTE, MINUTE), late=Late.ON_UPDATE))
    fed(("tea", 1, 0.5), ("tea", 2, 2.5), watermark=3)
    assert fed(("tea", 4, 1.5)) == [
        ("+U", "late", 1, "tea", 2, 5),
        ("+U", "late", 1, "tea", 3, 7),
    ]


def test_window_start_of_cumulating_windows_is_their_runs() -> None:
    fed = Fed(aggregator(Cumulate(3 * MINUTE, MINUTE, offset=MINUTE)))
    emitted = fed.driven.step(fed.batch(("tea", 1, -1.5)), watermark=9 * MINUTE)
    starts = emitted["window_start"].cast(int).unique().to_list()
    assert starts == [-2 * MINUTE]
    assert emitted["window_end"].cast(int).to_list() == [-MINUTE, 0, MINUTE]


# Whole.


def test_the_whole_stream_is_full_at_its_end() -> None:
    fed = Fed(aggregator(Whole(), early=Early.ON_UPDATE, retain=MINUTE, retain_rows=1))
    assert fed(("tea", 1, 0)) == [("+I", "early", 0, "tea", 1)]
    assert fed(("tea", 2, 1e6), ("milk", 5, 3), watermark=1e6) == [
        ("+I", "early", 0, "milk", 5),
        ("+U", "early", 1, "tea", 3),
    ]
    assert fed(end=True) == [("+U", "full", 1, "milk", 5), ("+U", "full", 2, "tea", 3)]
    assert fed(("tea", 4, 2), now=1) == []
    assert fed(now=11) == [("+U", "late", 3, "tea", 7)]
    assert fed.driven.operator.horizons(fed.driven.stores).is_empty()


def test_a_batch_of_no_rows_is_no_row_of_the_whole() -> None:
    fed = Fed(aggregator(Whole(), keys=()))
    fed.driven.step(fed.batch())
    assert fed(end=True) == []


def test_the_whole_stream_shows_no_edges() -> None:
    operator = aggregator(Whole(), keys=(), values=("n", "values"))
    assert list(operator.output) == ["n", "values"]
    fed = Fed(operator, restarts=True)
    fed(("tea", 2, 3), ("tea", 1, 1))
    emitted = fed.driven.step(end=True)
    assert emitted["__row_key"].to_list() == ["[]"]
    assert brief(emitted) == [("+I", "full", 0, 2, [1, 2])]


# Grouping sets.


def test_rows_count_once_for_each_set() -> None:
    fed = Fed(aggregator(keys=("k", "b"), sets=(("k", "b"), ("k",), ())))
    emitted = fed((("tea", 1), 1, 0), (("tea", 2), 2, 0), ((None, 1), 4, 0), watermark=1)
    assert emitted == [
        ("+I", "full", 0, None, None, 1, 1, 4),
        ("+I", "full", 0, None, None, 3, 1, 7),
        ("+I", "full", 0, None, 1, 0, 1, 4),
        ("+I", "full", 0, "tea", None, 1, 1, 3),
        ("+I", "full", 0, "tea", 1, 0, 1, 1),
        ("+I", "full", 0, "tea", 2, 0, 1, 2),
    ]


def test_sets_are_corrected_each_for_itself() -> None:
    operator = aggregator(
        keys=("k", "b"), sets=(("b",), ("k",)), values=BOTH, late=Late.ON_UPDATE, update_before=True
    )
    fed = Fed(operator, restarts=True)
    fed((("tea", 1), 1, 0), (("milk", 2), 2, 0), watermark=1)
    assert fed((("tea", 2), 4, 0.5)) == [
        ("-U", "late", 0, None, 2, 2, 1, 2, [2]),
        ("+U", "late", 1, None, 2, 2, 1, 6, [2, 4]),
        ("-U", "late", 0, "tea", None, 1, 1, 1, [1]),
        ("+U", "late", 1, "tea", None, 1, 1, 5, [1, 4]),
    ]


def test_the_row_key_has_the_number_of_the_set() -> None:
    fed = Fed(aggregator(keys=("k",), sets=((),)))
    emitted = fed.driven.step(fed.batch(("tea", 1, 0)), watermark=MINUTE)
    assert emitted["__row_key"].to_list() == [
        '[null,1,"1970-01-01T00:00:00Z","1970-01-01T00:01:00Z"]'
    ]


# Full state.


def test_full_state_is_lifted_from_messages_beside_panes() -> None:
    fed = Fed(aggregator(HOPPING, values=("n", *BOTH), late=Late.ON_UPDATE))
    assert fed(("tea", 2, 0.5), ("tea", 1, 1.5), watermark=2) == [
        ("+I", "full", 0, "tea", 1, 1, 2, [2]),
        ("+I", "full", 0, "tea", 2, 2, 3, [2, 1]),
    ]
    assert fed(("tea", 7, 0.7), ("tea", None, 0.8)) == [
        ("+U", "late", 1, "tea", 1, 3, 9, [2, 7, None]),
        ("+U", "late", 1, "tea", 2, 4, 10, [2, 7, None, 1]),
    ]
    assert len(fed.driven.stores[PANES]) == 2
    assert len(fed.driven.stores[MESSAGES]) == 4


def test_messages_are_kept_only_for_full_state_and_once_for_all_sets() -> None:
    assert MESSAGES not in Fed(aggregator()).driven.stores.named
    fed = Fed(aggregator(keys=("k", "b"), sets=(("k",), ("b",), ()), values=("values",)))
    assert len(fed((("tea", 1), 1, 0), (("milk", 2), 2, 0), watermark=1)) == 5
    assert len(fed.driven.stores[MESSAGES]) == 2


def test_lost_messages_are_put_back_and_emit_nothing() -> None:
    operator = aggregator(values=BOTH, late=Late.ON_UPDATE)
    fed, again = Fed(operator), Fed(operator)
    batch = fed.batch(("tea", 1, 0.1), ("tea", 2, 0.2), ("tea", 4, 1.1))
    fed.driven.step(batch, watermark=MINUTE)
    fed.driven.stores.named[MESSAGES] = again.driven.stores[MESSAGES]
    for _ in range(2):
        operator.restore(operator.prepare(batch), fed.driven.stores, 0, since=None)
    assert fed() == []
    assert len(fed.driven.stores[MESSAGES]) == 3
    assert fed(("tea", 8, 0.3)) == [("+U", "late", 1, "tea", 1, 15 - 4, [1, 2, 8])]


def test_put_back_lazily_messages_correct_what_went_out_without_them() -> None:
    operator = aggregator(values=BOTH, late=Late.ON_UPDATE, update_before=True)
    fed, again = Fed(operator), Fed(operator)
    batch = fed.batch(("tea", 1, 0.1), ("tea", 2, 1.2), ("tea", 4, 2.1))
    fed.driven.step(batch, watermark=MINUTE)
    fed.driven.stores.named[MESSAGES] = again.driven.stores[MESSAGES]
    assert fed(("tea", 8, 2.2), watermark=3) == [
        ("+I", "full", 0, "tea", 2, 2, []),
        ("+I", "full", 0, "tea", 3, 12, [8]),
    ]
    operator.restore(operator.prepare(batch), fed.driven.stores, 0, since=MINUTE)
    assert fed() == [
        ("-U", "late", 0, "tea", 2, 2, []),
        ("+U", "late", 1, "tea", 2, 2, [2]),
        ("-U", "late", 0, "tea", 3, 12, [8]),
        ("+U", "late", 1, "tea", 3, 12, [4, 8]),
    ]


# Overflow.


def test_an_overflow_names_the_window_and_its_keys() -> None:
    fed = Fed(aggregator())
    with pytest.raises(OverflowInAggregate) as failure:
        fed(("tea", 2**63 - 1, 0), ("tea", 1, 0), watermark=1)
    assert "[1970-01-01T00:00:00Z, 1970-01-01T00:01:00Z) of k = 'tea'" in str(failure.value)


def test_a_sum_may_leave_its_type_while_it_waits() -> None:
    fed = Fed(aggregator())
    fed(("tea", 2**63 - 1, 0), watermark=1)
    fed(("tea", 1, 0), now=1)
    fed(("tea", -5, 0), now=2)
    assert fed(now=11) == [("+U", "late", 1, "tea", 1, 2**63 - 5)]
