"""Names that were meant, perhaps: near ones, and what other engines call the same.

>>> nearest("tumbel", ["HOP", "TUMBLE"])
'; did you mean TUMBLE?'
>>> nearest("x", ["HOP", "TUMBLE"])
''
>>> nearest("strftime", ["trim", "date_format"], {"strftime": "DATE_FORMAT(ts, 'yyyy')"})
"; here it is DATE_FORMAT(ts, 'yyyy')"
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

NEAR = 0.65
"""Of twice the characters that two words share, by their lengths: `avrage` is near `average`,
`window` is not near `now`."""
_NOWHERE: Mapping[str, str] = {}


def nearest(name: str, known: Iterable[str], elsewhere: Mapping[str, str] = _NOWHERE) -> str:
    """`; did you mean x?` where something known is near; elsewhere: words of other engines, in
    lower case, with what is written here in their place."""
    here = elsewhere.get(name.lower())
    if here is not None:
        return f"; here it is {here}"
    by_lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""
