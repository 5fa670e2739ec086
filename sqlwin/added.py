"""Fields that plan nodes got after checkpoints had been written.

A checkpoint names the plan that it is of by a digest of the plan's text, in which each field of a
node stands. A field that is new since then is left out of the text where it has its default, so
that plans which do not use it keep their digest.

    at_once: bool = field(default=False, repr=False, metadata=ADDED)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

ADDED: Mapping[str, bool] = {"added": True}
"""The metadata of such a field; `repr=False` goes with it."""


def added_values(value: object) -> Iterator[tuple[str, str, object]]:
    """Node, field and value of those that differ from their default, in the order of the tree."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from added_values(each)
    elif is_dataclass(value):
        for field in fields(value):
            found = getattr(value, field.name)
            if "added" not in field.metadata:
                yield from added_values(found)
            elif found != field.default:
                yield type(value).__name__, field.name, found
