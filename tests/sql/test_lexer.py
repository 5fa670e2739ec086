"""The lexer that compiles by need beside Lark's own: the same trees, and the same mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from sqlwin.sql.syntax.parsing.grammar_tables import OPTIONS
from sqlwin.sql.syntax.parsing.lazy.initials import initials
from sqlwin.sql.syntax.parsing.parser import STARTS, grammar, grammar_folder
from sqlwin.sql.text.prepared import blanked

HOME = Path(__file__).parents[1]
FILES = sorted([*HOME.glob("golden/**/*.golden"), *HOME.glob("pairs/**/*.pairs")])
ODD = (
    *("ſELECT a FROM b", "SELECT ß FROM SSELECT", "select É, ı FROM `a``b`", "SELECT 1e5, .5, 5d"),
    *("", ";", "SELECT", "SELECT 'a", 'SELECT "a" FROM', "SELECT a FROM b EMIT", "\\ SELECT"),
    *("SELECT a FROM b WINDOW", "CREATE", "CREATE TEMP TABLE a", "SELECT é", "SELECT a\n\n~"),
)


@pytest.fixture(scope="module")
def lark() -> Lark:
    text = (grammar_folder() / "sqlwin.lark").read_text("utf-8")
    return Lark(text, start=list(STARTS), **OPTIONS)


def scripts(files: list[Path]) -> Iterator[str]:
    """What is written in fixtures between two headings, some of it SQL; every fourth is cut."""
    number = 0
    for file in files:
        for part in re.split(r"^--- .*\n", file.read_text("utf-8"), flags=re.M):
            if re.match(r"\s*(SELECT|CREATE|INSERT|WITH|SET|EXPLAIN)\b", part, re.I):
                number += 1
                text = blanked(part)
                yield text if number % 4 else text[: len(text) * 2 // 3]


def outcome(by: Lark, text: str) -> object:
    try:
        return by.parse(text, start="start")
    except UnexpectedInput as unexpected:
        legal = getattr(unexpected, "accepts", None) or getattr(unexpected, "allowed", None)
        return type(unexpected), unexpected.line, unexpected.column, legal


@pytest.mark.parametrize("first", range(STEP := 12))
def test_scripts_are_read_as_by_lark(lark: Lark, first: int) -> None:
    found = list(scripts(FILES[first :: STEP * 2]))
    assert len(found) > 20
    for text in found:
        assert outcome(grammar(), text) == outcome(lark, text), text


@pytest.mark.parametrize("text", ODD)
def test_odd_letters_and_ends_are_read_as_by_lark(lark: Lark, text: str) -> None:
    assert outcome(grammar(), text) == outcome(lark, text)


def test_no_terminal_matches_what_it_may_not_begin_with(lark: Lark) -> None:
    """By its own expression, of the words that stand in it."""
    read = 0
    for terminal in lark.terminals:
        known = None if terminal.pattern.type == "str" else initials(terminal.pattern.value)
        if known is not None:
            read += 1
            compiled = re.compile(f"(?:{terminal.pattern.to_regexp()})")
            for word in re.findall(r"\w+", terminal.pattern.value):
                begun = compiled.match(f"{word} by (x) y")
                folded = {case for each in known for case in (each.lower(), each.upper())}
                assert not begun or word[0] in folded, (terminal.name, word)
    assert read > 60


def test_terminals_are_compiled_by_need() -> None:
    grammar.cache_clear()
    made = grammar()
    made.parse("SELECT a FROM b", start="start")
    known = made.parser.lexer._terminals
    assert 0 < len(known._compiled) < 25
