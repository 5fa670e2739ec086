"""Windows of a calendar against Python's time zones, and against DuckDB's."""

from __future__ import annotations

import random

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import DAY, END, HOUR, START, parse_instant
from sqlwin.kernels.calendars import began, number
from sqlwin.kernels.panes import WINDOW_END, earliest, ends_at, ends_of, pane_of, start_of
from sqlwin.windows.group import Calendar, CalendarWindow, Cumulate, DaysOfMonths, Hop
from tests.reference.kernels.windows import pane_of as reference_pane
from tests.reference.kernels.windows import windows_holding

ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Africa/Cairo"),
    *("Australia/Lord_Howe", "America/Sao_Paulo", "America/St_Johns"),  # half an hour; at midnight
    *("Pacific/Apia", "Pacific/Kwajalein"),  # a day was left out
)
CHANGES = tuple(
    map(
        parse_instant,
        (
            *("2011-12-30T10:00:00Z", "1993-08-21T12:00:00Z", "2024-03-10T07:00:00Z"),
            *("2024-11-03T06:00:00Z", "2009-11-01T02:31:00Z", "2018-11-04T03:00:00Z"),
            *("2024-03-31T01:00:00Z", "2023-10-26T21:00:00Z", "2024-04-06T15:00:00Z"),
        ),
    )
)
FIRST, LAST = parse_instant("1900-01-01T00:00:00Z"), parse_instant("2490-01-01T00:00:00Z")


def calendars() -> st.SearchStrategy[Calendar]:
    zones = st.sampled_from(ZONES)
    months = st.builds(
        lambda step, zone, offset: Calendar(step, True, zone, offset),
        st.sampled_from((1, 3, 12)),
        zones,
        st.integers(-1, 13),
    )
    local = st.builds(
        lambda step, zone, offset: Calendar(step, False, zone, offset),
        st.sampled_from((HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY)),
        zones,
        st.sampled_from((0, 2 * HOUR, 4 * DAY)),
    )
    return months | local


def windows() -> st.SearchStrategy[CalendarWindow]:
    periods = st.sampled_from((Hop(1, 1), Hop(3, 1), Hop(7, 2), Hop(4, 2), Cumulate(4, 1)))
    days = st.builds(lambda zone: Calendar(DAY, False, zone), st.sampled_from(ZONES))
    of_months = st.builds(DaysOfMonths, st.sampled_from((1, 2, 3, 12)), st.integers(0, 2))
    return st.builds(CalendarWindow, calendars(), periods) | st.builds(
        CalendarWindow, days, of_months
    )


def instants() -> st.SearchStrategy[int]:
    near = st.builds(
        lambda change, off: change + off,
        st.sampled_from(CHANGES),
        st.integers(-3 * DAY, 3 * DAY) | st.sampled_from((-1, 0, 1, HOUR, HOUR - 1, -HOUR)),
    )
    return near | st.integers(FIRST, LAST)


@given(windows(), st.lists(instants(), min_size=1, max_size=8))
def test_panes_and_windows_are_those_of_the_reference(
    window: CalendarWindow, at: list[int]
) -> None:
    ts = pl.col("ts")
    first, last = ends_at(ts, window)
    rows = pl.DataFrame({"ts": at}).with_columns(pane_of(ts, window).alias("pane"))
    for row in rows.with_columns(first=first, last=last).iter_rows(named=True):
        expected = windows_holding(row["ts"], window)
        ends = sorted(end for _, end in expected)
        assert row["pane"] == reference_pane(row["ts"], window)
        assert (row["first"], row["last"]) == (ends[0], ends[-1])
        held = ends_of(pl.DataFrame({"pane": [row["pane"]]}), "pane", window)[WINDOW_END]
        assert sorted(held) == ends
        assert sorted((start_of(end, window), end) for end in held) == sorted(expected)


@given(windows(), instants())
def test_no_window_that_ends_later_begins_before_the_earliest(
    window: CalendarWindow, at: int
) -> None:
    for start, end in windows_holding(at, window):
        assert earliest(end, window) <= start
        assert earliest(end - 1, window) <= start


@given(calendars(), instants())
def test_a_period_has_begun_and_the_next_has_not(calendar: Calendar, at: int) -> None:
    found = number(at, calendar)
    assert began(found, calendar) <= at < began(found + 1, calendar)


@pytest.mark.parametrize("at", [START, END])
def test_the_ends_of_time_are_within_a_period(at: int) -> None:
    window = CalendarWindow(Calendar(DAY, False, "Europe/Berlin"), Hop(7, 1))
    first, last = ends_at(at, window)
    assert first <= last
    assert (first < parse_instant("0001-01-01T00:00:00Z")) == (at == START)


@pytest.mark.parametrize("zone", [zone for zone in ZONES if "Apia" not in zone])
@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
def test_periods_are_those_of_duckdb(zone: str, unit: str) -> None:
    rng = random.Random(unit + zone)
    first, last = parse_instant("1975-01-01T00:00:00Z"), parse_instant("2036-12-01T00:00:00Z")
    at = [rng.randrange(first, last) for _ in range(5_000)]
    months = {"month": 1, "quarter": 3, "year": 12}
    days = {"day": (DAY, 0), "week": (7 * DAY, 4 * DAY)}
    length, offset = days.get(unit, (months.get(unit, 0), 0))
    calendar = Calendar(length, unit in months, zone, offset)
    rows = pl.DataFrame({"ts": at})
    ours = rows.select(pane_of(pl.col("ts"), CalendarWindow(calendar, Hop(1, 1))))["ts"]
    with duckdb.connect() as base:
        base.execute(f"SET TimeZone = '{zone}'")
        known = dict(
            base.sql(
                f"SELECT ts, epoch_us(date_trunc('{unit}', make_timestamptz(ts))) FROM rows"
            ).fetchall()
        )
    theirs = pl.Series([known[each] for each in at])
    # DuckDB begins a day that clocks left out at the same instant or an hour later
    apart = (ours - theirs).abs()
    assert apart.max() <= HOUR  # type: ignore[operator]
    assert (apart > 0).mean() < 0.01  # type: ignore[operator]
