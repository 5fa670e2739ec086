"""Bitwise operators and functions."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function("&", of("(I, I) -> I", "({0} & {1})")),
    function("|", of("(I, I) -> I", "({0} | {1})")),
)
