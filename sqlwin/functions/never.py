"""Functions of Spark that the table will not have, and why."""

from __future__ import annotations

from sqlwin.functions.volatility import Volatility

_KEYS = "keys do not belong in the text of a query; encrypt before or behind it"
_VARIANT = "there are no columns of type VARIANT: GET_JSON_OBJECT and FROM_JSON read JSON"
_XML = "XML is parsed before it gets into a stream, as rows of columns"
_ROWS = "it makes several rows of one, which no scalar does"
_CALENDAR = "an interval is of months or of a fixed length: MAKE_YM_INTERVAL, MAKE_DT_INTERVAL"
_NO_ZONE = "there is no TIMESTAMP without a time zone"
_NO_TIME = "there is no type TIME"
_CHANCE = "it gives another value each time, so a batch that is run again would be another"
_SESSION = "it depends on more than the row: the session, the machine, the file"

NEVER: dict[str, str] = {
    **dict.fromkeys(
        (
            *("parse_json", "try_parse_json", "variant_get", "try_variant_get", "is_variant_null"),
            *("schema_of_variant", "schema_of_variant_agg", "to_variant_object"),
            "is_valid_variant",
        ),
        _VARIANT,
    ),
    **dict.fromkeys(
        (
            *("from_xml", "to_xml", "schema_of_xml", "xpath", "xpath_boolean", "xpath_double"),
            *("xpath_float", "xpath_int", "xpath_long", "xpath_number", "xpath_short"),
            "xpath_string",
        ),
        _XML,
    ),
    "json_tuple": _ROWS,
    "make_interval": _CALENDAR,
    "try_make_interval": _CALENDAR,
    **dict.fromkeys(
        (
            *("convert_timezone", "make_timestamp_ntz", "to_timestamp_ntz"),
            *("try_make_timestamp_ntz", "try_to_timestamp_ntz", "localtimestamp"),
        ),
        _NO_ZONE,
    ),
    **dict.fromkeys(
        (
            *("make_time", "to_time", "try_to_time", "time_trunc", "time_diff", "current_time"),
            *("localtime",),
            *("time_from_micros", "time_from_millis", "time_from_seconds"),
            *("time_to_micros", "time_to_millis", "time_to_seconds"),
        ),
        _NO_TIME,
    ),
    **dict.fromkeys(("aes_encrypt", "aes_decrypt", "try_aes_decrypt"), _KEYS),
    "sentences": "where words and sentences end differs from one Java to another",
    **dict.fromkeys(
        (
            *("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"),
            "monotonically_increasing_id",
        ),
        _CHANCE,
    ),
    **dict.fromkeys(
        (
            *("current_catalog", "current_database", "current_schema", "current_user"),
            *("session_user", "user", "version", "spark_partition_id"),
            *("input_file_name", "input_file_block_start", "input_file_block_length"),
            *("java_method", "reflect", "try_reflect"),
        ),
        _SESSION,
    ),
}
_CLASSES = {_CHANCE: Volatility.CHANCE, _SESSION: Volatility.SESSION}


def volatility(name: str) -> Volatility | None:
    """The class of a function that the table will not have, where its value is the reason.

    >>> volatility("uuid"), volatility("xpath")
    (<Volatility.CHANCE: 'chance'>, None)
    """
    return _CLASSES.get(NEVER.get(name, ""))
