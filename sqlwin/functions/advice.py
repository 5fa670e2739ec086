"""What would be legal where a function does not take its arguments, in words of what was meant.

The signatures say what a function takes; a newcomer who adds 5 to a TIMESTAMP wants an interval.

>>> from sqlwin.functions.core.types import INT
>>> instead("+", [TIMESTAMP, INT])
"ts + INTERVAL '5' MINUTE"
>>> instead("+", [INT, INT])
''
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from sqlwin.functions.core.types import STRING, is_interval, is_numeric
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import TIMESTAMP

Kind = Callable[[pa.DataType], bool]
_COMPARED = frozenset(("=", "<>", "<", "<=", ">", ">=", "<=>", "between"))


def _is(type_: pa.DataType) -> Kind:
    return lambda found: found == type_


@dataclass(frozen=True)
class _Rule:
    """functions, and the kinds of types that their arguments have, in any order."""

    functions: frozenset[str]
    kinds: tuple[Kind, ...]
    legal: str

    def applies(self, function: str, types: Sequence[pa.DataType]) -> bool:
        if function not in self.functions or len(types) != len(self.kinds):
            return False
        orders = (types, types[::-1])
        return any(all(k(t) for k, t in zip(self.kinds, o, strict=True)) for o in orders)


_RULES = (
    _Rule(
        _COMPARED,
        (_is(TIMESTAMP), is_numeric),
        "TIMESTAMP '2024-01-31 09:00:00', or of milliseconds TO_TIMESTAMP_LTZ(n, 3)",
    ),
    _Rule(frozenset("+"), (_is(TIMESTAMP), is_numeric), "ts + INTERVAL '5' MINUTE"),
    _Rule(frozenset("-"), (_is(TIMESTAMP), is_numeric), "ts - INTERVAL '5' MINUTE"),
    _Rule(frozenset("+"), (_is(STRING), _is(STRING)), "a || b, CONCAT(a, b)"),
    _Rule(frozenset(("date_add",)), (_is(TIMESTAMP), is_interval), "ts + INTERVAL '5' DAY"),
    _Rule(frozenset(("date_sub",)), (_is(TIMESTAMP), is_interval), "ts - INTERVAL '5' DAY"),
    _Rule(frozenset(("isnull",)), (lambda _: True, lambda _: True), "IFNULL(value, other)"),
    _Rule(
        frozenset(("timestamptostring",)),
        (_is(TIMESTAMP), _is(STRING)),
        "DATE_FORMAT(ts, 'yyyy-MM-dd')",
    ),
)


def instead(function: str, types: Sequence[pa.DataType]) -> str:
    """Empty where only the signatures say it."""
    return next((rule.legal for rule in _RULES if rule.applies(function, types)), "")
