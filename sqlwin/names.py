"""Names that were meant, perhaps.

>>> nearest("tumbel", ["HOP", "TUMBLE"])
'; did you mean TUMBLE?'
>>> nearest("x", ["HOP", "TUMBLE"])
''
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean x?` where something known is near."""
    by_lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""
