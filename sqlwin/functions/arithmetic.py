"""Arithmetic: + - * / DIV % and the signs, with ANSI's errors."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function("+", of("(N, N) -> N", "{0} + {1}", fails=True)),
    function("-", of("(N, N) -> N", "{0} - {1}", fails=True)),
    function("*", of("(N, N) -> N", "{0} * {1}", fails=True)),
    function("negative", of("(N) -> N", "-({0})", fails=True)),
    function("positive", of("(N) -> N", "{0}")),
    function("abs", of("(N) -> N", "abs({0})", fails=True)),
)
