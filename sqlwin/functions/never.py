"""Functions, types and collations of Spark that expressions will not have, and why.

>>> why_function("xpath_int")
'XML is parsed before it gets into a stream, as rows of columns'
>>> why_function("st_srid")
'there are no columns of type GEOMETRY or GEOGRAPHY'
>>> why_type("TIME(3)"), why_type("BIGINT")
('there is no time of day without a date', '')
"""

from __future__ import annotations

import re

from sqlwin.functions.core.volatility import Volatility

_KEYS = "keys do not belong in the text of a query; encrypt before or behind it"
_VARIANT = "there are no columns of type VARIANT: ->, JSON_VALUE and FROM_JSON read texts of JSON"
_XML = "XML is parsed before it gets into a stream, as rows of columns"
_ROWS = "it makes several rows of one, which no scalar does"
_CALENDAR = "an interval is of months or of a fixed length: MAKE_YM_INTERVAL, MAKE_DT_INTERVAL"
_NO_TIME = "there is no time of day without a date"
_CHANCE = "it gives another value each time, so a batch that is run again would be another"
_SESSION = "it depends on more than the row: the session, the machine, the file"
_PLACES = "there are no columns of type GEOMETRY or GEOGRAPHY"
_SKETCHES = "sketches are bytes that Spark's own library makes and reads"
COLLATION = "texts are compared by their bytes, UTF8_BINARY; UPPER or LOWER brings them to one case"
"""Why there is no other collation."""

NEVER: dict[str, str] = {
    **dict.fromkeys(
        (
            *("parse_json", "try_parse_json", "variant_get", "try_variant_get", "is_variant_null"),
            *("schema_of_variant", "schema_of_variant_agg", "to_variant_object"),
            *("is_valid_variant", "variant_set", "try_variant_set", "variant_insert"),
            *("try_variant_insert", "variant_array_append", "try_variant_array_append"),
            *("variant_delete", "variant_strip_nulls"),
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
    "timestamp_nanos": "a TIMESTAMP has microseconds, and no less",
}
_CLASSES = {_CHANCE: Volatility.CHANCE, _SESSION: Volatility.SESSION}


def volatility(name: str) -> Volatility | None:
    """The class of a function that the table will not have, where its value is the reason.

    >>> volatility("uuid"), volatility("xpath")
    (<Volatility.CHANCE: 'chance'>, None)
    """
    return _CLASSES.get(NEVER.get(name, ""))


PREFIXES: dict[str, str] = {
    "st_": _PLACES,
    "tuple_": _SKETCHES,
}
"""Of names."""
TYPES: dict[str, str] = {
    "GEOGRAPHY": _PLACES,
    "GEOMETRY": _PLACES,
    "INTERVAL": _CALENDAR,
    "TIME": _NO_TIME,
    "VARIANT": _VARIANT,
}
"""INTERVAL alone: with fields behind it, it is a type."""
_NAMED = re.compile(rf"\b({'|'.join(TYPES)})\b(?!\s+(?:YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)\b)", re.I)


def why_function(name: str) -> str:
    """name: in lower case. Empty for what is no such function."""
    if name in NEVER:
        return NEVER[name]
    return next((why for prefix, why in PREFIXES.items() if name.startswith(prefix)), "")


def why_type(text: str) -> str:
    """text: a type, or the schema of several. Empty where none of them is such a type."""
    found = _NAMED.search(text)
    return TYPES[found[1].upper()] if found else ""


def reasons() -> frozenset[str]:
    """Each of them; a message of what is refused so ends in it."""
    return frozenset((*NEVER.values(), *PREFIXES.values(), *TYPES.values(), COLLATION))
