"""Aggregates have Spark's types, values, NULLs and errors; see compare.py and record.py.

What differs is in `differences.txt`, a line each: its class, the type, the call; and is just that.
docs/aggregates.md says why it does. Written anew, to be read in the diff:

    .venv/bin/python -m tests.aggregates.test_as_in_spark
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sqlwin
from sqlwin.aggregates import ALIASES, REFUSED, SIGNATURES
from sqlwin.errors import QueryError
from sqlwin.sql import script
from tests.aggregates.calls import CALLS, calls_of
from tests.aggregates.compare import compared, report
from tests.aggregates.live import differences
from tests.aggregates.ours import FORMS, SESSION, WHOLE, Batch
from tests.aggregates.over import differences as over
from tests.aggregates.record import recorded
from tests.aggregates.spoken import AGGREGATES, BY_GRAMMAR
from tests.aggregates.tables import KINDS, tables
from tests.aggregates.windows import drawn as window_case
from tests.aggregates.windows import live as windows_live
from tests.aggregates.windows import recorded as windows_recorded
from tests.aggregates.windows import report as windows_report
from tests.functions.canonical import Json
from tests.functions.ours import Ours

KNOWN = Path(__file__).with_name("differences.txt")
QUICK = ("double", "decimal(10,0)")
RECORDED = tuple(dict.fromkeys(name for name, _ in recorded()))
LIKE_OTHERS = ("tinyint", "smallint", "decimal(5,2)", "decimal(28,10)", "decimal(38,37)")
"""Types whose aggregates are those of wider or narrower ones."""
OF_EACH = [
    name
    if name in QUICK
    else pytest.param(name, marks=pytest.mark.hours if name in LIKE_OTHERS else pytest.mark.long)
    for name in RECORDED
]
SOME = (
    "double",
    *(
        pytest.param(name, marks=pytest.mark.hours)
        for name in ("decimal(10,0)", "bigint", "string", "timestamp")
    ),
)
"""Types; of a call over each of them every form of a window is asked."""
OURS = ("histogram", "map_agg", "product", "nth_value", "nth_last", "top_k")
"""Aggregates that Spark has not, or over windows alone."""


def found(name: str) -> Iterator[tuple[str, str]]:
    """Lines of `differences.txt`, each with what is said of it."""
    for call, theirs, ours, verdict in compared(name):
        if verdict.kind not in ("same", "near"):
            reported = "\n".join(report(call, theirs, ours, verdict))
            yield f"{verdict.kind}\t{name}\t{call}", reported


@pytest.mark.parametrize("name", OF_EACH)
def test_values_and_types(name: str) -> None:
    reported = dict(found(name))
    known = [line for line in KNOWN.read_text("utf-8").splitlines() if f"\t{name}\t" in line]
    assert not [reported[line] for line in reported if line not in known]
    assert not [line for line in known if line not in reported], "mended: take it out"


@pytest.mark.long
@pytest.mark.parametrize("name", SOME)
def test_every_form_of_a_window_gives_the_same(name: str) -> None:
    rows = tables()[name]
    calls = calls_of(name)[:: 10 if name == "string" else 1]  # most fail, row by row
    one, *others = [without_places(Batch(rows, FORMS[form]).answers(calls)) for form in FORMS]
    assert [other for other in others if other != one] == []


def without_places(answers: Iterable[tuple[str, Ours]]) -> dict[str, Ours]:
    """A message that a sum leaves its range names the window, which is another in each form."""
    return {
        call: replace(ours, rows=tuple(_without_place(row) for row in ours.rows))
        for call, ours in answers
    }


def _without_place(row: Json) -> Json:
    if not isinstance(row, dict) or "!" not in row:
        return row
    return {**row, "!": re.sub(r"in window \[.*?\)", "in window", str(row["!"]))}


def test_the_greatest_decimal_rounds_up_to_no_double_it_does_not_hold() -> None:
    """1e38, the DOUBLE that is nearest to 38 nines, is no DECIMAL(38, 0)."""
    rows = tables()["decimal(38,0)"]
    ((_, ours),) = Batch(rows).answers(("percentile_approx(x, 0.5)",))
    assert not ours.crashed
    assert max(abs(Decimal(row)) for row in ours.rows if row is not None) < 10**38


@pytest.mark.parametrize("form", [WHOLE, SESSION])
def test_forms_of_a_window_give_the_same(form: str) -> None:
    rows, calls = tables()["decimal(10,0)"], ("sum(x)", "avg(x)", "median(x)", "max(x)")
    assert dict(Batch(rows, form).answers(calls)) == dict(Batch(rows).answers(calls))


def test_every_call_is_recorded_over_every_type() -> None:
    assert set(QUICK) <= set(RECORDED) <= set(KINDS)
    assert list(recorded()) == [(name, call) for name in RECORDED for call in calls_of(name)]


def test_every_aggregate_of_spark_is_taken_or_refused() -> None:
    taken = {known.name for known in SIGNATURES} | set(ALIASES) | set(BY_GRAMMAR)
    assert (AGGREGATES & taken) | set(REFUSED) == AGGREGATES
    assert not taken & set(REFUSED)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refused_one_says_why_and_what_comes_near(name: str) -> None:
    text = f"SELECT {name}(x) FROM input GROUP BY g"
    with pytest.raises(QueryError) as raised:
        script(text, {"input": sqlwin.stream(tables()["int"].schema, ts="ts")})
    assert raised.value.message == f"{name.upper()} is no aggregate here: {REFUSED[name].why}"
    assert raised.value.legal == REFUSED[name].nearest


ORDERS = {
    "try_sum(x)": ("(9223372036854775807), (1), (-1)", "(1), (-1), (9223372036854775807)"),
    "avg(x)": (
        "(9007199254740993), (1), (-9007199254740993)",
        "(9007199254740993), (-9007199254740993), (1)",
    ),
    "covar_pop(y, x)": (
        "(1.7e308D, 1D), (-1.7e308D, 2D), (0D, 1.5D)",
        "(0D, 1.5D), (1.7e308D, 1D), (-1.7e308D, 2D)",
    ),
}


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("call", ORDERS)
def test_spark_has_another_answer_in_another_order(call: str, recording: SparkSession) -> None:
    """What docs/aggregates.md lists as that, and no answer of ours could be the same as."""
    columns = "x, y" if "(y" in call else "x"
    one, other = (
        f"(SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS t({columns}))"
        for rows in ORDERS[call]  # in one task, so that they come as they stand
    )
    answers = [recording.sql(f"SELECT {call} AS v FROM {rows}").collect() for rows in (one, other)]
    assert repr(answers[0][0]["v"]) != repr(answers[1][0]["v"])


@pytest.mark.hours
@pytest.mark.spark
@pytest.mark.parametrize("name", ["decimal(10,0)"])
def test_random_tables_live(name: str, recording: SparkSession) -> None:
    """Of a type whose differences are known; the others by `tests.aggregates.live`."""
    known = {line.split("\t")[2] for line in KNOWN.read_text("utf-8").splitlines()}
    reported = list(differences(recording, name, seed=2, groups=8, form="tumble"))
    assert [one for one in reported if one.split(None, 1)[1].splitlines()[0] not in known] == []


def test_random_windows_and_joins_have_the_recorded_answers() -> None:
    reports = [windows_report(seed, spark) for seed, spark in windows_recorded().items()]
    assert [one for one in reports if one] == []


def test_recorded_windows_are_of_every_kind_and_most_have_answers() -> None:
    kept = windows_recorded()
    texts = [window_case(seed).ours for seed in kept]
    for word in ("TUMBLE(", "HOP(", "GROUP BY g", " JOIN ", "make_dt_interval(", "HAVING", "WHERE"):
        assert sum(word in text for text in texts) > 3, word
    assert sum(not found.failed and len(found.rows) > 1 for found in kept.values()) > 40


@pytest.mark.spark
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(500, 512), marks=pytest.mark.long),
        pytest.param(range(512, 540), marks=pytest.mark.hours),
    ],
    ids=str,
)
def test_random_windows_and_joins_live(seeds: range, recording: SparkSession) -> None:
    """Others by `tests.aggregates.windows`."""
    assert list(windows_live(recording, seeds)) == []


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "frame", "groups"),
    [
        pytest.param("int", "rows", 4, marks=pytest.mark.hours),
        pytest.param("int", "range", 4, marks=pytest.mark.hours),
        pytest.param("double", "around", 2, marks=pytest.mark.long),
        pytest.param("decimal(38,18)", "all", 2, marks=pytest.mark.hours),
    ],
)
def test_over_frames_live(name: str, frame: str, groups: int, recording: SparkSession) -> None:
    """The other types and frames by `tests.aggregates.over`."""
    assert list(over(recording, name, frame, seed=2, groups=groups)) == []


def test_every_aggregate_is_in_a_call() -> None:
    called = {call.partition("(")[0] for call in CALLS}
    spelled = {
        known.name: {known.name, *(name for name, of in ALIASES.items() if of == known.name)}
        for known in SIGNATURES
    }
    # against Spark's in tests/kernels/sketches
    of_bytes = {name for name in spelled if re.match("hll_|theta_|kll_|bitmap_", name)}
    assert {name for name, names in spelled.items() if not names & called} == set(OURS) | of_bytes


if __name__ == "__main__":
    lines = [line for name in RECORDED for line, _ in found(name)]
    KNOWN.write_text("\n".join(lines) + "\n", "utf-8")
