"""EXPLAIN of joins: which rows lie near enough to match."""

from __future__ import annotations

from sqlwin.instants import format_duration
from sqlwin.plan.ir.nodes import Join
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.plan.properties.facts import arriving, streams_of
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow, SpannedWindow, SteppedWindow
from sqlwin.windows.session import Session

NEAREST = {
    ">=": "the last right row at or before the left row",
    ">": "the last right row before the left row",
    "<=": "the first right row at or after the left row",
    "<": "the first right row after the left row",
}


def window_of(join: Join) -> str:
    match = join.match
    if isinstance(match, AsOf):
        return NEAREST[match.op]
    if isinstance(match, JoinSessions):
        return _sessions(match.left, match.right)
    if join.static:
        return f"none: the table is read whole before the first row{_reloaded(join)}"
    if match.low is None and match.high is None:
        return "none: rows pair however far apart they are"
    moment = "number" if match.unit is Unit.ROWS else "instant"
    what = "message" if arriving(join) else "row"
    if isinstance(match, SpannedWindow):
        return _spanned(match)
    first = "any time before" if match.low is None else _away(match.low, match.unit, what)
    begin = f"{first or f'the {moment} of'} the left row"
    steps = _steps(match)
    if match.low == match.high:
        return f"right rows {'' if first else 'at '}{begin}"
    last = "any time after" if match.high is None else _away(match.high, match.unit, what)
    return f"right rows from {begin} to {f'{last} it' if last else f'its {moment}'}{steps}"


def _spanned(match: SpannedWindow) -> str:
    """Of results of a join in ROWS, and messages."""
    first = "any time before" if match.low is None else _away(match.low, match.unit, "message")
    begin = f"{first} {match.first}".strip()
    if match.last is None:
        return f"right messages from {begin} of the left row on"
    return f"right messages from {begin} to {match.last} of the left row"


def _steps(match: JoinWindow) -> str:
    """Of windows in ROWS that advance by more than one."""
    if not isinstance(match, SteppedWindow):
        return ""
    sides = (("left", match.left.advance), ("right", match.right.advance))
    moved = [f"the {name} one at multiples of {advance}" for name, advance in sides if advance > 1]
    return f", while both are in their windows, {' and '.join(moved)}"


def _sessions(left: Session, right: Session) -> str:
    if left.instant:
        return (
            f"a left row and those of the right session at its {_moment(right)}, "
            f"which ends {_pause(right)}"
        )
    if right.instant:
        return (
            f"a right row and those of the left session at its {_moment(left)}, "
            f"which ends {_pause(left)}"
        )
    ends = f"a left one ends {_pause(left)}, a right one {_pause(right)}"
    return f"rows of sessions that overlap; {ends}"


def _moment(session: Session) -> str:
    return "number" if session.unit is Unit.ROWS else "instant"


def _pause(session: Session) -> str:
    """What ends it."""
    if session.gap is None:
        return "after the gap of each row"
    if session.unit is Unit.ROWS:
        more = session.gap + 1
        return f"after {more} message{'s' * (more > 1)} of other keys"
    return f"after {format_duration(session.gap)} without a row"


def _away(by: int, unit: Unit, what: str) -> str:
    """Nothing for 0. what: a window in ROWS counts."""
    if by == 0:
        return ""
    messages = f"{abs(by)} {what}{'s' * (abs(by) > 1)}"
    amount = messages if unit is Unit.ROWS else format_duration(abs(by))
    return f"{amount} {'before' if by < 0 else 'after'}"


def _reloaded(join: Join) -> str:
    (table,) = streams_of(join.right)
    interval = dict(table.options).get(RELOAD)
    return "" if interval is None else f", and again every {interval} where it has changed"
