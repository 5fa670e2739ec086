"""The options of Kafka streams and sinks that are more than a word: where to start, what of a
record is a column, and settings of the client, which are passed on.

>>> start("latest"), start("0:17, 1:5"), metadata("id = key, at = timestamp")
('latest', {0: 17, 1: 5}, {'id': 'key', 'at': 'timestamp'})
>>> start("2024-01-01T00:00:00Z")
1704067200000
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlwin.instants import parse_instant

CLIENT = "kafka."
"""Options that begin so are settings of the client: `kafka.sasl.mechanism`."""
IDLE = "idle.timeout"
FORMATS = ("json", "csv", "raw")
PARTS = ("key", "timestamp", "topic", "partition", "offset")
"""Of a record, beside its value and its headers."""
HEADER = "header."
START_WORDS = ("earliest", "latest")
OURS = ("bootstrap.servers", "isolation.level", "enable.auto.commit", "enable.partition.eof")
"""Settings of the client that sqlwin relies on."""


def start(text: str) -> str | int | dict[int, int]:
    """A word, milliseconds since 1970, or an offset of each partition. ValueError otherwise."""
    if text in START_WORDS:
        return text
    if "T" in text or "-" in text:
        return parse_instant(text) // 1000
    return {_number(part): _number(offset) for part, offset in _pairs(text, ":")}


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
