"""Functions of numbers: roots, logarithms, angles, rounding."""

from __future__ import annotations

from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (function("sqrt", of("(DOUBLE) -> DOUBLE", "sqrt({0})")),)
