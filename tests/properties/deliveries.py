"""How rows arrive: shuffled, cut into batches, some of them twice.

Event times are drawn at random, so that arrival is a shuffle of them. Where the
stream declares an OFFSET the positions are a shuffle too, but where messages are counted
they rise with arrival; then any message may come again in the same batch or later.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sqlwin.instants import SECOND
from tests.properties.plans import rows
from tests.properties.question import Question

START = 1_704_099_600 * SECOND  # 2024-01-01 09:00 UTC; windows of 7 s do not begin there
Row = dict[str, Any]
Delivery = list[list[Row]]
"""Batches of rows, in the order of arrival."""

_INSTANTS = st.integers(0, 40).map(lambda seconds: START + seconds * SECOND)


@st.composite
def deliveries(draw: st.DrawFn, question: Question, least: int = 1) -> tuple[Question, Delivery]:
    """least: so many batches, and rows in each."""
    some = st.lists(rows(_INSTANTS), min_size=least, max_size=12)
    batches = draw(st.lists(some, min_size=least, max_size=6))
    count = sum(map(len, batches))
    shuffled = question.replays and not question.rising
    ids = iter(draw(st.permutations(range(count))) if shuffled else range(count))
    known: list[Row] = []
    out: Delivery = []
    for batch in batches:
        new = [{"id": next(ids), **row} for row in batch]
        known += new
        again = draw(_twice(known)) if question.replays else []
        out.append(draw(st.permutations(new + again)) if again else new)
    return question, out


def _twice(known: list[Row]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.sampled_from(known), max_size=3)


def once(delivery: Delivery) -> list[Row]:
    """Every message, the first time it came."""
    return list({row["id"]: row for batch in delivery[::-1] for row in batch[::-1]}.values())
