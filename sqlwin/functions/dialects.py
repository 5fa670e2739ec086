"""Functions of Flink SQL and ksqlDB that people bring along."""

from __future__ import annotations

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.typed import Refused, Typed

_SCALES = {0: 1_000_000, 3: 1_000, 6: 1}


def _timestamp_ltz(call: Call) -> str:
    precision = call.args[1] if len(call.args) == 2 else None
    value = precision.value if isinstance(precision, Typed) else 3
    if value not in _SCALES:
        raise Refused("TO_TIMESTAMP_LTZ takes a precision of 0, 3 or 6", at=1)
    return call.filled(f"make_timestamptz({{0}} * CAST({_SCALES[value]} AS BIGINT))")


FUNCTIONS: tuple[Function, ...] = (
    function(
        "to_timestamp_ltz",
        of("(BIGINT, INT!?) -> TIMESTAMP", _timestamp_ltz, fails=True),
        doc="Flink's: the instant of an epoch in seconds (precision 0), milliseconds (3) or so.",
    ),
)
