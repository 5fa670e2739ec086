"""When a row of a window is there, and the join of two relations that are made of such rows.

A row *stays* in a relation from one instant up to, and without, another. A pair of a join is there
while both its rows are; a row has no match while none of its pairs is there. So each kind of join
is arithmetic of intervals, and its result a relation again, whose rows stay, too.

| window                   | a row of the event time t stays                                    |
|--------------------------|--------------------------------------------------------------------|
| `[RANGE r]`, `[NOW]`     | from t to a microsecond after t + r                                |
| `[RANGE r SLIDE s]`      | from the first multiple of s after t to the first one after t + r  |
| `[PARTITION BY k ROWS n]`| from t to the event time of the n-th row after it                  |
| `[ROWS n SLIDE s]`       | of the row of number i: from the event time of the row whose       |
|                          | number is the first multiple of s from i on, to that of the row    |
|                          | whose number is the first multiple of s from i + n on              |
| none                     | from t, for ever                                                   |
| none, of a static table  | at every instant: from the beginning, for ever                     |

Worked example: a left row of 10 in [RANGE 20], a right one of 12 in [RANGE 5]. Of a LEFT JOIN the
padded row stays [10, 12), the pair [12, 17 and a microsecond), the padded row again up to 30 and
a microsecond.
"""

from __future__ import annotations

from dataclasses import field

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass
from sqlwin.windows.joins import JoinWindow


@dataclass(frozen=True)
class Stay:
    """Of an input. length: microseconds; None: for ever, unless `rows` are given. slide: how far
    it advances at once, microseconds, or rows.

    rows: the last so many of each `partition`, which are columns, in the order of (event time,
    position). there: the column (BOOLEAN) of an input whose rows are changes: of those that are
    equal in `partition` the last one says whether the row is there. timed: whether rows have an
    event time; those of a static table are older than all that have.
    """

    length: int | None = None
    slide: int | None = None
    rows: int | None = None
    partition: tuple[str, ...] = ()
    there: str | None = None
    timed: bool = field(default=True, repr=False, metadata=ADDED)

    @property
    def ends(self) -> bool:
        """Whether it says itself that rows leave."""
        return self.length is not None or self.rows is not None

    @property
    def whole(self) -> bool:
        """Whether a row stays whatever other rows come, or goes by those of what it is alone."""
        return self.rows is None or self.there is not None

    @property
    def longest(self) -> int | None:
        """How long after its event time a row has left for certain; None: nothing says that."""
        return None if self.length is None else self.length + (self.slide or 0) + 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that it goes by."""
        return self.partition if self.there is None else (*self.partition, self.there)


@dataclass(frozen=True)
class JoinStays(JoinWindow):
    """A join of relations: which rows pair at each instant. Its results are changes of a relation:
    a row for each that enters, and for each that leaves.

    instant, there, identity: further columns of its results, when it happens (TIMESTAMP), whether
    the row enters (BOOLEAN), and what the row is known by (STRING). bounded: whether each row of
    its results leaves some time.
    """

    left: Stay
    right: Stay
    instant: str
    there: str
    identity: str
    bounded: bool

    @property
    def changes(self) -> Stay:
        """When the rows of its results are there."""
        return Stay(rows=1, partition=(self.identity,), there=self.there)

    @property
    def mirrored(self) -> JoinStays:
        raise TypeError("a join of relations has no windows around its rows")
