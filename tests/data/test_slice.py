"""The shipped data is what the script builds, and flights as far out of order as a real feed."""

from __future__ import annotations

import csv
import doctest
import importlib.util
import json
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest

from tests.support.data.batch_answers import ANSWERS, COLUMNS, PLANES, WEATHER

QUERIES = Path(__file__).parents[2] / "queries"
DATA = QUERIES / "data"
FLIGHTS = DATA / "flights"
PATTERN = str(FLIGHTS / "*.jsonl")


@pytest.fixture(scope="module")
def rebuild() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rebuild_data", QUERIES / "rebuild_data.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rebuild_data"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """In order of landing: sorted names, then the order in the file."""
    return delivered("flights")


@pytest.fixture(scope="module")
def weather() -> list[dict[str, Any]]:
    return delivered("weather")


@pytest.fixture(scope="module")
def planes() -> list[dict[str, str]]:
    with (DATA / "planes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def delivered(feed: str) -> list[dict[str, Any]]:
    texts = (path.read_text(encoding="utf-8") for path in sorted((DATA / feed).iterdir()))
    return [json.loads(line) for text in texts for line in text.splitlines()]


@pytest.mark.long
def test_the_slice_is_what_the_script_builds(rebuild: ModuleType) -> None:
    landed = rebuild.in_order_of_landing(rebuild.flights(1))
    rebuild.check(landed)
    shipped = {
        path.relative_to(DATA).as_posix(): path.read_bytes()
        for path in DATA.rglob("*")
        if path.is_file()
    }
    built = rebuild.contents(landed, 1)
    assert shipped == {name: text.encode() for name, text in built.items()}


def test_the_examples_in_the_script(rebuild: ModuleType) -> None:
    failed, attempted = doctest.testmod(rebuild)
    assert (failed, attempted > 0) == (0, True)


def test_january_as_counted_in_the_package(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 27_004
    assert sorted(row["flight_id"] for row in rows) == list(range(27_004))
    assert sum(row["dep_ts"] is None for row in rows) == 521
    assert sum(row["arr_ts"] is None for row in rows) == 536
    assert sum(row["arr_delay"] is None for row in rows) == 606
    assert sum(row["tailnum"] is None for row in rows) == 155


def test_fields_and_types(rows: list[dict[str, Any]]) -> None:
    integers = {"flight_id", "flight", "dep_delay", "arr_delay", "distance"}
    for row in rows:
        assert list(row) == list(COLUMNS)
        for name, value in row.items():
            assert value is None or type(value) is (int if name in integers else str)


def test_known_arrivals_are_in_order_and_departures_are_hours_out_of_it(
    rebuild: ModuleType, rows: list[dict[str, Any]]
) -> None:
    arrivals = [row["arr_ts"] for row in rows if row["arr_ts"]]
    assert arrivals == sorted(arrivals)
    behind = rebuild.disorder(rows)
    assert max(behind) == timedelta(hours=10, minutes=17)  # as the queries' comments say
    assert sum(lag > timedelta(hours=6) for lag in behind) == 96
    assert sorted(behind)[len(behind) // 2] > timedelta(hours=1, minutes=30)


def test_weather_by_the_hour_in_order_of_time(
    rebuild: ModuleType, weather: list[dict[str, Any]]
) -> None:
    """One hour is missing at each airport, so 742 of the 743 from 1 o'clock on the first."""
    assert Counter(row["origin"] for row in weather) == {"EWR": 742, "JFK": 742, "LGA": 742}
    order = [(row["ts"], row["origin"]) for row in weather]
    assert order == sorted(set(order))
    assert (order[0][0], order[-1][0]) == ("2013-01-01T06:00:00Z", "2013-02-01T04:00:00Z")
    for row in weather:
        assert list(row) == list(WEATHER)
        assert row["ts"].endswith(":00:00Z")
        assert all(type(row[name]) is float for name in ("temp", "wind_speed", "precip", "visib"))


def test_coldest_before_sunrise_and_warmest_after_noon(
    rebuild: ModuleType, weather: list[dict[str, Any]]
) -> None:
    """Were instants off by the 5 hours from New York to UTC, it would show."""
    by_hour: dict[int, list[float]] = {}
    for row in weather:
        here = rebuild.instant(row["ts"]).astimezone(ZoneInfo(rebuild.NEW_YORK))
        by_hour.setdefault(here.hour, []).append(row["temp"])
    mean = {hour: fmean(temps) for hour, temps in by_hour.items()}
    assert min(mean, key=mean.__getitem__) in range(4, 8)
    assert max(mean, key=mean.__getitem__) in range(13, 16)


def test_the_aircraft_are_those_of_the_flights_as_far_as_known(
    rows: list[dict[str, Any]], planes: list[dict[str, str]]
) -> None:
    known = [plane["tailnum"] for plane in planes]
    assert list(planes[0]) == list(PLANES)
    assert len(set(known)) == len(known) == 2_609
    assert set(known) < {row["tailnum"] for row in rows}
    assert sum(plane["year"] == "" for plane in planes) == 51
    departed = [row for row in rows if row["dep_ts"]]
    without = Counter(row["carrier"] for row in departed if row["tailnum"] not in known)
    assert sum(without.values()) == 4_224  # as the query's comment says: 16 %
    assert [carrier for carrier, _ in without.most_common(2)] == ["MQ", "AA"]


@pytest.mark.parametrize(
    ("day", "hhmm", "zone", "expected"),
    [
        pytest.param("2013-07-01", 1530, "America/New_York", "2013-07-01T19:30:00Z", id="summer"),
        pytest.param("2013-01-01", 1530, "America/New_York", "2013-01-01T20:30:00Z", id="winter"),
        pytest.param("2013-07-01", 1530, "America/Phoenix", "2013-07-01T22:30:00Z", id="no-dst"),
        pytest.param("2013-01-01", 2359, "Pacific/Honolulu", "2013-01-02T09:59:00Z", id="hawaii"),
    ],
)
def test_clocks(rebuild: ModuleType, day: str, hhmm: int, zone: str, expected: str) -> None:
    assert [rebuild.written(at) for at in rebuild.shows(day, hhmm, zone)] == [expected]


def test_a_delay_carries_a_departure_past_midnight_and_a_landing_into_the_next_day(
    rebuild: ModuleType,
) -> None:
    takeoff = rebuild.departure("2013-01-09", 900, 1301)  # Hawaiian 51, the latest of the year
    assert rebuild.written(takeoff) == "2013-01-10T11:41:00Z"
    down = rebuild.landing(takeoff, 1242, "Pacific/Honolulu")
    assert rebuild.written(down) == "2013-01-10T22:42:00Z"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("departures_per_hour", 1_763),
        ("delay_trend", 26_483),
        ("busy_runways", 7_027),
        ("weather_delays", 26_483),
    ],
)
def test_batch_answers(query: str, count: int) -> None:
    assert ANSWERS[query](duckdb.connect(), PATTERN).num_rows == count


def test_each_departure_is_in_one_hour_and_in_four_hopping_hours() -> None:
    hourly = ANSWERS["departures_per_hour"](duckdb.connect(), PATTERN)
    hopping = ANSWERS["busy_runways"](duckdb.connect(), PATTERN)
    assert sum(hourly["departures"].to_pylist()) == 27_004 - 521
    assert sum(hopping["departures"].to_pylist()) == 4 * (27_004 - 521)


def test_every_query_has_a_batch_answer() -> None:
    assert {path.stem for path in QUERIES.glob("*.sql")} == set(ANSWERS)
