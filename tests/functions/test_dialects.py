"""Each name that the table has of ksqlDB or Flink is shown by goldens of its own, on all hosts."""

from __future__ import annotations

import re

import pytest

from sqlwin.functions.dialects import FUNCTIONS
from sqlwin.functions.table import TABLE
from sqlwin.functions.times import processing
from sqlwin.functions.times.foreign import FOREIGN
from tests.golden.files import goldens

THEME = "dialects/"
GOLDENS = {g.name.removeprefix(THEME): g for g in goldens() if g.name.startswith(THEME)}
NAMES = sorted(name for function in (*FUNCTIONS, *FOREIGN) for name in function.names)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_of_its_name_calls_it(name: str) -> None:
    assert re.search(rf"\b{name}\(", GOLDENS[name].query, re.I)
    assert {row[0] for row in _rows(name)} > {"NULL"}, "a NULL beside other values"


@pytest.mark.parametrize("golden", GOLDENS)
def test_no_golden_is_of_anything_else(golden: str) -> None:
    assert [name for name in NAMES if golden == name or golden.startswith(f"{name}_of_")]


def test_hints_for_another_dialect_are_in_its_module() -> None:
    clock = {name for function in processing.FUNCTIONS for name in function.names}
    foreign = {name for name, f in TABLE.items() if re.search("ksqlDB|Flink", f.doc)}
    assert sorted(foreign - clock) == NAMES


def _rows(name: str) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for step in GOLDENS[name].steps() for row in step.rows.rows]
