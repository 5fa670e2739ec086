"""Comparisons as Spark's ANSI mode answers them."""

import pytest

from tests.functions.spoken import spoken, table

ANSWERS = table("""
    1.5 = '1.51'                                  | boolean | False
    i = '7'                                       | boolean | True
    i = 'x'                                       | raises  | CAST_INVALID_INPUT
    n = i / 0                                     | boolean | None
    f = 0.1                                       | boolean | False
    f = 0.1F                                      | boolean | True
    nan = nan                                     | boolean | True
    nan > 1e300                                   | boolean | True
    -0.0e0 = 0.0e0                                | boolean | True
    n <=> NULL                                    | boolean | True
    n IS DISTINCT FROM 1                          | boolean | True
    i IS NOT DISTINCT FROM 7                      | boolean | True
    equal_null(i, 7)                              | boolean | True
    a < array(1, 2)                               | boolean | True
    a >= array(1)                                 | boolean | True
    named_struct('a', n) < named_struct('a', 1)   | boolean | True
    (i, s) = (7, 'abc')                           | boolean | True
    i IN (1, 7)                                   | boolean | True
    i IN (1, NULL)                                | boolean | None
    i BETWEEN 1 AND 7.5                           | boolean | True
    greatest(1, NULL, 2.5)                        | decimal(11,1) | 2.5
    greatest(-0.0e0, -2e0)                        | double  | -0.0
    greatest(nan, 1e0)                            | double  | nan
    least(nan, 1e0)                               | double  | 1.0
    isnan(n)                                      | boolean | False
    isnull(n)                                     | boolean | True
    isnotnull(n)                                  | boolean | False
    nanvl(nan, 1)                                 | double  | 1.0
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)


@pytest.mark.parametrize("expression", ["greatest(s, i)", "map(1, 2) = map(1, 2)", "a = i"])
def test_refused(expression: str) -> None:
    assert spoken(expression)[0] == "refused"
