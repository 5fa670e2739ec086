"""Bitwise operators and functions as Spark's."""

import pytest

from tests.functions.spoken import spoken, table

ANSWERS = table("""
    5 & 3 >> 1                       | int      | 1
    6 | 1 & 0 ^ 2                    | int      | 6
    1 + 1 << 2                       | int      | 8
    8 >> 1 + 1                       | int      | 2
    ~5Y                              | tinyint  | -6
    i & 3L                           | bigint   | 3
    5Y ^ -3Y                         | tinyint  | -8
    1 << 33                          | int      | 2
    -5 << 1                          | int      | -10
    -5 >> 1                          | int      | -3
    -5 >>> 1                         | int      | 2147483645
    1L << 63                         | bigint   | -9223372036854775808
    shiftrightunsigned(-1L, 60)      | bigint   | 15
    bit_count(-1Y)                   | int      | 64
    bit_count(true)                  | int      | 1
    bit_get(11, 1)                   | tinyint  | 1
    getbit(11, 2)                    | tinyint  | 0
    bit_get(11, 32)                  | raises   | INVALID_PARAMETER_VALUE
    bitmap_bit_position(1)           | bigint   | 0
    bitmap_bit_position(-1)          | bigint   | 1
    bitmap_bucket_number(32769)      | bigint   | 2
    bitmap_count(X'FF01')            | bigint   | 9
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)
