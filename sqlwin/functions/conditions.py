"""AND, OR, NOT, and functions that choose among their arguments."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function("not", of("(BOOLEAN) -> BOOLEAN", "(NOT {0})")),
    function("coalesce", of("(T, T...) -> T", "coalesce({all})")),
    function("nullif", of("(T, T) -> T", "nullif({0}, {1})")),
)
