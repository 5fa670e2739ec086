"""What blobs say of two users, of whom one is forgotten."""

from __future__ import annotations

import io

import polars as pl

from sqlwin.state.contract import Blobs
from sqlwin.state.segments.codec import MAGIC, decode_segment

GONE, STAYS = "ann.the.first@example.org", "bob.the.second@example.org"


def said(blobs: Blobs) -> str:
    """Everything that any blob says."""
    return " ".join(_said(blobs.get(name)) for name in blobs.names())


def _said(data: bytes) -> str:
    if data[:4] == MAGIC:
        return str(decode_segment(data).to_dicts())
    try:
        return str(pl.read_ipc_stream(io.BytesIO(data)).to_dicts())
    except (pl.exceptions.PolarsError, OSError):
        return data.decode()
