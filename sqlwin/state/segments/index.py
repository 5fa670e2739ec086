"""The index: which segments a store is made of; plain JSON, kept by the host.

The index is the store. Segments are never changed, so an index names one state
of the store for as long as its segments lie there. `dead` are the segments this
flush left out and the index before still names: they are deleted by the next
flush, when the host has long committed this index. So of the last two indexes
either can be started from, whichever of them the crash left.

>>> index = Index("panes", "00", 60, -5, 2, (Segment("panes-t1-1", 0, 1, 7, 10, 2, 900),))
>>> Index.from_json(index.to_json()) == index
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.contract import Layout
from sqlwin.state.segments.codec import schema_print

INDEX_VERSION = 2

_ADDED: dict[object, dict[str, Any]] = {1: {"cuts": (), "work": 0}, 2: {}}
"""By version: the fields that came later, as a store without them has them."""

IndexJson = dict[str, Any]
"""What json.loads(json.dumps(it)) leaves as it is."""


@dataclass(frozen=True)
class Segment:
    """One immutable segment.

    slice: the slice of time it belongs to; order: its run, a greater one was
    written later; its times are in lo <= time < hi.
    """

    name: str
    slice: int
    order: int
    lo: int
    hi: int
    rows: int
    bytes: int


@dataclass(frozen=True)
class Index:
    """One state of a store; `print` is the schema print in hexadecimal digits.

    cuts: blobs of the horizons of single keys; work: what was put and cut since
    hidden records were last looked for. Version 1 had neither.
    """

    layout: str
    print: str
    slice_width: int
    floor: int
    next: int
    segments: tuple[Segment, ...]
    dead: tuple[str, ...] = ()
    cuts: tuple[Segment, ...] = ()
    work: int = 0

    def to_json(self) -> IndexJson:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        listed = {name: [asdict(s) for s in plain[name]] for name in ("segments", "cuts")}
        return {"version": INDEX_VERSION, **plain, **listed, "dead": list(self.dead)}

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Index:
        """StateError for what no known version is."""
        plain = dict(json)
        version = plain.pop("version", None)
        if version not in _ADDED:
            newer = isinstance(version, int) and version > INDEX_VERSION
            why = ": made by a newer sqlwin" if newer else ""
            raise StateError(f"index has version {version}, known are 1 to {INDEX_VERSION}{why}")
        plain = {**_ADDED[version], **plain}
        try:
            segments = tuple(Segment(**segment) for segment in plain.pop("segments"))
            cuts = tuple(Segment(**segment) for segment in plain.pop("cuts"))
            dead = tuple(plain.pop("dead"))
            return cls(**plain, segments=segments, dead=dead, cuts=cuts)
        except (KeyError, TypeError) as wrong:
            raise StateError(f"index is not whole: {wrong}") from wrong

    def check_fits(self, layout: Layout) -> None:
        """StateError where a store of this layout cannot go on from here."""
        found = (self.layout, self.print, self.slice_width)
        wanted = (layout.name, schema_print(layout.schema).hex(), layout.slice_width)
        if found != wanted:
            raise StateError(
                f"index of another layout: (name, schema print, slice width) is {found},"
                f" the store has {wanted}"
            )
