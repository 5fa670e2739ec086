"""Frames of OVER clauses: every spelling of one is a `Frame`.

A frame is written in the order of its window. Where that is `ORDER BY ts DESC`
it is mirrored: what precedes a row there follows it in event time. Where ORDER BY
names the OFFSET behind the event time no two rows are peers, and RANGE up to the
current row is the same as ROWS. Behind other keys the peers are the rows that are equal in all
keys, and a distance in RANGE, which is one of event time, makes no sense.

| ORDER BY            | frame not given, or `ROWS 2 PRECEDING`                 |
|---------------------|--------------------------------------------------------|
| `ts`                | RANGE, all before and the peers; ROWS, two before      |
| `ts, id` (OFFSET)   | ROWS, all before; ROWS, two before                     |
| `ts, price`         | RANGE, all before and the peers; ROWS, two before      |
| `ts DESC`           | RANGE, the peers and all after; ROWS, two after        |
| none                | the whole partition; refused                           |
| `price`             | RANGE, all before and the peers; ROWS, two before      |

A frame in GROUPS counts groups of peers, the row's own being number 0. SESSION is the same in
either direction.

An order that does not begin with event time is as it is written, never mirrored. With a single
key, a number or a time, a distance in RANGE is one along that key.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import Order, type_name
from sqlwin.sql.text import ast
from sqlwin.sql.windows.session_frames import session_frame
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame

LEGAL = "OVER (PARTITION BY product ORDER BY ts RANGE INTERVAL '2' MINUTE PRECEDING)"
_ALONE = {Exclude.GROUP: Exclude.CURRENT_ROW, Exclude.TIES: Exclude.NO_OTHERS}


@dataclass(frozen=True)
class Time:
    """How a window is ordered by event time. by_position: by position too, so no row has peers.
    keyed: by other keys behind it. timed: whether event time is the first key at all; key: the type
    of the only one, where it is not.
    """

    descending: bool = False
    by_position: bool = False
    keyed: bool = False
    timed: bool = True
    key: pa.DataType | None = None

    @property
    def unit(self) -> Unit:
        """In which a row's peers and it are one."""
        return Unit.ROWS if self.by_position else Unit.RANGE

    def frame(self, unit: Unit, preceding: int | None, following: int | None) -> Frame:
        """The frame that reaches so far in this order."""
        if self.descending:
            preceding, following = following, preceding
        return Frame(unit, preceding, following)

    def behind(self, order: Order) -> Order:
        """A key behind event time, as it orders rows of one instant in ascending event time."""
        if not self.descending:
            return order
        return Order(order.column, not order.descending, not order.nulls_last)


def frame_of(spec: ast.Spec, time: Time | None) -> Frame | None:
    """time: None without ORDER BY. None for one that holds no row, for it begins after its end."""
    exclude = _exclude(spec.exclude)
    if spec.session is not None:
        timed = time is not None and time.timed
        return _excluding(session_frame(spec.session, timed), exclude, time or Time())
    if spec.frame is not None:
        _refuse_ends(spec.frame)
    if time is None:
        return _unordered(spec, exclude)
    if spec.frame is None:
        return _excluding(time.frame(time.unit, None, 0), exclude, time)
    unit = _unit(spec.frame)
    if unit is Unit.GROUPS and time.by_position:  # each row is alone
        unit = Unit.ROWS
    if unit is Unit.RANGE and (time.by_position or time.keyed):
        _refuse_distance(spec.frame, time)
        unit = time.unit
    extent = _extent(spec.frame, time)
    if unit is Unit.GROUPS and extent is not None and all(end in (None, 0) for end in extent):
        unit = Unit.RANGE  # which has the same peers
    return None if extent is None else _excluding(time.frame(unit, *extent), exclude, time)


def _excluding(frame: Frame, exclude: Exclude, time: Time) -> Frame:
    return replace(frame, exclude=_ALONE.get(exclude, exclude) if time.by_position else exclude)


def _unordered(spec: ast.Spec, exclude: Exclude) -> Frame:
    """Without ORDER BY all rows of a partition are peers: only the whole of it is a frame."""
    if spec.frame is not None and not _whole(spec.frame):
        raise QueryError("OVER needs ORDER BY the event-time column", spec.span, legal=LEGAL)
    if spec.exclude is not None and exclude in _ALONE:
        message = f"EXCLUDE {exclude.value} needs ORDER BY, which says what rows are peers"
        raise QueryError(message, spec.exclude.span, legal="ORDER BY ts, EXCLUDE CURRENT ROW")
    return Frame(Unit.RANGE, None, None, exclude)


def _whole(frame: ast.FrameSpec) -> bool:
    sides = (frame.start.side, frame.end.side if frame.end else "CURRENT ROW")
    if _unit(frame) is Unit.RANGE:
        return all(frame_end in _PEERS for frame_end in sides)
    return sides == ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")


_PEERS = ("UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING")


def _unit(frame: ast.FrameSpec) -> Unit:
    return Unit(frame.unit)


def _exclude(given: ast.Name | None) -> Exclude:
    if given is None:
        return Exclude.NO_OTHERS
    try:
        return Exclude(given.text)
    except ValueError:
        legal = ", ".join(f"EXCLUDE {known.value}" for known in Exclude)
        message = f"a frame cannot exclude {given.text}"
        raise QueryError(message, given.span, legal=legal) from None


