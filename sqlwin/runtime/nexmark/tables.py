"""The columns of person, auction and bid: types, and how each is computed.

What is well known of Nexmark is kept: half of all bids go to the hot auction of the
time, three quarters come from the hot bidder, three quarters of the auctions are the hot
seller's; prices are log-uniform from 1 to a million dollars, in cents; half the bids come
through four big channels. Others name one of the last 100 auctions or 1,000 people, or one
of the next 10, which is not there yet. An auction is open for as long as 100 others need to
begin, on average. One column is not Nexmark's: `arrived`, the source's own clock.

>>> from sqlwin.runtime.nexmark.sequence import Sequence
>>> some = Sequence(seed=1, rate=10, events=100, disorder=0, base=0)
>>> made("auction", some, np.array([1, 2, 3]), ["id", "seller", "category"]).rows()
[(1000, 1000, 11), (1001, 1000, 12), (1002, 1000, 14)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import INSTANT, polars_type
from sqlwin.runtime.nexmark.chance import Chance, Integers
from sqlwin.runtime.nexmark.sequence import AUCTIONS, EPOCH, Sequence, last_auction, last_person
from sqlwin.schema import TIMESTAMP

FIRST_ID = 1_000
FIRST_CATEGORY, CATEGORIES = 10, 5
ACTIVE_PEOPLE, OPEN_AUCTIONS, AHEAD = 1_000, 100, 10
HOT_EVERY = 100
CHANNELS = 10_000

_BIG_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_FIRST = (
    "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter",
)  # fmt: skip
_LAST = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
_CITIES = (
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle",
    "Kent", "Cheyenne",
)  # fmt: skip
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")


@dataclass(frozen=True)
class Rows:
    """Events of one table, by their numbers and positions."""

    sequence: Sequence
    numbers: Integers
    positions: Integers

    @property
    def chance(self) -> Chance:
        return Chance(self.sequence.seed, self.numbers)

    @property
    def instants(self) -> Integers:
        return self.sequence.instants(self.numbers)

    def extra(self, size: int) -> pl.Series:
        """Letters that make up a row's bytes, give or take a fifth."""
        return self.chance.text("extra", size - size // 5, size + size // 5)

    def price(self, what: str) -> Integers:
        return np.rint(10 ** (6 * self.chance.unit(what)) * 100).astype(np.int64)

    def often(self, what: str, one_in: int) -> npt.NDArray[np.bool_]:
        """All but one in so many."""
        return self.chance.below(what, one_in) > 0

    def person(self, what: str) -> Integers:
        """Someone active now, or soon to come."""
        people = last_person(self.numbers) + 1
        active = np.minimum(people, ACTIVE_PEOPLE)
        return FIRST_ID + people - active + self.chance.below(what, active + AHEAD)

    def hot_person(self, place: int) -> Integers:
        return FIRST_ID + last_person(self.numbers) // HOT_EVERY * HOT_EVERY + place


Values = Callable[[Rows], "pl.Series | Integers"]


# --- person ---------------------------------------------------------------------------


def _name(rows: Rows) -> pl.Series:
    return _joined(rows.chance.one_of("first", _FIRST), " ", rows.chance.one_of("last", _LAST))


def _email(rows: Rows) -> pl.Series:
    return _joined(rows.chance.text("user", 3, 7), "@", rows.chance.text("host", 3, 5), ".com")


def _card(rows: Rows) -> pl.Series:
    fours = [pl.Series(rows.chance.below(f"card {at}", 10_000)) for at in range(4)]
    padded = [four.cast(pl.String).str.zfill(4) for four in fours]
    return _joined(padded[0], " ", padded[1], " ", padded[2], " ", padded[3])


def _joined(*parts: pl.Series | str) -> pl.Series:
    return pl.select(pl.concat_str([pl.lit(part) for part in parts])).to_series()


# --- auction --------------------------------------------------------------------------


def _initial(rows: Rows) -> Integers:
    return rows.price("initialBid")


def _reserve(rows: Rows) -> Integers:
    return _initial(rows) + rows.price("reserve")


def _expires(rows: Rows) -> pl.Series:
    """A millisecond after it began, or more."""
    mean = OPEN_AUCTIONS * EPOCH // AUCTIONS * SECOND // rows.sequence.rate
    length = 1_000 + (rows.chance.unit("length") * 2 * mean).astype(np.int64)
    return _timed(rows.instants + length)


def _timed(instants: Integers) -> pl.Series:
    return pl.Series(instants).cast(INSTANT)


def _seller(rows: Rows) -> Integers:
    return np.where(rows.often("hot seller", 4), rows.hot_person(0), rows.person("seller"))


# --- bid ------------------------------------------------------------------------------


def _auction(rows: Rows) -> Integers:
    last = last_auction(rows.numbers)
    first = np.maximum(last - OPEN_AUCTIONS, 0)
    any_open = first + rows.chance.below("auction", last - first + 1 + AHEAD)
    hot = last // HOT_EVERY * HOT_EVERY
    return FIRST_ID + np.where(rows.often("hot auction", 2), hot, any_open)


def _bidder(rows: Rows) -> Integers:
    """The hot bidder is the person after the hot seller."""
    return np.where(rows.often("hot bidder", 4), rows.hot_person(1), rows.person("bidder"))


def _place(rows: Rows) -> Integers:
    """Of the channel among all of them."""
    big = CHANNELS + rows.chance.below("big channel", len(_BIG_CHANNELS))
    return np.where(rows.often("big", 2), big, rows.chance.below("channel", CHANNELS))


@cache
def _channels() -> pl.Series:
    return pl.Series([*(f"channel-{number}" for number in range(CHANNELS)), *_BIG_CHANNELS])


@lru_cache(maxsize=4)
def _addresses(seed: int) -> pl.Series:
    """One for each channel; nine of ten small ones have their number in it."""
    numbers = np.arange(len(_channels()))
    chance = Chance(seed, numbers)
    folders = [chance.text(f"folder {at}", 3, 5, gap="_") for at in range(3)]
    page = _joined(
        "https://www.nexmark.com/", folders[0], "/", folders[1], "/", folders[2],
        "/item.htm?query=1",
    )  # fmt: skip
    number = _joined("&channel_id=", pl.Series(numbers).cast(pl.String))
    known = (numbers < CHANNELS) & (chance.below("told", 10) > 0)
    shown = pl.when(pl.lit(pl.Series(known))).then(number).otherwise(pl.lit(""))
    return _joined(page, pl.select(shown).to_series())


# --- all ------------------------------------------------------------------------------

_BIGINT, _STRING = pa.int64(), pa.string()
_TIMES: Mapping[str, tuple[pa.DataType, Values]] = {
    "dateTime": (TIMESTAMP, lambda rows: _timed(rows.instants)),
    "arrived": (TIMESTAMP, lambda rows: _timed(rows.sequence.instants(rows.positions))),
}

COLUMNS: Mapping[str, Mapping[str, tuple[pa.DataType, Values]]] = {
    "person": {
        "id": (_BIGINT, lambda rows: FIRST_ID + last_person(rows.numbers)),
        "name": (_STRING, _name),
        "emailAddress": (_STRING, _email),
        "creditCard": (_STRING, _card),
        "city": (_STRING, lambda rows: rows.chance.one_of("city", _CITIES)),
        "state": (_STRING, lambda rows: rows.chance.one_of("state", _STATES)),
        **_TIMES,
        "extra": (_STRING, lambda rows: rows.extra(136)),
    },
    "auction": {
        "id": (_BIGINT, lambda rows: FIRST_ID + last_auction(rows.numbers)),
        "itemName": (_STRING, lambda rows: rows.chance.text("itemName", 3, 19, gap=" ")),
        "description": (_STRING, lambda rows: rows.chance.text("description", 3, 99, gap=" ")),
        "initialBid": (_BIGINT, _initial),
        "reserve": (_BIGINT, _reserve),
        **_TIMES,
        "expires": (TIMESTAMP, _expires),
        "seller": (_BIGINT, _seller),
        "category": (
            _BIGINT,
            lambda rows: FIRST_CATEGORY + rows.chance.below("category", CATEGORIES),
        ),
        "extra": (_STRING, lambda rows: rows.extra(389)),
    },
    "bid": {
        "auction": (_BIGINT, _auction),
        "bidder": (_BIGINT, _bidder),
        "price": (_BIGINT, lambda rows: rows.price("price")),
        "channel": (_STRING, lambda rows: _channels()[_place(rows)]),
        "url": (_STRING, lambda rows: _addresses(rows.sequence.seed)[_place(rows)]),
        **_TIMES,
        "extra": (_STRING, lambda rows: rows.extra(68)),
    },
}


def made(
    table: str, sequence: Sequence, positions: Integers, columns: Iterable[str]
) -> pl.DataFrame:
    """Columns of the events at those positions, which must be the table's own."""
    rows, known = Rows(sequence, sequence.numbers(positions), positions), COLUMNS[table]
    return pl.DataFrame(
        {
            name: pl.Series(known[name][1](rows), dtype=polars_type(known[name][0]))
            for name in columns
        }
    )
