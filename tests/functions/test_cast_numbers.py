"""Casts among BOOLEAN, numbers, STRING and BINARY, and literals, as Spark's ANSI mode has them."""

import pytest

from tests.functions.spoken import spoken, table

ANSWERS = table("""
    5                                | int            | 5
    3000000000                       | bigint         | 3000000000
    -2147483648                      | int            | -2147483648
    -9223372036854775808             | bigint         | -9223372036854775808
    9223372036854775808              | decimal(19,0)  | 9223372036854775808
    2S                               | smallint       | 2
    -128Y                            | tinyint        | -128
    1.50                             | decimal(3,2)   | 1.50
    .5                               | decimal(1,1)   | 0.5
    2BD                              | decimal(1,0)   | 2
    1e3BD                            | decimal(4,0)   | 1000
    1e3                              | double         | 1000.0
    1.5D                             | double         | 1.5
    1.5F                             | float          | 1.5
    CAST(3.5 AS INT)                 | int            | 3
    CAST(-3.5e0 AS INT)              | int            | -3
    CAST(d AS INT)                   | int            | 2
    CAST(p AS INT)                   | int            | 12
    CAST(300 AS TINYINT)             | raises         | CAST_OVERFLOW
    CAST(nan AS INT)                 | raises         | CAST_OVERFLOW
    TRY_CAST(300 AS TINYINT)         | tinyint        | None
    CAST(1e300 AS FLOAT)             | float          | inf
    CAST(1.005e0 AS DECIMAL(10, 2))  | decimal(10,2)  | 1.01
    CAST(nan AS DECIMAL(10, 2))      | decimal(10,2)  | None
    CAST(p AS DECIMAL(3, 2))         | raises         | NUMERIC_VALUE_OUT_OF_RANGE
    TRY_CAST(p AS DECIMAL(3, 2))     | decimal(3,2)   | None
    CAST(100Y AS DECIMAL(3, 1))      | raises         | NUMERIC_VALUE_OUT_OF_RANGE
    CAST(i AS BOOLEAN)               | boolean        | True
    CAST(b AS DECIMAL(3, 1))         | decimal(3,1)   | 0.0
    CAST(' 7 ' AS INT)               | int            | 7
    CAST('7.0' AS INT)               | raises         | CAST_INVALID_INPUT
    CAST(s AS INT)                   | raises         | CAST_INVALID_INPUT
    TRY_CAST(s AS INT)               | int            | None
    CAST('300' AS TINYINT)           | raises         | CAST_INVALID_INPUT
    CAST('1e2' AS DECIMAL(5, 1))     | decimal(5,1)   | 100.0
    CAST(s AS DECIMAL(5, 1))         | raises         | CAST_INVALID_INPUT
    CAST('-Infinity' AS DOUBLE)      | double         | -inf
    CAST('1.5d' AS DOUBLE)           | double         | 1.5
    CAST('0x1p3' AS DOUBLE)          | double         | 8.0
    CAST('1_000' AS DOUBLE)          | raises         | CAST_INVALID_INPUT
    CAST('yes' AS BOOLEAN)           | boolean        | True
    CAST(s AS BOOLEAN)               | raises         | CAST_INVALID_INPUT
    CAST(1e20 AS STRING)             | string         | 1.0E20
    CAST(12345678e0 AS STRING)       | string         | 1.2345678E7
    CAST(1e0 AS STRING)              | string         | 1.0
    CAST(0.0001e0 AS STRING)         | string         | 1.0E-4
    CAST(nan AS STRING)              | string         | NaN
    CAST(5e-324 AS STRING)           | string         | 4.9E-324
    CAST(1e-45F AS STRING)           | string         | 1.4E-45
    CAST(f AS STRING)                | string         | 0.1
    CAST(CAST(f AS DOUBLE) AS STRING) | string        | 0.10000000149011612
    CAST(.05 AS STRING)              | string         | 0.05
    CAST(p AS STRING)                | string         | 12.50
    CAST(X'616263' AS STRING)        | string         | abc
    CAST(X'FF' AS STRING)            | raises         | INVALID_UTF8_STRING
    CAST(s AS BINARY)                | binary         | b'abc'
    bigint(3.7)                      | bigint         | 3
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)


@pytest.mark.parametrize("text", ["1000Y", "1e400D", "1e39F", "0." + "1" * 39])
def test_numbers_that_their_type_does_not_hold(text: str) -> None:
    assert spoken(text)[0] == "refused"
