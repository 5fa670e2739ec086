"""The recorded answers are complete and Spark's, and the classes tell answers apart."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.functions.canonical import Json, canonical
from tests.functions.classes import verdict
from tests.functions.matrix import MOST, Case, cases, subjects
from tests.functions.oracle import Answer, Oracle
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
        (Answer("string", ("2.5000000000000001E9",)), Ours("string", ("2.5E9",)), "near"),
        (Answer("int", (1,)), Ours(crashed="AssertionError"), "crash"),
        (Answer("array<double>", (["0.1"],)), Ours("array<double>", (["0.5"],)), "silent"),
    ],
)
def test_classes(theirs: Answer, ours: Ours, kind: str) -> None:
    assert verdict(theirs, ours).kind == kind


@pytest.mark.spark
@pytest.mark.long
def test_what_is_recorded_is_what_spark_says(recording: Any) -> None:
    oracle = Oracle(recording)
    for subject in subjects():
        answers = recorded(subject)
        for case in cases(subject)[::SAMPLE]:
            assert oracle.answer(case) == answers[case.text], case.text


ELSEWHERE = re.compile(
    r"(tuple|st|approx|time)_\w+"  # other sketches, shapes, TIME
    r"|(make|to|try_to|current|local)_?time|time|\w*(variant|avro|protobuf|xml)\w*"
    r"|(curdate|now|local|current_|rand|uniform|uuid|shuffle|user|session_|version|input_file)\w*"
    r"|monotonically_increasing_id|spark_partition_id|(try_)?reflect|java_method|python_worker_logs"
    r"|between|case|when|range|collations|sql_keywords|window|grouping\w*|and|or|not|in"
)
"""Functions of types that no column has, of chance, of the session, of plans, and syntax."""
OF_MANY_ROWS = re.compile(
    r"any|any_value|array_agg|avg|bit_(and|or|xor)|bool_\w+|collect_\w+|corr|count\w*|covar_\w+"
    r"|(bitmap|hll|theta|kll)_\w+_agg(_\w+)?"
    r"|(first|last|nth)(_value)?|cume_dist|(dense_|percent_)?rank"
    r"|row_number|ntile|lag|lead|every|some|explode\w*|posexplode\w*|inline\w*|stack|json_tuple"
    r"|histogram_numeric|kurtosis|skewness|listagg|string_agg|(max|min)(_by)?|mean|median|mode"
    r"|measure|percentile\w*|std\w*|(try_)?(sum|avg)|var_\w+|variance|regr_\w+|vector_(avg|sum)"
)


@pytest.mark.spark
@pytest.mark.long
def test_every_scalar_function_is_in_a_case(spark: Any) -> None:
    text = "\n".join(case.text for subject in subjects() for case in cases(subject)).lower()
    called = set(re.findall(r"\w+(?=\()", text))
    names = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()} - called
    others = {name for name in names if not name.isidentifier() or ELSEWHERE.fullmatch(name)}
    assert {name for name in names - others if not OF_MANY_ROWS.fullmatch(name)} == set()


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
def test_rows_by_themselves_are_as_in_a_query(recording: Any, case: Case) -> None:
    recording.createDataFrame(case.rows).createOrReplaceTempView("rows")
    found = recording.sql(f"SELECT {case.text} AS x FROM rows ORDER BY nth").toArrow()["x"]
    queried: tuple[Json, ...] = tuple(canonical(value) for value in found)
    assert queried == Oracle(recording).answer(case).rows
