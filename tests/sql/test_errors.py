"""Errors as people see them."""

import pytest

from sqlwin.errors import QueryError, RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.sql import script
from sqlwin.sql.syntax.parsing.mistakes import Lesson, lessons
from sqlwin.sql.syntax.parsing.parser import grammar_folder, statements
from tests.support.sql.cases import ORDERS

LESSONS = [(lesson, example) for lesson in lessons(grammar_folder()) for example in lesson.examples]


def shown(text: str, **params: str) -> str:
    with pytest.raises(QueryError) as raised:
        script(text, params=params)
    return str(raised.value)


def test_hop_with_one_duration() -> None:
    text = "SELECT COUNT(*)\nFROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
    assert shown(text) == (
        "HOP needs two durations: slide, then size\n"
        "  at line 2, column 6\n"
        "  | FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)\n"
        "  |      ^^^\n"
        "  legal: HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)"
    )


def test_an_unknown_column_inside_an_over_clause_of_many_lines() -> None:
    text = ORDERS + (
        "SELECT id,\n"
        "       ROUND(AVG(value) OVER (\n"
        "         PARTITION BY prodct  -- a slip\n"
        "         ORDER BY ts ROWS 3 PRECEDING), 2)\n"
        "FROM orders"
    )
    assert shown(text) == (
        "unknown column prodct; did you mean product?\n"
        "  at line 8, column 23\n"
        "  |          PARTITION BY prodct  -- a slip\n"
        "  |                       ^^^^^^\n"
        "  legal: id, product, value, n, price, ts_ms, ts, at"
    )


def test_an_unknown_column_after_an_over_clause() -> None:
    text = ORDERS + (
        "SELECT SUM(value) OVER (PARTITION BY product\n"
        "                        ORDER BY ts ROWS 3 PRECEDING) + valu AS s FROM orders"
    )
    assert shown(text) == (
        "unknown column valu; did you mean value?\n"
        "  at line 7, column 57\n"
        "  |                         ORDER BY ts ROWS 3 PRECEDING) + valu AS s FROM orders\n"
        "  |                                                         ^^^^\n"
        "  legal: id, product, value, n, price, ts_ms, ts, at"
    )


def test_a_function_that_does_not_exist() -> None:
    assert shown(ORDERS + "SELECT id, 1 + flor(value) FROM orders") == (
        "no function is called flor; did you mean floor?\n"
        "  at line 6, column 16\n"
        "  | SELECT id, 1 + flor(value) FROM orders\n"
        "  |                ^^^^"
    )


def test_an_expression_cut_off() -> None:
    text = ORDERS + "SELECT id FROM orders WHERE value > (1 +)"
    assert shown(text).splitlines()[:2] == [
        "+ needs something on its right",
        "  at line 6, column 41",
    ]


def test_places_hold_where_parameters_are_replaced() -> None:
    text = ORDERS + "SELECT id + :much, valu FROM orders WHERE product = :product"
    assert shown(text, much="1234567890", product="tea") == (
        "unknown column valu; did you mean value?\n"
        "  at line 6, column 20\n"
        "  | SELECT id + :much, valu FROM orders WHERE product = :product\n"
        "  |                    ^^^^\n"
        "  legal: id, product, value, n, price, ts_ms, ts, at"
    )


def test_the_end_of_the_text() -> None:
    assert shown("SELECT value FROM\n  ") == (
        "FROM needs the name of a stream or view, or a window function\n"
        "  at line 1, column 18\n"
        "  | SELECT value FROM\n"
        "  |                  ^\n"
        "  legal: FROM orders, FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)"
    )


def test_what_no_example_covers_lists_what_may_stand_there() -> None:
    assert shown("EXPLAIN 3") == (
        "cannot read 3 here\n"
        "  at line 1, column 9\n"
        "  | EXPLAIN 3\n"
        "  |         ^\n"
        "  legal: ANALYZE, FROM, INSERT, (, SELECT, TABLE, VALUES, WITH, PLAN FOR"
    )


def test_there_are_lessons() -> None:
    assert len({lesson.message for lesson, _ in LESSONS}) >= 15


@pytest.mark.parametrize(("lesson", "example"), LESSONS)
def test_each_mistake_is_taught(lesson: Lesson, example: str) -> None:
    with pytest.raises(QueryError) as raised:
        statements(example)
    assert (raised.value.message, raised.value.legal) == (lesson.message, lesson.legal)


@pytest.mark.parametrize(("lesson", "example"), LESSONS)
def test_each_mistake_is_known_again_after_other_statements(lesson: Lesson, example: str) -> None:
    with pytest.raises(QueryError) as raised:
        statements(f"{ORDERS} SELECT a FROM b; {example}")
    assert raised.value.message == lesson.message


def test_a_stream_given_from_python_needs_an_event_time_that_is_one() -> None:
    from sqlwin.schema import Column, type_named

    stream = Stream("s", (Column("a", type_named("INT")),), None)
    with pytest.raises(QueryError, match="event time must be TIMESTAMP, a is INT"):
        script("SELECT COUNT(*) FROM TUMBLE(s, a, 1 HOUR)", streams={"s": stream})


def test_what_might_stand_there_is_named_in_words_of_sql() -> None:
    reported = shown("SELECT a FROM s 7")
    assert "cannot read 7 here" in reported
    assert "WINDOW TUMBLING" in reported
    for inner in ("KSQL", "SET OPERATION"):
        assert inner not in reported
    assert "MATCH_CONDITION" in shown("SELECT a FROM s JOIN t 3")


def test_compiled_sqlglot_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlwin.sql.expressions.dialect.dialect.COMPILED", True)
    with pytest.raises(RunError, match="pip uninstall sqlglotc"):
        script(ORDERS + "SELECT id FROM orders")
