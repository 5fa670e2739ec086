"""Numbers of the command line, within what can be done with them.

>>> within(1, 1_000)("20")
20
>>> within(0.0, 1.0)("nan")
Traceback (most recent call last):
argparse.ArgumentTypeError: nan is not a number from 0 to 1
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def within(low: Number, high: Number) -> Callable[[str], Number]:
    """Reads one as `low` is, both ends included."""

    def read(text: str) -> Number:
        try:
            found = type(low)(text)
        except ValueError:
            found = None
        if found is None or not low <= found <= high:
            problem = f"{text} is not a number from {low:,.0f} to {high:,.0f}"
            raise argparse.ArgumentTypeError(problem)
        return found

    return read
