"""Bytes as text: base64, hex, character sets."""

from __future__ import annotations

from sqlwin.functions.entry import Function

FUNCTIONS: tuple[Function, ...] = ()
