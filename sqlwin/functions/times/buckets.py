"""TIME_BUCKET: the beginning of the bucket of equal length that an instant is in.

Buckets of months begin on the origin's day of the month, or on the last of a shorter month; those
of days and less are of a fixed length. The origin is in a bucket's beginning, by default 1970.

>>> made = BUCKET.compute(pa.array([50, -1]), pa.array([20, 20]), pa.array([5, 5]))
>>> made.cast(pa.int64()).to_pylist()
[45, -15]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import BIGINT, DATE, INT
from sqlwin.functions.core.vectors import Vector, vector
from sqlwin.functions.instants.calendar import DAY, Ints, civil, days, month_length
from sqlwin.functions.instants.iso import masked, micros
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ


@vector("timebucket")
def BUCKET(instants: pa.Array, lengths: pa.Array, origins: pa.Array) -> pa.Array:  # noqa: N802
    length, origin = np.asarray(lengths.fill_null(1)), micros(origins)
    behind = (micros(instants) - origin) // length * length
    return masked(origin + behind, TIMESTAMP, instants, lengths, origins)


@vector("monthbucket")
def MONTHS(instants: pa.Array, lengths: pa.Array, origins: pa.Array) -> pa.Array:  # noqa: N802
    given, origin = micros(instants), micros(origins)
    length = np.asarray(lengths.fill_null(1)).astype(np.int64)
    count = (_month(given) - _month(origin)) // length
    late = _later(origin, count * length) > given
    return masked(_later(origin, (count - late) * length), TIMESTAMP, instants, lengths, origins)


def _month(instants: Ints) -> Ints:
    year, month, _ = civil(instants // DAY)
    return year * 12 + month


def _later(origin: Ints, months: Ints) -> Ints:
    year, month, day = civil(origin // DAY)
    year, month = np.divmod(year * 12 + month - 1 + months, 12)
    day = np.minimum(day, month_length(year, month + 1))
    return np.asarray(days(year, month + 1, day) * DAY + origin % DAY)


def _of(chosen: Vector, type_: pa.DataType) -> Callable[[Call], str]:
    def text(call: Call) -> str:
        length = call.args[0]
        assert isinstance(length, Typed)
        if length.value is not None and length.value <= 0:
            raise Refused("a bucket is longer than 0", legal="INTERVAL '15' MINUTE", at=0)
        origin = call.texts[2] if len(call.texts) == 3 else "make_timestamptz(0)"
        named = chosen.named([TIMESTAMP, type_, TIMESTAMP], TIMESTAMP)
        return f"{named}({call.texts[1]}, {length.sql}, {origin})"

    return text


def _of_instants(arguments: Sequence[Argument]) -> list[Argument]:
    for at, given in enumerate(arguments):
        if isinstance(given, Typed) and given.type == DATE:
            raise Refused("TIME_BUCKET takes a TIMESTAMP, not a DATE", "CAST(d AS TIMESTAMP)", at)
    types = {given.type for given in arguments[1:] if isinstance(given, Typed)}
    if {TIMESTAMP, TIMESTAMP_NTZ} <= types:
        message = "TIME_BUCKET takes an origin of the type of what is in the bucket"
        raise Refused(message, "CAST(ntz AS TIMESTAMP) or CAST(ts AS TIMESTAMP_NTZ)", 2)
    return list(arguments)


BUCKETS: tuple[Function, ...] = (
    function(
        "time_bucket",
        of(
            "(INTERVAL_DT!, TIMESTAMP, TIMESTAMP?) -> TIMESTAMP",
            _of(BUCKET, BIGINT),
            fails=True,
            strict=True,
        ),
        of(
            "(INTERVAL_YM!, TIMESTAMP, TIMESTAMP?) -> TIMESTAMP",
            _of(MONTHS, INT),
            fails=True,
            strict=True,
        ),
        doc="The beginning of an instant's bucket of this length; they are laid out from 1970, "
        "or from an origin.",
        before=_of_instants,
    ),
)
