"""Time zones by the names that Java gives them, and local times in them.

A zone is an offset, or a region of the tz database with its transitions: instants at which the
offset changes, found by asking `zoneinfo` every few days to 2100. Behind that the rules stay, and
400 years of the calendar are alike, so that an instant is mapped to one before 2500.

A local time that is there twice is the earlier one; one that is skipped is as much later as the
clock went forward: what Java does for both is the offset before the transition.

>>> paris = zone("Europe/Paris")
>>> [hours(paris.offsets(np.array([instant * 1_000_000]))) for instant in (1719792000, 1709164800)]
[2.0, 1.0]
>>> hours(zone("+1:30").offsets(np.array([0])))
1.5
>>> zone("europe/paris")
Traceback (most recent call last):
ValueError: [INVALID_TIMEZONE] The timezone: europe/paris is invalid
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import datetime, timedelta, timezone
from functools import cache, cached_property
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from sqlwin.functions.instants.calendar import DAY, Ints
from sqlwin.lazy_dataclass import dataclass

SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST, _DAILY, _LAST = -130 * 366, 130 * 366, 531 * 365
"""Days since 1970: from about 1840, each third to about 2100, each tenth to about 2500."""
_CYCLE = 146_097 * DAY
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "ART": "Africa/Cairo",
    "AGT": "America/Argentina/Buenos_Aires",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IST": "Asia/Kolkata",
    "IET": "America/Indiana/Indianapolis",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00",
    "MST": "-07:00",
    "HST": "-10:00",
}
"""Java's `ZoneId.SHORT_IDS`."""
_OFFSET = re.compile(r"([+-])([0-9]{1,2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?\Z", re.ASCII)


@dataclass(frozen=True)
class Zone:
    """seconds: of an offset that never changes; of a region None."""

    name: str
    seconds: int | None = None

    @cached_property
    def _transitions(self) -> tuple[Ints, Ints]:
        """Instants, and the offsets before, between and behind them; microseconds."""
        info = ZoneInfo(self.name)
        probes = [*range(_FIRST, _DAILY, 3), *range(_DAILY, _LAST, 10)]
        at = [_offset(info, day * 86_400) for day in probes]
        found = [
            _change(info, probes[i - 1] * 86_400, probes[i] * 86_400)
            for i in range(1, len(probes))
            if at[i] != at[i - 1]
        ]
        offsets = [at[0], *(_offset(info, instant) for instant in found)]
        return np.array(found, np.int64) * SECOND, np.array(offsets, np.int64) * SECOND

    def offsets(self, instants: Ints) -> Ints:
        """From UTC, at each of these instants."""
        if self.seconds is not None:
            return np.full(len(instants), self.seconds * SECOND, np.int64)
        transitions, offsets = self._transitions
        late = instants >= _DAILY * DAY
        if late.any():
            within = _DAILY * DAY + (instants - _DAILY * DAY) % _CYCLE
            instants = np.where(late, within, instants)
        found: Ints = offsets[np.searchsorted(transitions, instants, side="right")]
        return found

    def local(self, instants: Ints) -> Ints:
        """What clocks show, as if it was UTC."""
        return instants + self.offsets(instants)

    def instants(self, local: Ints) -> Ints:
        """When clocks show this."""
        before, behind = self.offsets(local - DAY), self.offsets(local + DAY)
        is_before = self.offsets(local - before) == before
        is_behind = self.offsets(local - behind) == behind
        return local - np.where(~is_before & is_behind, behind, before)


def _offset(info: ZoneInfo, seconds: int) -> int:
    found = (_EPOCH + timedelta(seconds=seconds)).astimezone(info).utcoffset()
    assert found is not None
    return round(found.total_seconds())


def _change(info: ZoneInfo, low: int, high: int) -> int:
    """The first second at which the offset is no more what it was at `low`."""
    was = _offset(info, low)
    return low + bisect_left(range(high - low), True, key=lambda s: _offset(info, low + s) != was)


@cache
def _regions() -> frozenset[str]:
    return frozenset(available_timezones()) - {"localtime", "posixrules", "Factory"}


def zone(name: str) -> Zone:
    """ValueError where there is none of that name."""
    found = _zone(name)
    if found is None:
        raise ValueError(f"[INVALID_TIMEZONE] The timezone: {name} is invalid")
    return found


@cache
def _zone(name: str) -> Zone | None:
    padded = re.sub(r"([+-])([0-9]):", r"\g<1>0\2:", name, count=1)
    padded = re.sub(r"([+-][0-9]{2}:)([0-9])\Z", r"\g<1>0\2", padded, count=1)
    known = _SHORT.get(padded, padded)
    if known in ("Z", "UTC", "GMT", "UT"):
        return Zone("UTC", 0)
    prefixed = re.match(r"(?:UTC|GMT|UT)?(?=[+-])", known)
    if prefixed is not None:
        seconds = offset_seconds(known[prefixed.end() :])
        return None if seconds is None else Zone(known, seconds)
    return Zone(known) if known in _regions() else None


def offset_seconds(text: str) -> int | None:
    """Of `+1`, `-08:00`, `+0130`, `+01:30:15`; at most 18 hours."""
    found = _OFFSET.match(text)
    if found is None:
        return None
    hours_, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    total = hours_ * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or total > 18 * 3600:
        return None
    return -total if found[1] == "-" else total


def hours(offsets: Ints) -> float:
    """Of the first of them."""
    return int(offsets[0]) / (3600 * SECOND)
