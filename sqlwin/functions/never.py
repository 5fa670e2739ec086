"""Functions of Spark that the table will not have, and why."""

from __future__ import annotations

_CALENDAR = "an interval is of months (MAKE_YM_INTERVAL) or of days and less (MAKE_DT_INTERVAL)"
_NO_ZONE = "there is no TIMESTAMP without a time zone"
_NO_TIME = "there is no type TIME"

NEVER: dict[str, str] = {
    "make_interval": _CALENDAR,
    "try_make_interval": _CALENDAR,
    **dict.fromkeys(
        (
            *("convert_timezone", "make_timestamp_ntz", "to_timestamp_ntz"),
            *("try_make_timestamp_ntz", "try_to_timestamp_ntz"),
        ),
        _NO_ZONE,
    ),
    **dict.fromkeys(
        (
            *("make_time", "to_time", "try_to_time", "time_trunc", "time_diff", "current_time"),
            *("time_from_micros", "time_from_millis", "time_from_seconds"),
            *("time_to_micros", "time_to_millis", "time_to_seconds"),
        ),
        _NO_TIME,
    ),
}
