"""The goldens' own machinery: what it would not notice, it could not hold."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sqlwin.errors import InputError
from sqlwin.testing.cells import ENDS, Table, cell, of_arrow, read, text_of, write
from sqlwin.testing.checks import differences, rewritten
from sqlwin.testing.difference import difference
from sqlwin.testing.golden import parse, render
from sqlwin.testing.outcome import Outcome, StepResult
from tests.docs import goldens as pages
from tests.golden import rewrite
from tests.golden.trace import BEGAN, COLUMNS, trace, untraced

TEXT = """\
title: a sum
why: it is the least
gap spark: not yet
--- query
SELECT 1
--- feed orders
n
1
--- expect
op | emit | revision | n
+I | full | 0        | 1
--- drain
--- expect
"""
GOLDEN = parse("a_sum", TEXT)
EMITTED = Table(("n", "op", "emit", "revision", "row_key"), (("1", "+I", "full", "0", "[]"),))
SILENT = Table(EMITTED.columns)


def outcome(*emitted: Table, errors: Table = SILENT) -> Outcome:
    return Outcome(steps=[StepResult(table, errors) for table in emitted])


def test_what_is_parsed_is_rendered_alike() -> None:
    assert render(GOLDEN) == TEXT
    assert GOLDEN.gaps == {"spark": "not yet"}
    assert [step.kind for step in GOLDEN.steps()] == ["feed", "drain"]


def test_as_expected_there_is_no_difference() -> None:
    assert differences(GOLDEN, outcome(EMITTED, SILENT)) == []


@pytest.mark.parametrize(
    "found",
    [
        outcome(SILENT, SILENT),  # less
        outcome(EMITTED, EMITTED),  # more, where silence was expected
        outcome(Table(EMITTED.columns, EMITTED.rows * 2), SILENT),  # twice
        outcome(EMITTED),  # a step is missing
        outcome(EMITTED, SILENT, errors=EMITTED),  # an error nobody expected
        Outcome(refused="no"),
        Outcome(steps=[StepResult(failed="no")]),
    ],
)
def test_a_difference_is_noticed(found: Outcome) -> None:
    assert differences(GOLDEN, found)


def test_a_step_with_no_expect_block_is_noticed_and_written() -> None:
    bare = parse("a_sum", TEXT.removesuffix("--- expect\n"))
    found = outcome(EMITTED, SILENT)
    assert differences(bare, found)
    assert render(rewritten(bare, found)) == TEXT


def test_rewriting_keeps_what_people_wrote() -> None:
    other = Table(EMITTED.columns, (("2", "+U", "late", "1", "[]"),))
    text = render(rewritten(GOLDEN, outcome(other, SILENT)))
    assert text == TEXT.replace("+I | full | 0        | 1", "+U | late | 1        | 2")


def test_a_golden_whose_query_is_refused_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.golden.rewrite.goldens", lambda: [GOLDEN])
    assert rewrite.main([]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("a_sum is not written: ") and not said.out


def test_a_golden_of_a_page_that_is_refused_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = "```golden\ntitle: no such stream\nwhy: it is not declared\n--- query\n"
    refused += "SELECT a FROM nothing\n--- feed nothing\na\n1\n--- expect\n```\n"
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{refused}", "utf-8")
    assert pages.main([str(page)]) == 1
    assert "no such stream is not written: " in capsys.readouterr().err
    assert page.read_text("utf-8") == f"# A page\n\n{refused}"


def test_where_only_tables_are_read_nothing_is_said_of_emission() -> None:
    text = TEXT.replace("gap spark: not yet", "only: table")
    bare = parse(
        "a_sum",
        text.replace(
            "--- expect\nop | emit | revision | n\n+I | full | 0        | 1\n", "--- table\nn\n1\n"
        ).removesuffix("--- expect\n"),
    )
    last = Table(("n",), (("1",),))
    for emitted in (EMITTED, SILENT):
        steps = [StepResult(emitted, SILENT, last), StepResult(SILENT, SILENT, last)]
        assert differences(bare, Outcome(steps=steps)) == []
        assert rewritten(bare, Outcome(steps=steps)) == bare
    other = [StepResult(EMITTED, SILENT, table) for table in (SILENT, last)]
    assert differences(bare, Outcome(steps=other))


def test_only_floats_are_compared_loosely() -> None:
    close = Table(("x",), (("0.3",),)), Table(("x",), (("0.30000000000000004",),))
    assert difference(*close)
    assert not difference(close[0], Table(("x",), close[1].rows, frozenset("x")))
    assert difference(close[0], Table(("x",), (("0.3001",),), frozenset("x")))
    assert difference(close[0], Table(("x",), (("NULL",),), frozenset("x")))


def test_cells_that_bare_would_be_misread() -> None:
    strange = Table(("s",), (('"NULL"',), ('""',), ('" a "',), ("NULL",)))
    assert read(write(strange)) == strange
    assert [text_of(row[0]) for row in strange.rows] == ["NULL", "", " a ", None]


def test_what_ends_a_line_elsewhere_is_a_value_here() -> None:
    strange = Table(("s",), tuple((cell(f"a{sign}b"),) for sign in sorted(ENDS)))
    text = "\n".join(["title: lines", "--- drain", "--- expect", *write(strange), ""])
    (step,) = parse("x", text).steps()
    expected = step.check("expect")
    assert expected is not None
    assert read(expected.lines) == strange
    assert [text_of(row[0]) for row in strange.rows] == [f"a{sign}b" for sign in sorted(ENDS)]
    assert parse("x", "title: a\u2028b\n").head == {"title": "a\u2028b"}


def test_structs_and_maps_are_shown() -> None:
    type_ = pa.struct([("name", pa.string()), ("n", pa.list_(pa.float64()))])
    rows = pa.table(
        {
            "s": pa.array([{"name": "a, b", "n": [0.5, None]}, None], type_),
            "m": pa.array([[("x:y", 1)], []], pa.map_(pa.string(), pa.int32())),
        }
    )
    assert of_arrow(rows).rows == (('{name: "a, b", n: [0.5, NULL]}', '{"x:y": 1}'), ("NULL", "{}"))


def test_a_misspelt_block_is_refused() -> None:
    with pytest.raises(InputError, match=r"line 2: no block is called expected"):
        parse("x", "--- drain\n--- expected\n")


def test_another_order_and_another_deadline_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Table(
        (*COLUMNS, "n"), (("+I", "full", "0", "[1]", "5"), ("+I", "full", "0", "[2]", "6"))
    )
    back = Table(there.columns, there.rows[::-1])
    known = Outcome(steps=[StepResult(there, deadlines=(None,)), StepResult()])
    monkeypatch.setattr("tests.golden.trace.recorded", lambda: {GOLDEN.name: trace(known)})
    assert untraced(GOLDEN, known) == []
    (order,) = untraced(GOLDEN, Outcome(steps=[StepResult(back), StepResult()]))
    assert order.startswith(f"{GOLDEN.name}, step 1, after feed orders: order or deadline was 2:")
    assert order.splitlines()[1:] == ["+I full 0 [2]", "+I full 0 [1]"]
    due = StepResult(deadlines=(BEGAN + 5,))
    (deadline,) = untraced(GOLDEN, Outcome(steps=[StepResult(there), due]))
    assert deadline.startswith(
        f"{GOLDEN.name}, step 2, after drain: order or deadline was ., is @5"
    )
    (less,) = untraced(GOLDEN, Outcome(steps=[StepResult(there)]))
    assert "was ., is none" in less


def test_a_golden_without_a_trace_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.trace.recorded", dict)
    (said,) = untraced(GOLDEN, Outcome(steps=[StepResult()]))
    assert "python -m tests.golden.trace" in said
    assert untraced(GOLDEN, Outcome(refused="no")) == []


@pytest.mark.parametrize("wrong", ["12,5", "much", "[1]"])
def test_a_text_where_a_float_should_be_differs(wrong: str) -> None:
    expected, found = (Table(("k", "x"), (("a", cell),)) for cell in (wrong, "12.5"))
    text = difference(expected, Table(found.columns, found.rows, frozenset("x")))
    assert f"! a | {wrong} -> 12.5" in text
