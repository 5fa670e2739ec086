"""The time zone of a script, `SET 'time.zone'`: whose clocks expressions go by if they name none.

An expression is compiled with the name of the zone in its text. So nothing looks here when rows
are computed, and a plan says which zone it is of.

>>> with of_a_script():
...     set_session_zone("Europe/Berlin")
...     session_zone()
'Europe/Berlin'
>>> session_zone()
'UTC'
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

UTC = "UTC"
_ZONE: ContextVar[str] = ContextVar("session_zone", default=UTC)


def session_zone() -> str:
    """Its name: `UTC`, or another of the IANA's."""
    return _ZONE.get()


def is_utc() -> bool:
    """Whether clocks show UTC, so that nothing has to be moved."""
    return session_zone() == UTC


def set_session_zone(name: str) -> None:
    """For what is compiled from now on. name: of the IANA's, checked."""
    _ZONE.set(name)


@contextmanager
def in_utc() -> Iterator[None]:
    """What is compiled meanwhile goes by UTC."""
    before = _ZONE.set(UTC)
    try:
        yield
    finally:
        _ZONE.reset(before)


@contextmanager
def of_a_script() -> Iterator[None]:
    """A script begins in UTC, and what it sets ends with it."""
    with in_utc():
        yield
