"""What KLL_SKETCH_TO_STRING_… says of a sketch, in Apache's words and Java's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sqlwin.functions.json.write import java_digits, java_double
from sqlwin.functions.sketches.kll import Kll, capacities

_NAMES = {"<i8": "Longs", "<f4": "Floats", "<f8": "Doubles"}


def summary(sketch: bytes, read: Kll) -> str:
    """Of the bytes and what was read from them."""
    n, count, dtype = read.n, len(read.levels), read.levels[0].dtype
    holds = capacities(read.k, count)
    size = dtype.itemsize
    compact = 8 + n * size if n < 2 else 20 + 4 * count + (2 + read.retained) * size
    lines = {
        "K": read.k,
        "Dynamic min K": read.least_k,
        "M": 8,
        "N": n,
        "Epsilon": f"{100 * 2.296 / read.least_k**0.9723:.3f}%",
        "Epsilon PMF": f"{100 * 2.446 / read.least_k**0.9433:.3f}%",
        "Empty": _truth(n == 0),
        "Estimation Mode": _truth(count > 1),
        "Levels": count,
        "Level 0 Sorted": _truth(bool(sketch[3] & 2)),
        "Capacity Items": holds,
        "Retained Items": read.retained,
        "Free Space": holds - read.retained,
        "ReadOnly": "false",
        "Updatable Storage Bytes": 20 + 4 * (count + 1) + (2 + holds) * size,
        "Compact Storage Bytes": compact,
        "Min Item": _value(read.least),
        "Max Item": _value(read.greatest),
    }
    body = "".join(f"   {name:<23}: {value}\n" for name, value in lines.items())
    name = f"KllKll{_NAMES[dtype.newbyteorder('<').str]}Sketch"
    return f"\n### {name} Summary:\n{body}### End sketch summary\n"


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _value(value: Any) -> str:
    if value is None:
        return "NaN"
    if isinstance(value, np.float32):
        return java_digits(str(value), f"{value:.1e}")
    return java_double(float(value)) if isinstance(value, np.floating) else str(value)
