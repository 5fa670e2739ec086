"""Processing time: the time of the batch that takes a row in, as the host handed it.

It is the same for all rows of a batch, and the same again when the batch is run again. Queries
that keep state do not call these, for their results would depend on the cut into batches.

`UNIX_TIMESTAMP()` counts seconds, as in Spark and Flink; in ksqlDB it counts milliseconds.

>>> [overload.volatile.value for overload in MORE["unix_timestamp"]]
['processing time']
"""

from __future__ import annotations

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, How, Overload, function, of
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import DATE
from sqlwin.functions.core.volatility import NOW, Volatility
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_NOW = Typed(f'"{NOW}"', TIMESTAMP)
_MICROS = f"epoch_us({_NOW.sql})"


def _day(_: Call) -> str:
    return cast(_NOW, DATE).sql


def _clock(_: Call) -> str:
    return cast(_NOW, TIMESTAMP_NTZ).sql


def _day_number(_: Call) -> str:
    return f"CAST({cast(_NOW, DATE).sql} - DATE '1970-01-01' AS INTEGER)"


def _read(signature: str, how: How) -> Overload:
    return of(signature, how, volatile=Volatility.PROCESSING_TIME)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "current_timestamp now proctime current_row_timestamp",
        _read("() -> TIMESTAMP", _NOW.sql),
        doc="When the batch that takes the row in is worked on. Flink's PROCTIME is the same.",
    ),
    function(
        "current_date curdate",
        _read("() -> DATE", _day),
        doc="The date, in the session's zone, when the batch that takes the row in is worked on.",
    ),
    function(
        "localtimestamp",
        _read("() -> TIMESTAMP_NTZ", _clock),
        doc="What clocks of the session's zone show when the batch that takes the row in is worked"
        " on.",
    ),
)
MORE: dict[str, tuple[Overload, ...]] = {
    "unix_timestamp": (
        _read(
            "() -> BIGINT", f"(({_MICROS} - ({_MICROS} % 1000000 + 1000000) % 1000000) // 1000000)"
        ),
    ),
    "unix_date": (_read("() -> INT", _day_number),),
}
