"""Conditions as Spark's ANSI mode answers them: what is not chosen does not fail."""

import pytest

from tests.functions.matrix import Case
from tests.functions.ours import answer
from tests.functions.spoken import spoken, table

ANSWERS = table("""
    b AND 1 / (i - 7) > 1                         | boolean        | False
    b AND 1 / 0 > 1                               | raises         | DIVIDE_BY_ZERO
    FALSE AND 1 / 0 > 1 AND b                     | boolean        | False
    NOT b OR 1 / (i - 7) > 1                      | boolean        | True
    1 / 0 > 1 AND b                               | raises         | DIVIDE_BY_ZERO
    i > 0 AND b AND 1 / (i - 7) > 1               | boolean        | False
    n > 0 AND b                                   | boolean        | False
    n > 0 OR b                                    | boolean        | None
    n > 0 AND i / 0 > 1                           | raises         | DIVIDE_BY_ZERO
    NOT n > 0                                     | boolean        | None
    coalesce(i, 1 / 0)                            | double         | 7.0
    ifnull(n, 1.5)                                | decimal(11,1)  | 1.5
    nvl2(n, 1 / 0, 2)                             | double         | 2.0
    nullif(i, 7L)                                 | int            | None
    nullif(i, 8)                                  | int            | 7
    nullifzero(0)                                 | int            | None
    zeroifnull(n)                                 | int            | 0
    if(b, 1 / 0, 2)                               | double         | 2.0
    CASE WHEN b THEN 1 / 0 ELSE 2 END             | double         | 2.0
    CASE i WHEN 7 THEN 'x' WHEN 1 / 0 THEN 'y' END | string        | x
    decode(i, 6, 'six', 7, 'seven')               | string         | seven
    decode(n, NULL, 'none', 'some')               | string         | none
    decode(i, 1, 2.5)                             | decimal(2,1)   | None
    assert_true(NOT b)                            | void           | None
    assert_true(b)                                | raises         | USER_RAISED_EXCEPTION
    assert_true(n > 0, 'no')                      | raises         | USER_RAISED_EXCEPTION
    raise_error('no')                             | raises         | USER_RAISED_EXCEPTION
    if(b, raise_error('no'), 1)                   | int            | 1
    typeof(a)                                     | string         | array<int>
    typeof(NULL)                                  | string         | void
""")


@pytest.mark.parametrize(("expression", "type_", "value"), ANSWERS)
def test_answers(expression: str, type_: str, value: str) -> None:
    assert spoken(expression) == (type_, value)


def test_a_constant_that_is_never_computed_may_be_wrong() -> None:
    found = answer(Case("conditions", "nullif(CAST(NULL AS INT), l) + CAST('x' AS INT)"))
    assert (found.type, set(found.rows), found.refused) == ("int", {None}, "")
    assert answer(Case("conditions", "l + CAST('x' AS INT)")).refused == "'x' is not an INT"


def test_a_number_is_no_condition() -> None:
    assert spoken("CASE WHEN i THEN 1 END") == ("refused", "INT is no condition")
