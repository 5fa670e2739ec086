"""The recorded answers are complete and Spark's, and the classes tell answers apart."""

from __future__ import annotations

import pytest

from tests.functions.canonical import Json, canonical
from tests.functions.classes import verdict
from tests.functions.matrix import MOST, Case, cases, subjects
from tests.functions.oracle import Answer, Oracle, configured
from tests.functions.ours import Ours
from tests.functions.record import recorded
from tests.functions.values import VALUES

SAMPLE = 60
"""Of so many cases one is asked anew."""
RAISES = {"!": "ARITHMETIC_OVERFLOW"}


@pytest.mark.parametrize("subject", subjects())
def test_every_case_is_recorded(subject: str) -> None:
    answers = recorded(subject)
    assert sorted(answers) == sorted(case.text for case in cases(subject))
    for case in cases(subject):
        assert answers[case.text].refused or len(answers[case.text].rows) == len(case.picks)


@pytest.mark.parametrize("subject", subjects())
def test_every_value_is_in_a_row(subject: str) -> None:
    for case in cases(subject):
        for at, name in enumerate(case.columns):
            assert {pick[at] for pick in case.picks} == set(range(len(VALUES[name]))), case.text
        assert len(case.picks) <= MOST


@pytest.mark.parametrize(
    ("theirs", "ours", "kind"),
    [
        (Answer("int", (1, None)), Ours("int", (1, None)), "same"),
        (Answer("int", (1, None)), Ours("int", (1, 2)), "silent"),
        (Answer("boolean", (True,)), Ours("boolean", (1,)), "silent"),
        (Answer("int", (1, RAISES)), Ours("int", (1, None)), "unraised"),
        (Answer("int", (1, 2)), Ours("int", (1, RAISES)), "rejected"),
        (Answer("int", (1, RAISES)), Ours("int", (1, {"!": "any reason"})), "same"),
        (Answer("int", (1,)), Ours("bigint", (1,)), "type"),
        (Answer("decimal(3,1)", ("1.0",)), Ours("double", ("1.0",)), "type"),
        (Answer("double", ("0.1",)), Ours("double", ("0.10000000000000002",)), "near"),
        (Answer("double", ("-0.0",)), Ours("double", ("0.0",)), "silent"),
        (Answer("string", ("1.0",)), Ours("string", ("1.00",)), "silent"),
        (Answer("int", (1,)), Ours(refused="no such function"), "refused"),
        (Answer("int", (RAISES,)), Ours(refused="no such function"), "same"),
        (Answer("", refused="UNRESOLVED_ROUTINE"), Ours(refused="no such function"), "same"),
        (Answer("", refused="UNRESOLVED_ROUTINE"), Ours("int", (1,)), "taken"),
        (Answer("int", (RAISES, RAISES)), Ours("int", (None, RAISES)), "same"),
        (Answer("int", (RAISES, RAISES)), Ours("int", (1, RAISES)), "unraised"),
        (Answer("string", ("1" * 20,)), Ours("string", ("1" * 19 + "2",)), "silent"),
        (Answer("float", ("0.1",)), Ours("float", ("0.10000001",)), "near"),
        (Answer("double", ("inf",)), Ours("double", ("1.0",)), "silent"),
        (Answer("int", (1,)), Ours(crashed="AssertionError"), "crash"),
        (Answer("array<double>", (["0.1"],)), Ours("array<double>", (["0.5"],)), "silent"),
    ],
)
def test_classes(theirs: Answer, ours: Ours, kind: str) -> None:
    assert verdict(theirs, ours).kind == kind


@pytest.mark.spark
@pytest.mark.long
def test_what_is_recorded_is_what_spark_says(spark: object) -> None:
    oracle = Oracle(configured(spark))  # type: ignore[arg-type]
    for subject in subjects():
        answers = recorded(subject)
        for case in cases(subject)[::SAMPLE]:
            assert oracle.answer(case) == answers[case.text], case.text


QUERIED = [
    Case("operators", "dec * dec2"),
    Case("strings", "substring(s, i2)"),
    Case("dates", "date_trunc('WEEK', ts)"),
    Case("collections", "transform(ai, x -> x * 2.5)"),
    Case("collections", "map_concat(m, map('z', 1))"),
    Case("conditionals", "nullif(d, d2)"),
]


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("case", QUERIED, ids=lambda case: case.text)
def test_rows_by_themselves_are_as_in_a_query(spark: object, case: Case) -> None:
    beside = configured(spark)  # type: ignore[arg-type]
    beside.createDataFrame(case.rows).createOrReplaceTempView("rows")
    found = beside.sql(f"SELECT {case.text} AS x FROM rows ORDER BY nth").toArrow()["x"]
    queried: tuple[Json, ...] = tuple(canonical(value) for value in found)
    assert queried == Oracle(beside).answer(case).rows
