"""Comparisons: of numbers, texts, instants and nested values."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function("=", of("(T, T) -> BOOLEAN", "({0} = {1})")),
    function("<=>", of("(T, T) -> BOOLEAN", "({0} IS NOT DISTINCT FROM {1})")),
    function("<", of("(O, O) -> BOOLEAN", "({0} < {1})")),
    function("<=", of("(O, O) -> BOOLEAN", "({0} <= {1})")),
)
