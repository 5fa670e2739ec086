"""Functions of texts, and of bytes where they are alike."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function("upper ucase", of("(STRING) -> STRING", "upper({0})"), doc="The text in capitals."),
    function(
        "lower lcase", of("(STRING) -> STRING", "lower({0})"), doc="The text in small letters."
    ),
    function("concat ||", of("(STRING...) -> STRING", "({all})")),
)
