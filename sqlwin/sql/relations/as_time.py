"""The computed column that makes an event time of a column of another type, as errors propose it.

>>> as_time("ms", pa.int64(), ["ms"])
('at', 'at AS TO_TIMESTAMP_LTZ(ms, 3)')
>>> as_time("sent on", pa.string(), ["sent on", "At", "event_time"])
('event_time_2', 'event_time_2 AS CAST(`sent on` AS TIMESTAMP)')
>>> as_time("paid", pa.bool_(), ["paid"])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

import pyarrow as pa

from sqlwin.functions.core.types import STRING, is_numeric


def as_time(name: str, type_: pa.DataType, taken: Iterable[str]) -> tuple[str, str] | None:
    """Its name, of which there is no column yet, and its declaration; None where a value of the
    type is no time."""
    shown = name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"`{name.replace('`', '``')}`"
    if pa.types.is_integer(type_):
        made = f"TO_TIMESTAMP_LTZ({shown}, 3)"
    elif type_ == STRING or is_numeric(type_) or pa.types.is_temporal(type_):
        made = f"CAST({shown} AS TIMESTAMP)"
    else:
        return None
    lower = {each.lower() for each in taken}
    called = next(each for each in _names() if each not in lower)
    return called, f"{called} AS {made}"


def _names() -> Iterator[str]:
    yield from ("at", "event_time")
    yield from (f"event_time_{number}" for number in count(2))
