"""The gap of a session that each row has: an interval, or a text that is read as a duration.

Its entry is called with a space in its name, which no text of SQL has for a function.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from sqlwin.durations import LONGEST
from sqlwin.durations import micros as duration
from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BIGINT, STRING
from sqlwin.functions.core.vectors import by_value, vector

GAP = "session gap"


@vector("duration")
def _duration(texts: pa.Array) -> pa.Array:
    """Microseconds; NULL of what is no duration."""
    return by_value(_micros, texts, type=BIGINT)


def _micros(text: str) -> int | None:
    try:
        return duration(text, None)
    except ValueError:
        return None


def _checked(call: Call) -> str:
    given = call.args[0]
    assert isinstance(given, Typed)
    is_text = given.type == STRING
    micros = f"{_duration.named([STRING], BIGINT)}({{0}})" if is_text else "{0}"
    text = "{0}" if is_text else cast(replace(given, sql="{0}"), STRING).sql
    wrong = (
        "'[INVALID_PARAMETER_VALUE] a session needs a gap greater than 0 and without months, not '"
    )
    failed = f"error({wrong} || coalesce({text}, 'NULL'))"
    fits = f"{micros} BETWEEN 1 AND {LONGEST}"
    return call.filled(f"CASE WHEN {fits} THEN {micros} ELSE {failed} END")


GAPS: tuple[Function, ...] = (
    Function(
        (GAP,),
        (
            of("(INTERVAL_DT) -> BIGINT", _checked, fails=True, strict=True),
            of("(STRING) -> BIGINT", _checked, fails=True, strict=True),
        ),
    ),
)
