"""Attempts find what Python's regular expressions find: rows are letters, variables classes."""

from __future__ import annotations

import re
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.patterns.attempts import Found, Read, answered, attempt
from sqlwin.kernels.patterns.paths import mapped
from sqlwin.kernels.patterns.programs import ROW, program
from sqlwin.patterns import (
    Choice,
    Excluded,
    Pattern,
    Repeat,
    Sequence,
    Start,
    Variable,
    longest,
    shortest,
)

CLASSES = {"a": "x", "b": "y", "c": "xy", "d": "xyz"}
"""The letters that a variable takes."""


def repeats(part: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, None), (1, 2), (2, 2), (0, 3)])
    return st.builds(lambda p, b, few: Repeat(p, *b, few), part, bounds, st.booleans())


def patterns() -> st.SearchStrategy[Pattern]:
    """In their repeats there is always a row: of rounds without one Python has rules of its own."""
    variables = st.builds(Variable, st.sampled_from(list(CLASSES)))
    leaves = st.one_of(variables, variables, variables, st.builds(Start))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Sequence, st.lists(inner, min_size=1, max_size=3).map(tuple)),
            st.builds(Choice, st.lists(inner, min_size=1, max_size=3).map(tuple)),
            repeats(inner.filter(lambda pattern: shortest(pattern) > 0)),
            st.builds(Excluded, inner),
        ),
        max_leaves=6,
    )


def expression(pattern: Pattern) -> str:
    if isinstance(pattern, Variable):
        return f"[{CLASSES[pattern.name]}]"
    if isinstance(pattern, Start | Excluded):
        return r"\A" if isinstance(pattern, Start) else f"(?:{expression(pattern.part)})"
    if isinstance(pattern, Repeat):
        most = "" if pattern.most is None else pattern.most
        few = "?" * pattern.reluctant
        return f"(?:{expression(pattern.part)}){{{pattern.least},{most}}}{few}"
    between = "|" if isinstance(pattern, Choice) else ""
    return f"(?:{between.join(expression(part) for part in pattern.parts)})"


def asked(pattern: Pattern, text: str, start: int) -> Found:
    """An attempt whose questions are answered one by one."""
    running = attempt(program(pattern), {}, start, len(text), first=0)
    try:
        question = next(running)
        while True:
            question = running.send(text[question.row] in CLASSES[question.variable])
    except StopIteration as stopped:
        found: Found = stopped.value
        return found


@given(patterns(), st.text("xyz", max_size=8))
def test_as_regular_expressions(pattern: Pattern, text: str) -> None:
    flags = {name: [letter in letters for letter in text] for name, letters in CLASSES.items()}
    compiled, made = program(pattern), re.compile(expression(pattern))
    for start in range(len(text) + 1):
        found = answered(attempt(compiled, flags, start, len(text), first=0))
        expected = made.match(text, start)
        length = None if expected is None else expected.end() - start
        if length == 0:  # no row is no match, and no path either
            assert found.path is None and found.empty
            continue
        assert (None if found.path is None else len(mapped(found.path))) == length
        assert asked(pattern, text, start) == found


@given(patterns(), st.text("xyz", max_size=6), st.text("xyz", max_size=6))
def test_what_is_decided_stays(pattern: Pattern, text: str, more: str) -> None:
    """What did not want a row behind the last is the same with any rows there."""
    found = asked(pattern, text, 0)
    if not found.ended:
        assert asked(pattern, text + more, 0) == found


@given(patterns(), st.text("xyz", max_size=8))
def test_lengths(pattern: Pattern, text: str) -> None:
    found = asked(pattern, text, 0)
    if found.path is not None:
        length, most = len(mapped(found.path)), longest(pattern)
        assert shortest(pattern) <= length and (most is None or length <= most)


def test_rounds_of_no_row_end() -> None:
    nothing = Repeat(Variable("a"), 0, None)
    pattern = Sequence((Repeat(nothing, 0, None), Repeat(nothing, 2, None, True), Variable("b")))
    assert mapped(asked(pattern, "xxy", 0).path) == ["a", "a", "b"]
    assert asked(pattern, "xxz", 0).path is None


def test_a_round_of_no_row_is_none_where_rounds_are_counted() -> None:
    """So `(b*?)?` takes a row, or no round, and `(b*?)?{0,2}` up to two."""
    few = Repeat(Variable("b"), 0, None, True)
    for most in (1, 2):
        pattern = Sequence((Repeat(few, 0, most), Repeat(Variable("d"), 0, None)))
        assert mapped(asked(pattern, "yyyy", 0).path) == ["b"] * most + ["d"] * (4 - most)


def test_no_pattern_takes_for_ever() -> None:
    """Each place of the program is tried once at a row."""
    many = Repeat(Variable("a"), 1, None)
    pattern = Sequence((Repeat(many, 1, None), Variable("b")))
    flags = {"a": [True] * 2_000, "b": [False] * 2_000}
    assert answered(attempt(program(pattern), flags, 0, 2_000)).path is None


def checks_of(pattern: Pattern, rows: int, reads: tuple[Read, ...]) -> int:
    """How often an attempt asks, where each row may be any variable but b."""
    running = attempt(program(pattern), {}, 0, rows, reads, 0)
    count, question = 0, next(running)
    with suppress(StopIteration):
        while True:
            count += 1
            question = running.send(question.variable != "b")
    return count


def test_rounds_of_conditions_that_read_the_match_are_asked_once() -> None:
    """However the rows of a are cut into rounds, their sum and their last are the same."""
    rounds = Sequence((Repeat(Repeat(Variable("a"), 1, None), 1, None), Variable("b")))
    nested = Sequence((Repeat(rounds.parts[0], 0, None), Variable("b")))
    for pattern in (rounds, nested):
        for read in (Read(frozenset("a"), every=True), Read(frozenset("a"), 2, 3)):
            places = sum(step[0] == ROW for step in program(pattern))
            assert checks_of(pattern, 1_000, (read,)) <= places * 1_000


def test_other_rows_that_are_read_are_asked_again() -> None:
    """Of two variables the last two rows of one have so many ways at each row."""
    either = Choice((Variable("a"), Variable("c")))
    pattern = Sequence((Repeat(either, 1, None), Variable("b")))
    assert checks_of(pattern, 60, (Read(frozenset("a"), last=2),)) <= 3 * 60**3
    assert checks_of(pattern, 60, ()) <= 3 * 60
