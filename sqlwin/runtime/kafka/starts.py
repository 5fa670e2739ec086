"""Where the first run of a stream begins, by partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sqlwin.errors import RunError
from sqlwin.runtime.kafka.client import Consumer
from sqlwin.runtime.kafka.partitions import Partition

Start: TypeAlias = "str | int | Mapping[str, int]"
"""A word, milliseconds since 1970, or offsets by partition, `2` or `orders/2`."""


def first_offsets(
    consumer: Consumer, splits: list[Partition], start: Start, stream: str, wait: float
) -> dict[Partition, int]:
    """Of partitions that are not named the earliest. RunError for an offset that is not there."""
    keys = [split.key for split in splits]
    if isinstance(start, str | int):
        found = consumer.offsets(keys, start, wait)
        return {split: found[split.key] for split in splits}
    first, last = (consumer.offsets(keys, where, wait) for where in ("earliest", "latest"))
    given = _by_split(start, splits, stream)
    for split, offset in given.items():
        lo, hi = first[split.key], last[split.key]
        if not lo <= offset <= hi:
            raise RunError(
                f"stream {stream} is to start with offset {offset} of {split.name}, which has "
                f"{lo} up to {hi}"
            )
    return {split: given.get(split, first[split.key]) for split in splits}


def _by_split(
    start: Mapping[str, int], splits: list[Partition], stream: str
) -> dict[Partition, int]:
    """RunError for a partition that there is not."""
    single = len({split.topic for split in splits}) == 1
    names = {split.name: split for split in splits}
    names |= {str(split.number): split for split in splits if single}
    unknown = [name for name in start if name not in names]
    if unknown:
        there = ", ".join(sorted(split.name for split in splits))
        raise RunError(
            f"stream {stream} is to start with an offset of partition {unknown[0]}, and there are "
            f"{there}"
        )
    return {names[name]: offset for name, offset in start.items()}
