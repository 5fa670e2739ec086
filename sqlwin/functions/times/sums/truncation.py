"""Dates and instants truncated: to the first of a unit that they are in.

trunc('2024-05-17', 'QUARTER')    2024-04-01
"""

from __future__ import annotations

from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.times.sums.units import back, instant

_TRUNCATED = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    "QUARTER": "quarter",
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    "WEEK": "week",
}
_TRUNCATED_INSTANTS = {
    **_TRUNCATED,
    **dict.fromkeys(("DAY", "DD"), "day"),
    **{u: u.lower() for u in ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")},
}


def _truncate(call: Call, unit: int, units: dict[str, str], made: str) -> str:
    """unit: which argument. made: of DuckDB's unit."""
    arg = call.args[unit]
    assert isinstance(arg, Typed)
    if arg.is_constant:
        found = units.get(str(arg.value).upper())
        if found is None:
            return f"CAST(NULL AS {call.engine_type})"
        return call.filled(made.format(unit=f"'{found}'"))
    whens = " ".join(
        f"WHEN '{word}' THEN {made.format(unit=repr(found))}" for word, found in units.items()
    )
    return call.filled(f"CASE upper({{{unit}}}) {whens} END")


def trunc(call: Call) -> str:
    made = "CAST(date_trunc({unit}, {{0}}) AS DATE)"
    return _truncate(call, 1, _TRUNCATED, made)


def date_trunc(call: Call) -> str:
    made = back("date_trunc({unit}, " + instant(1).replace("{1}", "{{1}}") + ")")
    return _truncate(call, 0, _TRUNCATED_INSTANTS, made)
