"""How far a checkpoint is: lines of what, of which, value; the same of both hosts.

>>> orders = Stream("orders", (), None, options=(("path", "*.jsonl"),))
>>> file_lines(orders, FileProgress(2, {"b.jsonl": End(70, "…"), "a.jsonl": End(50, "…")}))
[('input', 'orders a.jsonl', '50 bytes'), ('input', 'orders b.jsonl', '70 bytes')]
>>> topic = Stream("topic", (), None, options=(("connector", "kafka"),))
>>> file_lines(topic, FileProgress(1, {"orders/0": End(17, "")}))
[('input', 'topic orders/0', 'offset 17 is next')]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from sqlwin.instants import END, START, format_instant
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import STATIC, connector_of
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.runtime.files.ends import UNKNOWN, End
from sqlwin.runtime.files.file_progress import FileProgress

Line = tuple[str, str, str]
COLUMNS = ("what", "of", "value")


def file_lines(stream: Stream, files: FileProgress) -> list[Line]:
    """Each file, or partition of a topic, as far as it was read, and how many pieces are known and
    were not."""
    read = [
        ("input", f"{stream.name} {name}", _reached(stream, files.files[name]))
        for name in sorted(files.files)
    ]
    waiting = len(files.left())
    return [*read, *([("unread", stream.name, str(waiting))] if waiting else [])]


def watermark_lines(watermarks: Mapping[str, int]) -> list[Line]:
    known = ((name, mark) for name, mark in watermarks.items() if START < mark < END)
    return [("watermark", name, format_instant(mark)) for name, mark in known]


def position_lines(streams: Iterable[str], saved: Mapping[str, Any]) -> list[Line]:
    """saved: as `Positions` writes them, of one stream without its name."""
    names = list(streams)
    by_stream = saved if len(names) > 1 else {names[0]: saved}
    return [
        ("position", f"{stream} partition {part}", str(seq))
        for stream, positions in by_stream.items()
        for part, seq in positions.items()
    ]


def table(lines: Iterable[Line]) -> pa.Table:
    schema = dict.fromkeys(COLUMNS, pl.String())
    return pl.DataFrame(list(dict.fromkeys(lines)), schema=schema, orient="row").to_arrow()


def _reached(stream: Stream, end: End) -> str:
    options = dict(stream.options)
    if RELOAD in options:
        return f"version {end.hi}"
    if end.hi == UNKNOWN or connector_of(options) in ("nexmark", *STATIC):
        return "whole"
    return f"offset {end.hi} is next" if connector_of(options) == "kafka" else f"{end.hi} bytes"
