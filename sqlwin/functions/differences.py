"""Where an expression that Spark takes, too, is known to give something else here, and why.

Of each: the expression, what Spark does, what is done here. The page of functions shows them.
"""

from __future__ import annotations

DIFFERENCES: tuple[tuple[str, str, str], ...] = (
    (
        "a time of day as a TIMESTAMP: `'10:11:12'`",
        "that time today",
        "raises, in TRY_CAST, too: nothing reads a clock",
    ),
    (
        "under a zone: `ts + INTERVAL '1' DAY`, `ts - ts`",
        "days of its clocks, what clocks show less what they show",
        "24 hours, the time between, as in frames and joins",
    ),
    (
        "BINARY that is no UTF-8, as a STRING",
        "those bytes",
        "raises, in TRY_CAST, too: a STRING is UTF-8; `MAKE_VALID_UTF8(b)`",
    ),
    (
        "`'${name}'` in a query",
        "a variable of the session",
        r"refused; `'$\{name}'` is those characters in both",
    ),
    (
        "what stands twice in an expression: the first argument of NULLIF",
        "may be evaluated once, before a NULL would keep it from that, and raises",
        "raises where it is evaluated",
    ),
    (
        "what constants decide: `x + CASE WHEN b THEN NULL END`, `COALESCE(x, 1) IS NULL`",
        "the optimizer may drop `x`, which raises no more",
        "`x` is dropped for NULLs and conditions without columns",
    ),
    (
        "a constant that raises, as a time: `IF(b, CAST(CAST(1 % 0 AS STRING) AS DATE), d)`",
        "raises for every row",
        "raises where it is evaluated",
    ),
    (
        "a DOUBLE as a STRING: `4611686018427387904D`",
        "on Java 17 not always the shortest digits",
        "the shortest, as in Java since 19",
    ),
    ("the last digit of `EXP`, `POW`, `SIN` and the like", "Java's", "the platform's"),
    (
        "a BIGINT as an index: `a[4294967296]`",
        "its lowest 32 bits: the first element",
        "raises INVALID_ARRAY_INDEX",
    ),
    (
        "a key twice, by FROM_JSON or a CAST among MAPs",
        "the map has both",
        "raises DUPLICATED_MAP_KEY",
    ),
    (
        "CONCAT_WS with a CASE as its separator, where that is NULL",
        "may take the separator of the row before",
        "NULL",
    ),
    (
        "a NULL of no type: `ARRAY_CONTAINS(a, NULL)`",
        "refused",
        "a NULL of the type that is wanted",
    ),
)
