"""Arithmetic as Spark's ANSI mode answers it."""

import random
from decimal import Decimal

import pyarrow as pa
import pytest

from sqlwin.functions.numbers.decimal_digits import quotient_type
from sqlwin.functions.numbers.decimal_quotients import possible, quotients
from sqlwin.functions.numbers.decimals import EXACT, _quotient, fitted
from tests.functions.spoken import spoken, table

ANSWERS = table("""
    i + 1                            | int            | 8
    i + 1L                           | bigint         | 8
    t - 1Y                           | raises         | BINARY_ARITHMETIC_OVERFLOW
    t * 2                            | int            | -256
    -t                               | raises         | ARITHMETIC_OVERFLOW
    abs(t)                           | raises         | ARITHMETIC_OVERFLOW
    -l                               | raises         | ARITHMETIC_OVERFLOW
    i / 2                            | double         | 3.5
    i / 0                            | raises         | DIVIDE_BY_ZERO
    n / 0                            | double         | None
    d / 0                            | raises         | DIVIDE_BY_ZERO
    i % 0                            | raises         | REMAINDER_BY_ZERO
    d % 0                            | raises         | REMAINDER_BY_ZERO
    i DIV 0                          | raises         | DIVIDE_BY_ZERO
    -7 DIV 2                         | bigint         | -3
    l DIV -1                         | raises         | ARITHMETIC_OVERFLOW
    l % -1                           | bigint         | 0
    -7 % 3                           | int            | -1
    pmod(-7, 3)                      | int            | 2
    pmod(-7.5e0, 3)                  | double         | 1.5
    i + '1'                          | bigint         | 8
    i + '1.5'                        | raises         | CAST_INVALID_INPUT
    p + '1.5'                        | double         | 14.0
    n + i * 2147483647               | int            | None
    p + 1                            | decimal(11,2)  | 13.50
    1.5 + coalesce(-5, i)            | decimal(12,1)  | -3.5
    1.5 + nvl(5, i)                  | decimal(12,1)  | 6.5
    p * 2                            | decimal(12,2)  | 25.00
    p * i                            | decimal(21,2)  | 87.50
    p / 3                            | decimal(14,6)  | 4.166667
    p / i                            | decimal(21,13) | 1.7857142857143
    p / 0                            | raises         | DIVIDE_BY_ZERO
    p DIV 5                          | bigint         | 2
    p % 5                            | decimal(3,2)   | 2.50
    1.5 - 0.25                       | decimal(4,2)   | 1.25
    p38 + 1                          | raises         | NUMERIC_VALUE_OUT_OF_RANGE
    p38 * p38                        | raises         | NUMERIC_VALUE_OUT_OF_RANGE
    f + 1                            | double         | 1.1000000014901161
    f + 1.5                          | double         | 1.6000000014901161
    try_add(2147483647, 1)           | int            | None
    try_add(i, 1)                    | int            | 8
    try_subtract(t, 1Y)              | tinyint        | None
    try_multiply(l, 2)               | bigint         | None
    try_divide(i, 0)                 | double         | None
    try_divide(p, 0)                 | decimal(14,6)  | None
    try_mod(i, 0)                    | int            | None
    try_add(i, 's')                  | bigint         | None
    try_add(i / 0, 1)                | raises         | DIVIDE_BY_ZERO
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)


def test_texts_alone_are_no_numbers() -> None:
    assert spoken("s + s")[0] == "refused"


def _drawn(draw: random.Random, type_: pa.DataType) -> Decimal | None:
    most = 10**type_.precision - 1
    digits = draw.choice([draw.randint(-most, most), draw.randint(-9, 9) % (most + 1), 0, most])
    return None if draw.random() < 0.1 else Decimal(digits).scaleb(-type_.scale, EXACT)


@pytest.mark.parametrize("seed", range(40))
def test_many_quotients_are_those_of_one_at_a_time(seed: int) -> None:
    draw = random.Random(seed)
    one, other = pa.decimal128(38, 38), pa.decimal128(38, 38)
    while not possible(one, other, quotient_type(one, other)):
        digits = [draw.randint(1, 38), draw.randint(1, 38)]
        one, other = (pa.decimal128(p, draw.randint(0, p)) for p in digits)
    type_ = quotient_type(one, other)
    pairs = [(_drawn(draw, one), _drawn(draw, other)) for _ in range(20)]
    made = quotients(
        pa.array([x for x, _ in pairs], one), pa.array([y for _, y in pairs], other), type_
    )
    made.validate(full=True)
    wanted = [fitted(_quotient(x, y), type_) if x is not None and y else None for x, y in pairs]
    assert made.to_pylist() == wanted
