"""Functions of texts and bytes."""

from __future__ import annotations

from sqlwin.functions.core.entry import Function
from sqlwin.functions.texts import (
    basics,
    case,
    checks,
    encodings,
    hashes,
    like,
    padding,
    parts,
    printing,
    regex,
    search,
    urls,
)

_ROOMS = (
    case,
    basics,
    parts,
    padding,
    search,
    checks,
    printing,
    like,
    regex,
    encodings,
    hashes,
    urls,
)
FUNCTIONS: tuple[Function, ...] = tuple(f for room in _ROOMS for f in room.FUNCTIONS)
MORE = encodings.MORE
