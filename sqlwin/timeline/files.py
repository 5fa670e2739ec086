"""Recordings as JSON lines: a line of what is recorded, then a line for each batch.

>>> lines = [head(Recording("q.sql", ("n",))), line(Batch(1, "feed"))]
>>> read(lines).batches[0].label
'feed'
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.timeline.recording import TIME, Batch, Recording

SUFFIX = ".jsonl"
VERSION = 1


@dataclass(frozen=True)
class _Head:
    sqlwin_recording: int
    title: str
    columns: tuple[str, ...]
    axis: str = TIME
    framed: bool = False
    notes: tuple[str, ...] = ()
    query: str = ""


def head(recording: Recording) -> str:
    """The first line; batches of the recording are not in it."""
    made = _Head(
        VERSION,
        recording.title,
        recording.columns,
        recording.axis,
        recording.framed,
        recording.notes,
        recording.query,
    )
    return msgspec.json.encode(made).decode()


def line(batch: Batch) -> str:
    return msgspec.json.encode(batch).decode()


def read(lines: Iterable[str]) -> Recording:
    """InputError for what is no recording, and for a version that is not known."""
    texts = [text for text in lines if text.strip()]
    try:
        first = msgspec.json.decode(texts[0] if texts else "", type=_Head)
        if first.sqlwin_recording != VERSION:
            raise InputError(f"a recording of version {first.sqlwin_recording}; known is {VERSION}")
        batches = tuple(msgspec.json.decode(text, type=Batch) for text in texts[1:])
    except msgspec.DecodeError as error:
        raise InputError(f"no recording of sqlwin run --record: {error}") from None
    return Recording(
        first.title, first.columns, batches, first.axis, first.framed, first.notes, first.query
    )


def load(path: Path) -> Recording:
    try:
        return read(path.read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read {path}: {why}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
