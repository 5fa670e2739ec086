"""A message store filled lazily: work goes on before it is whole, and is corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwin
from tests.support.embedded.losses import BEFORE, OVERS, RANKED, SESSIONS, SOON, lost
from tests.support.embedded.orders import MEDIANS, emissions, order, push, stored, without


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "orders.state"


def test_lazy_works_before_all_is_back_and_corrects_as_it_fills(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), order(7, "03:00", 7)])
    assert emissions(query) == [(None, "full", 0), (7.0, "full", 0)]
    push(query, BEFORE[2:3])
    assert emissions(query) == [(10.0, "late", 1)]
    push(query, BEFORE[3:])
    assert emissions(query) == [(15.0, "late", 2), (20.0, "late", 3)]
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE[:2])
    assert emissions(query) == [], "what was emitted before the loss is not emitted again"
    assert query.offsets() == {"orders": {0: 8}}


def test_lazily_a_correction_of_before_the_loss_waits_until_all_is_back(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "00:30", 5), *BEFORE[2:], BEFORE[0]])
    query.timeout(10**9)
    assert emissions(query) == []
    push(query, BEFORE[1:2])
    assert emissions(query) == [(3.0, "late", 1)]


def test_lazily_nothing_retires_that_is_not_whole(file: Path) -> None:
    sql = MEDIANS + "EMIT LATE EVERY INTERVAL '1' HOUR RETAIN INTERVAL '1' MINUTE"
    query = stored(file, sql)
    push(query, [*BEFORE, order(6, "00:30", 5)])
    assert emissions(query) == [(2.0, "full", 0)]
    query.flush()
    without(file)
    query = stored(file, sql, lazy=True)
    push(query, [order(7, "09:00", 8)])  # both minutes would be out of retention
    assert emissions(query) == [(None, "full", 0)]
    push(query, [*BEFORE, order(6, "00:30", 5)])
    push(query, [order(8, "09:01", 8)])
    assert emissions(query) == [(3.0, "late", 1), (20.0, "late", 1)]
    assert query.refused() == {}


@pytest.mark.parametrize("again_lazy", [False, True])
def test_a_recovery_goes_on_in_a_new_process(file: Path, again_lazy: bool) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), *BEFORE[2:4]])
    assert emissions(query)[-1] == (15.0, "late", 2)
    query.flush()
    query = stored(file, SOON, again_lazy)
    assert query.offsets() == {"orders": {0: 1}}
    push(query, BEFORE)
    assert emissions(query) == [(20.0, "late", 3)]


def test_a_second_loss_while_the_first_is_mended(file: Path) -> None:
    query = lost(file, SOON, lazy=True)
    push(query, [order(6, "02:00", 7), *BEFORE[2:4]])
    query.flush()
    without(file)
    query = stored(file, SOON, lazy=True)
    push(query, [*BEFORE, order(6, "02:00", 7)])
    assert emissions(query)[-1] == (20.0, "late", 5)
    query.flush()
    assert stored(file, SOON).offsets() == {"orders": {0: 7}}


def test_lazily_frames_are_corrected_as_they_fill(file: Path) -> None:
    query = lost(file, OVERS, lazy=True)
    push(query, [order(6, "02:00", 30), order(7, "09:00", 0)])
    assert emissions(query) == [(30.0, "full", 0)]
    with pytest.raises(sqlwin.Incomplete):
        query.push("orders", [order(8, "00:30", 2)])  # which lost rows hold in their frames
    push(query, BEFORE)
    assert emissions(query) == [
        (20.0, "late", 1),  # of 6, as 3 is back; as 4 is, it is the same
        (20.0, "late", 0),  # 5 itself, which was lost before its time came
        (25.0, "late", 2),
    ]
    push(query, [order(8, "01:59", 2)])
    assert emissions(query) == [(15.0, "late", 0), (20.0, "late", 3)]


@pytest.mark.parametrize("again_lazy", [False, True])
def test_a_row_emitted_lazily_and_lost_itself_is_corrected_when_it_is_back(
    file: Path, again_lazy: bool
) -> None:
    query = lost(file, OVERS, lazy=True)
    push(query, [order(6, "02:00", 30), order(7, "02:30", 0)])
    assert emissions(query) == [(30.0, "full", 0)]
    query.flush()
    without(file)
    query = stored(file, OVERS, again_lazy)
    push(query, [*BEFORE, order(6, "02:00", 30), order(7, "02:30", 0)])
    last = query.results().to_pylist()
    of_six = [(row["revision"], row["middle"]) for row in last if row["id"] == 6]
    assert [revision for revision, _ in of_six] == list(range(1, 1 + len(of_six)))
    assert of_six[-1] == (of_six[-1][0], 25.0)
    assert [row["revision"] for row in last if row["id"] == 5] == [0]


def test_lazily_sessions_are_corrected_as_they_fill_and_retracted_as_they_were_emitted(
    file: Path,
) -> None:
    query = lost(file, SESSIONS, lazy=True)
    push(query, [order(6, "03:00", 7)])
    assert emissions(query) == [(None, "full", 0)]  # of 1:10 to 2:00, whose messages are lost
    push(query, BEFORE[2:3])
    assert emissions(query) == [(10.0, "late", 1)]
    push(query, [order(7, "01:50", 30)])
    assert emissions(query) == [(10.0, "late", 2), (20.0, "late", 0)]  # it goes on to 2:20
    with pytest.raises(sqlwin.Incomplete):
        query.push("orders", [order(8, "00:30", 2)])  # which retracts what lost rows made
    push(query, BEFORE)
    assert emissions(query) == [(25.0, "late", 1)]
    push(query, [order(8, "00:30", 2)])
    assert emissions(query) == [(2.0, "late", 1), (2.0, "late", 0)]
    assert sorted(query.table()["middle"].to_pylist()) == [2.0, 25.0]


def test_lazily_a_session_emitted_early_is_retracted_as_it_was_emitted(file: Path) -> None:
    query = lost(file, SESSIONS.replace("EMIT LATE", "EMIT EARLY ON UPDATE LATE"), lazy=True)
    push(query, [order(6, "01:50", 30)])  # 10, 20 and 60 went out before the loss
    assert emissions(query) == [(20.0, "early", 1), (30.0, "early", 0)]
    push(query, BEFORE)
    assert emissions(query)[-1] == (25.0, "early", 2)


def test_lazily_no_session_retires_that_is_not_whole(file: Path) -> None:
    query = lost(file, SESSIONS.replace("1' DAY", "1' MINUTE"), lazy=True)
    push(query, [order(6, "30:00", 7), BEFORE[2]])
    assert emissions(query) == [(None, "full", 0), (10.0, "late", 1)]
    push(query, [*BEFORE[:2], *BEFORE[3:]])
    assert emissions(query) == [(15.0, "late", 2), (20.0, "late", 3)]
    assert query.refused() == {}


@pytest.mark.parametrize(
    "sql",
    [
        MEDIANS + "EMIT LATE NEVER RETAIN INTERVAL '1' DAY",
        MEDIANS + "RETAIN 100 ROWS",
        SESSIONS.replace("RETAIN INTERVAL '1' DAY", "RETAIN 100 ROWS"),
        RANKED,
        MEDIANS + "HAVING MEDIAN(value) > 0 RETAIN INTERVAL '1' DAY",
        OVERS.replace(
            "RANGE INTERVAL '1' MINUTE PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"
        ),
    ],
    ids=["late never", "retain rows", "sessions by rows", "ranked sessions", "having", "following"],
)
def test_what_could_not_be_corrected_is_filled_strictly(file: Path, sql: str) -> None:
    query = lost(file, sql, lazy=True)
    with pytest.raises(sqlwin.Incomplete) as early:
        query.push("orders", [order(6, "02:00")])
    assert "lazy" not in str(early.value)
    push(query, [*BEFORE, order(6, "02:00"), order(7, "03:00")])
    known = emissions(query)
    assert known
    undisturbed = sqlwin.query(sql)
    push(undisturbed, BEFORE)
    undisturbed.results()
    push(undisturbed, [order(6, "02:00"), order(7, "03:00")])
    assert known == emissions(undisturbed)
