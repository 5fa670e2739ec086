"""Functions of numbers as Spark answers them."""

import pytest

from tests.functions.spoken import spoken, table

ANSWERS = table("""
    round(1.005e0, 2)                | double         | 1.01
    round(1.005, 2)                  | decimal(4,2)   | 1.01
    round(2.5e0)                     | double         | 3.0
    round(-0.4e0)                    | double         | 0.0
    round(1.5e300, 1)                | double         | 1.5e+300
    round(125, -1)                   | int            | 130
    round(127Y, -1)                  | raises         | ARITHMETIC_OVERFLOW
    round(p, 1)                      | decimal(10,1)  | 12.5
    round(p, -1)                     | decimal(9,0)   | 10
    bround(2.5e0)                    | double         | 2.0
    bround(2.5)                      | decimal(2,0)   | 2
    ceil(p)                          | decimal(9,0)   | 13
    ceil(-2.5e0)                     | bigint         | -2
    ceil(nan)                        | bigint         | 0
    floor(1e20)                      | raises         | ARITHMETIC_OVERFLOW
    floor(12.345, 1)                 | decimal(4,1)   | 12.3
    ceil(d, 0)                       | decimal(16,0)  | 3
    ln(0)                            | double         | None
    log(2, 8)                        | double         | 3.0
    log1p(-1)                        | double         | None
    sqrt(-1)                         | double         | nan
    pow(1, nan)                      | double         | nan
    pow(2, 10)                       | double         | 1024.0
    cbrt(27)                         | double         | 3.0
    hypot(3, 4)                      | double         | 5.0
    signum(-2.5)                     | double         | -1.0
    factorial(20)                    | bigint         | 2432902008176640000
    factorial(21)                    | bigint         | None
    factorial(l)                     | raises         | CAST_OVERFLOW
    bin(5)                           | string         | 101
    conv('100', 2, 10)               | string         | 4
    conv(-10, 16, -10)               | string         | -16
    conv('-1', 10, 16)               | string         | FFFFFFFFFFFFFFFF
    conv('x', 10, 99)                | string         | None
    width_bucket(5.3, 0.2, 10.6, 5)  | bigint         | 3
    width_bucket(-2.1, 1.3, 3.4, 3)  | bigint         | 0
    atan2(-0.0e0, -0.0e0)            | double         | 0.0
    rint(2.5)                        | double         | 2.0
    e()                              | double         | 2.718281828459045
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)
