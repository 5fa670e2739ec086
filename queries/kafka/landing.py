"""The producer: flights are sent to a topic in the order of their landing, at its pace.

A flight's key is its airport, so each airport is in one partition. The days pass `speed` times as
fast as they did. A flight without an arrival is sent with the one before it:

>>> list(landings(['{"arr_ts":"2013-01-01T00:00:10Z"}', "{}", '{"arr_ts":"2013-01-01T00:00:30Z"}']))
[0.0, 0.0, 20.0]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path


def landings(lines: Iterable[str]) -> Iterator[float]:
    """When each landed, in seconds after the first that did."""
    first, now = None, 0.0
    for line in lines:
        landed = json.loads(line).get("arr_ts")
        if landed is not None:
            at = datetime.fromisoformat(landed.replace("Z", "+00:00")).timestamp()
            first = at if first is None else first
            now = max(now, at - first)
        yield now


def send(servers: str, topic: str, lines: list[str], seconds: float) -> None:
    """seconds: what it takes to send all."""
    from confluent_kafka import Producer

    due = list(landings(lines))
    speed = due[-1] / seconds
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 5})
    began = time.monotonic()
    for at, line in zip(due, lines, strict=True):
        producer.poll(max(0.0, at / speed - (time.monotonic() - began)))
        producer.produce(topic, line, key=json.loads(line)["origin"])
    if producer.flush(30):
        raise OSError(f"the broker at {servers} did not take all records")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m queries.kafka.landing", description=__doc__)
    parser.add_argument("servers")
    parser.add_argument("topic")
    parser.add_argument("seconds", type=float)
    parser.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    lines = [line for file in given.files for line in file.read_text("utf-8").splitlines()]
    send(given.servers, given.topic, lines, given.seconds)


if __name__ == "__main__":
    main()
