"""The options of Kafka streams and sinks that are more than a word: where to start, what of a
record is a column, and settings of the client, which are passed on.

>>> start("latest"), start("0:17, 1:5"), metadata("id = key, at = timestamp")
('latest', {'0': 17, '1': 5}, {'id': 'key', 'at': 'timestamp'})
>>> start("orders/0:17"), topics("orders, returns")
({'orders/0': 17}, ('orders', 'returns'))
>>> start("2024-01-01T00:00:00Z")
1704067200000
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlwin.instants import parse_instant

CLIENT = "kafka."
"""Options that begin so are settings of the client: `kafka.sasl.mechanism`."""
IDLE, LOSS, PATTERN = "idle.timeout", "fail.on.data.loss", "topic.pattern"
_OFFSETS = re.compile(r"\s*([A-Za-z0-9._-]+/)?[0-9]+\s*:\s*[0-9]+\s*(,.*)?", re.DOTALL)
FORMATS, WRITTEN = ("json", "csv", "raw", "avro"), ("json", "avro")
AVRO = "avro"
SCHEMA, REGISTRY = "avro.schema", "avro.schema.registry.url"
REGISTRY_CREDENTIALS = "avro.schema.registry.credentials"
PARTS = ("key", "timestamp", "topic", "partition", "offset")
"""Of a record, beside its value and its headers."""
HEADER = "header."
START_WORDS = ("earliest", "latest")
OURS = ("bootstrap.servers", "isolation.level", "enable.auto.commit", "enable.partition.eof")
"""Settings of the client that sqlwin relies on."""


def topics(text: str) -> tuple[str, ...]:
    """One or several, in the order given. ValueError for one that comes twice or has no name."""
    names = tuple(name.strip() for name in text.split(","))
    if len({*names}) != len(names) or not all(names):
        raise ValueError(text)
    return names


def pattern(text: str) -> str:
    """A regular expression. ValueError for what is none."""
    try:
        re.compile(text)
    except re.error:
        raise ValueError(text) from None
    return _some(text)


def start(text: str) -> str | int | dict[str, int]:
    """A word, milliseconds since 1970, or an offset of each partition, which is a number or, where
    there are several topics, `topic/number`. ValueError otherwise."""
    if text in START_WORDS:
        return text
    if _OFFSETS.fullmatch(text):
        return {_partition(part): _number(offset) for part, offset in _pairs(text, ":")}
    return parse_instant(text) // 1000


def metadata(text: str) -> dict[str, str]:
    """Parts of a record by column. ValueError for a part that there is not."""
    found = dict(_pairs(text, "="))
    for part in found.values():
        if part not in PARTS and not (part.startswith(HEADER) and part != HEADER):
            raise ValueError(text)
    return found


def client_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Those that are passed on, by the client's names."""
    return {
        name.removeprefix(CLIENT): value
        for name, value in options.items()
        if name.startswith(CLIENT)
    }


def _partition(text: str) -> str:
    topic, found, number = text.rpartition("/")
    return f"{topic}{found}{_number(number)}"


def _some(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(text)
    return int(text)


def _pairs(text: str, between: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for each in text.split(","):
        left, found, right = (part.strip() for part in each.partition(between))
        if not (left and found and right) or left in dict(pairs):
            raise ValueError(text)
        pairs.append((left, right))
    return pairs