def measured_along(frame: ast.FrameSpec | None) -> bool:
    """Whether it is a RANGE with a distance, which is one along the only key."""
    if frame is None or frame.unit != "RANGE":
        return False
    return any(bound is not None and bound.amount is not None for bound in (frame.start, frame.end))


def _refuse_distance(frame: ast.FrameSpec, time: Time) -> None:
    what = "the event time alone" if time.timed else "one key alone"
    for bound in (frame.start, frame.end):
        if bound is not None and bound.amount is not None:
            message = f"RANGE with a distance takes ORDER BY {what}"
            raise QueryError(message, bound.span, legal="ORDER BY ts, or a frame in ROWS")


# --- bounds -------------------------------------------------------------------------


def _refuse_ends(frame: ast.FrameSpec) -> None:
    for bound, which, wrong, legal in (
        (frame.start, "begin", "UNBOUNDED FOLLOWING", "UNBOUNDED PRECEDING"),
        (frame.end, "end", "UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
    ):
        if bound is not None and bound.side == wrong:
            raise QueryError(f"a frame cannot {which} with {wrong}", bound.span, legal=legal)


def _extent(frame: ast.FrameSpec, time: Time) -> tuple[int | None, int | None] | None:
    """How far before the row and after it, as in `Frame`; None of an empty frame. One bound alone
    is the start."""
    unit = _unit(frame)
    key = time.key if unit is Unit.RANGE and not time.timed else None
    first = _place(frame.start, unit, key)
    last = _place(frame.end, unit, key) if frame.end is not None else 0
    if first is not None and last is not None and first > last:
        _refuse_backwards(frame)
        return None
    return None if first is None else -first, last


def _refuse_backwards(frame: ast.FrameSpec) -> None:
    """Of n PRECEDING AND m PRECEDING only the numbers are to say that a frame is empty."""
    if frame.end is None or frame.end.side != frame.start.side:
        message = "this frame begins after its end"
        legal = "BETWEEN 5 PRECEDING AND 2 PRECEDING, BETWEEN CURRENT ROW AND 3 FOLLOWING"
        raise QueryError(message, frame.span, legal=legal)


def _place(bound: ast.Bound, unit: Unit, key: pa.DataType | None) -> int | None:
    """Where the bound lies, the row at 0; None: without bound. key: along which RANGE measures."""
    if bound.side.startswith("UNBOUNDED"):
        return None
    length = distance(bound, unit) if key is None else _along(bound, key)
    return -length if bound.side == "PRECEDING" else length


_DIGITS = 18
"""Of the decimals that fit 64 bits."""


def _along(bound: ast.Bound, key: pa.DataType) -> int:
    """A distance along a key that is no event time, in its unit; microseconds of a time."""
    amount = bound.amount
    if amount is None or pa.types.is_timestamp(key) or pa.types.is_date(key):
        return distance(bound, Unit.RANGE)
    number = pa.types.is_integer(key) or pa.types.is_floating(key)
    if not number and not (pa.types.is_decimal(key) and key.precision <= _DIGITS):
        legal = f"a whole number, DOUBLE, DECIMAL of at most {_DIGITS} digits, TIMESTAMP, DATE"
        message = f"RANGE measures no distance along {type_name(key)}"
        raise QueryError(message, bound.span, legal=f"ORDER BY {legal}; or a frame in ROWS")
    if isinstance(amount, ast.Duration):
        message = f"RANGE along {type_name(key)} takes a number, not a duration"
        raise QueryError(message, bound.span, legal="RANGE 5 PRECEDING, or ORDER BY a time")
    return amount.rows


def distance(bound: ast.Bound, unit: Unit) -> int:
    length = measured(bound, unit)
    if length < 0:
        message = "a bound of a frame is a distance, at least 0"
        raise QueryError(message, bound.span, legal="n PRECEDING or n FOLLOWING")
    return length


def measured(bound: ast.Bound, unit: Unit) -> int:
    """Microseconds under RANGE, rows under ROWS, groups of peers under GROUPS."""
    amount = bound.amount
    if amount is None:
        return 0
    if unit is Unit.RANGE and isinstance(amount, ast.Count):
        message = "RANGE is measured in event time and needs a duration"
        legal = f"RANGE INTERVAL '{amount.rows}' MINUTE PRECEDING, or ROWS {amount.rows} PRECEDING"
        raise QueryError(message, bound.span, legal=legal)
    if unit is Unit.ROWS and isinstance(amount, ast.Duration):
        legal = "ROWS 5 PRECEDING, or RANGE INTERVAL '5' MINUTE PRECEDING"
        raise QueryError("ROWS counts rows and takes no duration", bound.span, legal=legal)
    if unit is Unit.GROUPS and isinstance(amount, ast.Duration):
        legal = "GROUPS 2 PRECEDING, or RANGE INTERVAL '2' MINUTE PRECEDING"
        message = "GROUPS counts groups of peers and takes no duration"
        raise QueryError(message, bound.span, legal=legal)
    return amount.micros if isinstance(amount, ast.Duration) else amount.rows
