"""EXPLAIN of streams that are read from topics: which, from where on, and what ends the run.

>>> options = (("connector", "kafka"), ("servers", "h"), ("topic", "a, b"), ("start", "latest"))
>>> topic(Stream("orders", (), None, options=options))
'orders reads topics a, b, after the latest records; records that are gone end the run'
"""

from __future__ import annotations

from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import STREAMS, connector_of
from sqlwin.plan.options.kafka_options import LOSS, PATTERN, topics
from sqlwin.plan.options.option import boolean
from sqlwin.system.secrets import refers

_BEGINS = {"earliest": "from the earliest records", "latest": "after the latest records"}


def topic(stream: Stream) -> str | None:
    """None for a stream that is read from elsewhere."""
    given = dict(stream.options)
    if connector_of(given) != "kafka" or "servers" not in given:
        return None
    options = {option.name: option.default for option in STREAMS["kafka"]} | given
    start = _BEGINS.get(options["start"], f"from {options['start']} on")
    known = not refers(options[LOSS])
    lost = "end the run" if not known or boolean(options[LOSS]) else "are passed over"
    return f"{stream.name} reads {_named(options)}, {start}; records that are gone {lost}"


def _named(options: dict[str, str]) -> str:
    if options[PATTERN]:
        return f"all topics that match {options[PATTERN]!r}, also later ones"
    names = options["topic"]
    several = not refers(names) and bool(names) and len(topics(names)) > 1
    return f"topic{'s' * several} {names}"
