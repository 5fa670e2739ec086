"""The idle timeouts of streams: how long a partition of the source may hold the watermark back.

>>> from sqlwin.plan.ir.nodes import Stream
>>> idle_timeouts([Stream("orders", (), None, options=((IDLE, "30 seconds"),))])
{'orders': 30000000}
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlwin.durations import micros
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.kafka_options import IDLE
from sqlwin.system.secrets import opened


def idle_timeouts(streams: Iterable[Stream]) -> dict[str, int]:
    """Microseconds, of those that declare one."""
    found = {}
    for stream in streams:
        for _, text in opened(tuple(each for each in stream.options if each[0] == IDLE)):
            found[stream.name] = micros(text, None)
    return found
