"""CAST and TRY_CAST, from each type to each, as Spark's ANSI mode has them.

`cast` makes the text. A cast that cannot be done at all is Refused; one that fails for a value
raises for that row, TRY_CAST gives NULL.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from sqlwin.functions.typed import Refused, Typed
from sqlwin.functions.types import NULL, engine_name, implicit, name


def cast(given: Typed, to: pa.DataType, *, safe: bool = False, implicitly: bool = False) -> Typed:
    """safe: TRY_CAST. implicitly: it is Spark's own idea, and a STRING is the value's text."""
    if given.type == to:
        return given
    if given.type == NULL:
        return replace(given, sql=f"CAST(NULL AS {engine_name(to)})", type=to)
    if implicit(given.type, to):
        return replace(given, sql=f"CAST({given.sql} AS {engine_name(to)})", type=to)
    raise Refused(f"{name(given.type).upper()} cannot be cast to {name(to).upper()}")
