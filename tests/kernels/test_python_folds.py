"""Aggregates written in Python: the law, NULLs, types, and errors that name what failed."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.aggregates.python import PythonAggregate, aggregate
from sqlwin.errors import FunctionError, InputError
from sqlwin.kernels.folds import Fold, fold
from sqlwin.kernels.frames import Frames
from tests.support.draws import one_in
from tests.support.kernels.brute import VALUES, Row, frame_of, tables

pytestmark = pytest.mark.drawn


def spans() -> PythonAggregate:
    """The least and the greatest as text, and how many rows, NULLs among them."""

    def take(state: dict[str, Any], x: int | None, s: str | None) -> dict[str, Any]:
        state["n"] += 1  # changing the state in place is allowed
        if x is not None:
            state["seen"].append(x)
        return state

    def put(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        one["n"] += other["n"]
        one["seen"] += other["seen"]
        return one

    return aggregate(
        "spans", ["TINYINT", "STRING"], result="STRING",
        accumulator="STRUCT<n: BIGINT, seen: ARRAY<TINYINT>>",
        initializer=lambda: {"n": 0, "seen": []}, aggregator=take, merger=put,
        finisher=lambda s: f"{s['n']} {min(s['seen'], default='')} {max(s['seen'], default='')}",
    )  # fmt: skip


def spanned(rows: list[Row]) -> str:
    seen = [row["i8"] for row in rows if row["i8"] is not None]
    return f"{len(rows)} {min(seen, default='')} {max(seen, default='')}"


def length(text: str) -> tuple[int, str]:
    return len(text), text


LONGEST = aggregate("longest", [pa.string()], reducer=lambda a, b: max(a, b, key=length))


def longest(rows: list[Row]) -> str | None:
    seen = [row["s"] for row in rows if row["s"] is not None]
    return max(seen, key=length, default=None)


CASES = {"spans": (spans(), ("i8", "s"), spanned), "longest": (LONGEST, ("s",), longest)}


def bound(function: PythonAggregate, args: tuple[str, ...], where: str | None) -> Fold:
    return fold("out", function, args, function.types, function.result, where)


@pytest.mark.parametrize("name", CASES)
def test_parts_and_frames_give_the_answer(name: str) -> None:
    function, args, expected = CASES[name]

    @one_in(2)
    @given(
        tables(args), st.sampled_from([None, "w"]), st.lists(st.tuples(*[st.integers(0, 24)] * 2))
    )
    def check(rows: list[Row], where: str | None, bounds: list[tuple[int, int]]) -> None:
        python, table = bound(function, args, where), frame_of(rows, args)

        def answers(groups: list[list[Row]]) -> list[Any]:
            return [expected([r for r in g if where is None or r[where]]) for g in groups]

        whole = table.group_by("key", maintain_order=True).agg(python.lift())
        parts = table.group_by("key", "cut").agg(python.lift())
        merged = parts.sort("cut").group_by("key").agg(python.merge()).sort("key")
        assert whole.schema == merged.schema == parts.drop("cut").schema
        groups = [[r for r in rows if r["key"] == key] for key in whole["key"]]
        assert python.finish(whole).to_list() == answers(groups)
        assert python.finish(merged).to_list() == answers(groups)
        pairs = [sorted((min(a, len(rows)), min(b, len(rows)))) for a, b in bounds]
        frames = Frames(*(np.array([p[n] for p in pairs], dtype=np.int64) for n in (0, 1)))
        got = python.slide(table, frames)
        assert got.to_list() == answers([rows[lo:hi] for lo, hi in pairs])
        assert python.over(table, frames).schema == whole.drop("key").schema

    check()


def test_rows_are_taken_in_order_over_frames() -> None:
    joined = aggregate("joined", ["STRING"], reducer=lambda a, b: a + b)
    rows = [{"s": letter, "__ts": n, "__part": 0, "__seq": n} for n, letter in enumerate("abcdefg")]
    frames = Frames(np.array([0, 1, 2, 6, 3]), np.array([7, 6, 2, 7, 6]))
    got = bound(joined, ("s",), None).slide(frame_of(rows, ("s",)), frames)
    assert got.to_list() == ["abcdefg", "bcdef", None, "g", "def"]


def failing(row: dict[str, Any], function: PythonAggregate) -> str:
    table = frame_of([row | {"key": 0, "__ts": 7, "__part": 1, "__seq": 42}], ("i8",))
    python = bound(function, ("i8",), None)
    with pytest.raises(FunctionError) as raised:
        python.finish(table.group_by("key").agg(python.lift()))
    with pytest.raises(FunctionError):
        python.slide(table, Frames(np.array([0]), np.array([1])))
    return str(raised.value)


def made(**parts: Any) -> PythonAggregate:
    whole = {"initializer": lambda: 0, "aggregator": lambda a, x: a + x, "merger": lambda a, b: a}
    return aggregate("mine", ["TINYINT"], **({"result": "BIGINT"} | whole | parts))


def test_an_error_names_the_function_and_the_row() -> None:
    message = failing({"i8": None}, made())
    assert message.startswith(
        "The aggregator of mine failed at the row with __ts 7, __part 1, __seq 42: TypeError: "
    )
    assert "test_python_folds.py:" in message
    assert "This error occurred" not in message
    message = failing({"i8": 0}, made(finisher=lambda state: 1 // state))
    assert message.startswith("The finisher of mine failed: ZeroDivisionError: ")


def test_an_error_names_what_does_not_fit() -> None:
    message = failing({"i8": 1}, made(aggregator=lambda a, x: "much"))
    assert message.startswith("The aggregator of mine gave what is no int64: ")
    message = failing({"i8": 1}, made(finisher=lambda state: "much"))
    assert message.startswith("The finisher of mine gave what is no int64: ")


def test_what_does_not_fit_is_said_of_who_gave_it() -> None:
    table = frame_of(
        [{"i8": 1, "w": n < 2, "key": 0, "__ts": n, "__part": 0, "__seq": n} for n in range(4)],
        ("i8",),
    )
    two_frames = Frames(np.array([0, 2]), np.array([2, 4]))
    for part, wrong in {
        "initializer": lambda: "nothing",
        "aggregator": lambda a, x: "much",
        "merger": lambda a, b: "more",
    }.items():
        python = bound(made(**{"aggregator": lambda a, x: 1} | {part: wrong}), ("i8",), "w")
        says = f"The {part} of mine gave what is no int64: "
        with pytest.raises(FunctionError, match=says):
            table.group_by("__ts").agg(python.lift()).select(python.merge())
        with pytest.raises(FunctionError, match=says):
            python.slide(table, two_frames)


def test_what_no_aggregate_is_made_of() -> None:
    def refused(*args: Any, **parts: Any) -> str:
        with pytest.raises(InputError) as raised:
            aggregate(*args, **parts)
        return str(raised.value)

    keep = {"reducer": lambda a, b: a}
    assert refused("2nd", ["INT"], **keep).startswith("not a name for a function: '2nd'")
    assert refused("Median", ["INT"], **keep).startswith("Median is an aggregate of sqlwin")
    three = {"initializer": int, "aggregator": max, "merger": max}
    assert "at least one" in refused("f", [], result="INT", **three)
    assert "one argument, 2 types" in refused("f", ["INT", "INT"], **keep)
    assert "not a type: 'POINT'" in refused("f", ["POINT"], **keep)
    assert "stands alone" in refused("f", ["INT"], result="INT", **keep)
    assert "f needs a reducer, or an initializer" in refused("f", ["INT"])
    assert "a function as its reducer" in refused("f", ["INT"], reducer=3)
    needs = refused("f", ["INT"], result="INT", accumulator="ARRAY<INT>", **three)
    assert needs == "f needs a finisher, from ARRAY<INT> to INT"


def test_every_type_can_be_a_state() -> None:
    for column, (type_, _) in VALUES.items():
        function = aggregate("keep", [type_], reducer=lambda a, b: a)
        rows = [{column: None, "key": 0, "__ts": 0, "__part": 0, "__seq": 0}]
        python = bound(function, (column,), None)
        lifted = frame_of(rows, (column,)).group_by("key").agg(python.lift())
        assert python.finish(lifted).dtype == pl.Series(pa.array([], type_)).dtype
