"""docs/reference is what the grammar and the tables say."""

from __future__ import annotations

import doctest
import re

import pytest

import tools.reference
from sqlwin.plan.options.connectors import SINKS, STREAMS
from sqlwin.sql.syntax.parsing.parser import grammar_folder
from tools.reference import FOLDER, PAGES, page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / f"{name}.md").read_text("utf-8") == page(name), "make reference"


def test_the_generators_examples_hold() -> None:
    assert doctest.testmod(tools.reference).failed == 0


def test_no_other_page_is_there() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(PAGES)


def test_every_rule_and_option_has_a_line() -> None:
    grammar = (grammar_folder() / "sqlwin.lark").read_text("utf-8")
    scalar = grammar[grammar.index("// --- scalar expressions") :]
    rules = set(re.findall(r"^\??(_?[a-z]\w*)(?:\{\w+\})?:", grammar, re.MULTILINE))
    rules -= set(re.findall(r"^\??(_?[a-z]\w*)(?:\{\w+\})?:", scalar, re.MULTILINE))
    told = page("statements") + page("clauses")
    assert {rule for rule in rules if f"\n{rule} = " not in told} == set()
    options = {
        option.name for known in (STREAMS, SINKS) for its in known.values() for option in its
    }
    assert {name for name in options if f"| `{name}` |" not in page("options")} == set()


def test_no_regular_expression_is_left() -> None:
    block = "".join(re.findall(r"```text\n(.*?)```", page("clauses") + page("statements"), re.S))
    assert "\\" not in block
    assert "(?" not in block
    assert block.count("(") == block.count(")")
