"""Functions and types of other engines that are written another way here.

>>> ELSEWHERE["strftime"]
"DATE_FORMAT(ts, 'yyyy-MM-dd')"
"""

from __future__ import annotations

_WINDOW = "FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE), or in GROUP BY"
_REPEATED = "window_start and window_end; or this beside GROUP BY TUMBLE(…)"

ELSEWHERE: dict[str, str] = {
    "average": "AVG(value)",
    "current_watermark": "no value: what late rows correct is emitted as late, and expired rows "
    "are in the error stream",
    "convert": "CAST(value AS INT)",
    "count_distinct": "COUNT(DISTINCT value)",
    "countdistinct": "COUNT(DISTINCT value)",
    "uniq": "APPROX_COUNT_DISTINCT(value)",
    "extractjsonfield": "value ->> '$.name'",
    "json_extract_scalar": "JSON_VALUE(value, '$.name')",
    "generate_series": "SEQUENCE(1, 10)",
    "getdate": "CURRENT_TIMESTAMP",
    "sysdate": "CURRENT_TIMESTAMP",
    "groupconcat": "STRING_AGG(value, ',')",
    "iif": "IF(condition, value, other)",
    "index": "LOCATE('part', text)",
    "indexof": "LOCATE('part', text)",
    "strpos": "LOCATE('part', text)",
    "lengthb": "OCTET_LENGTH(text)",
    "listaggregate": "STRING_AGG(value, ',')",
    "str_to_date": "TO_DATE(text, 'yyyy-MM-dd')",
    "strptime": "TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')",
    "strftime": "DATE_FORMAT(ts, 'yyyy-MM-dd')",
    "timestampformat": "DATE_FORMAT(ts, 'yyyy-MM-dd')",
    "toupper": "UPPER(text)",
    "tolower": "LOWER(text)",
    "tostring": "CAST(value AS STRING)",
    "to_string": "CAST(value AS STRING)",
    "cumulate": _WINDOW.replace("TUMBLE(", "CUMULATE(").replace(
        "MINUTE", "MINUTE, INTERVAL '1' DAY"
    ),
    "hop": _WINDOW.replace("TUMBLE(", "HOP(").replace("MINUTE", "MINUTE, INTERVAL '10' MINUTE"),
    "tumble": _WINDOW,
    "session": "FROM SESSION(TABLE orders PARTITION BY id, DESCRIPTOR(ts), INTERVAL '5' MINUTE)",
    "window": "GROUP BY window(ts, '1 minute'), and window.start, window.end in SELECT",
    "session_window": "GROUP BY session_window(ts, '5 minutes'); session_window.start in SELECT",
    "window_time": "window_time(window), of a window of GROUP BY or of a column that is one",
    **dict.fromkeys(("tumble_start", "tumble_end"), _REPEATED),
    **dict.fromkeys(("hop_start", "hop_end"), _REPEATED.replace("TUMBLE", "HOP")),
    **dict.fromkeys(("session_start", "session_end"), _REPEATED.replace("TUMBLE", "SESSION")),
}

TYPES: dict[str, str] = {
    **dict.fromkeys(("datetime", "datetime2", "timestamp_ms", "datetime64"), "TIMESTAMP"),
    **dict.fromkeys(("int64", "bigserial", "serial", "uint32"), "BIGINT"),
    **dict.fromkeys(("int32", "int4", "mediumint", "uint16"), "INT"),
    **dict.fromkeys(("float64", "float8"), "DOUBLE"),
    **dict.fromkeys(("float32", "float4"), "FLOAT"),
    **dict.fromkeys(("number", "money", "uint64"), "DECIMAL(p, s)"),
    **dict.fromkeys(("str", "nvarchar", "longtext", "uuid", "symbol", "enum", "utf8"), "STRING"),
    **dict.fromkeys(("blob", "bytea", "varbinary"), "BINARY"),
    "variant": "JSON, a STRING, read by value ->> 'name' or JSON_VALUE(value, '$.name')",
}
"""By their names in lower case, as `ELSEWHERE`."""
