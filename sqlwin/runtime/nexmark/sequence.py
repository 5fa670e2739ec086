"""One sequence of events, of which the three streams are slices.

Of each 50 events in a row one is a person, three are auctions, 46 are bids. An event
has a number, in the order in which things happened, and a position, at which it
arrives: within a block of events the two differ. A block is no longer than the
out-of-orderness, so no event arrives later than that after one that happened later.

Invariant: a position's event depends on the settings alone, so any stretch of
positions may be made by itself, again, or elsewhere.

>>> some = Sequence(seed=1, rate=10, events=100, disorder=1_000_000, base=0)
>>> some.numbers(np.arange(12)).tolist()  # a block of 11: the time of 10 events is a second
[6, 2, 9, 5, 1, 8, 4, 0, 7, 3, 10, 21]
>>> some.arrivals("person", 0, 100).tolist()
[7, 54]
"""

from __future__ import annotations

from math import gcd

import numpy as np

from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.nexmark.chance import Chance, Integers

PEOPLE, AUCTIONS, BIDS = 1, 3, 46
EPOCH = PEOPLE + AUCTIONS + BIDS

_SLICES = {
    "person": (0, PEOPLE),
    "auction": (PEOPLE, PEOPLE + AUCTIONS),
    "bid": (PEOPLE + AUCTIONS, EPOCH),
}
TABLES = tuple(_SLICES)

LONGEST_BLOCK = 2**31
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Sequence:
    """rate: events a second. disorder: microseconds. base: the instant of the first event."""

    seed: int
    rate: int
    events: int
    disorder: int
    base: int

    @property
    def block(self) -> int:
        return min(self.events, 1 + self.disorder * self.rate // SECOND)

    def numbers(self, positions: Integers) -> Integers:
        """The events that arrive at those positions."""
        starts = positions // self.block * self.block
        whole = starts + self.block <= self.events
        last = self.events % self.block or self.block
        sizes = np.where(whole, self.block, last)
        steps = np.where(whole, _step(self.block), _step(last))
        turns = Chance(self.seed, starts).below("block", sizes)
        return starts + ((positions - starts) * steps + turns) % sizes

    def arrivals(self, table: str, lo: int, hi: int) -> Integers:
        """The positions of the table's events, among lo <= p < hi."""
        positions = np.arange(lo, hi, dtype=np.int64)
        place = self.numbers(positions) % EPOCH
        first, end = _SLICES[table]
        return positions[(first <= place) & (place < end)]

    def instants(self, numbers: Integers) -> Integers:
        """When events happen; of positions: when they arrive, if nothing was out of order."""
        return self.base + numbers * SECOND // self.rate


def last_person(numbers: Integers) -> Integers:
    """Of each event the last person so far, counted from 0; of a person itself."""
    return numbers // EPOCH * PEOPLE


def last_auction(numbers: Integers) -> Integers:
    """Of each auction or bid the last auction so far, counted from 0; of an auction itself."""
    place = np.minimum(numbers % EPOCH - PEOPLE, AUCTIONS - 1)
    return numbers // EPOCH * AUCTIONS + place


def _step(size: int) -> int:
    """Steps of this length visit all of `size` places, neighbours far apart."""
    step = max(1, round(size * _GOLDEN))
    while gcd(step, size) > 1:
        step += 1
    return step
