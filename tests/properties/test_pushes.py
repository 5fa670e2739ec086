"""Pushes of one row and of more than a thousand, in turn, give the answer of a batch.

What stores and expressions do with few rows they do in another way with many.
"""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from sqlwin.runtime.rows.conform import Rows
from tests.faults.drawn_queries import POLICIES, STREAMS, batch_answer, comparable, rows
from tests.golden.restarted import runs
from tests.properties.hosts import fast
from tests.properties.promise import ran
from tests.support.runtime.bucketed import bucketed
from tests.support.runtime.moves import ALL, question

SOON = ("tumble", "session", "rows", "outer")
SIZES = (1, 2, 10, 1_100)
HOSTS = (fast, partial(runs, segment_rows=1_000), bucketed)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOON else pytest.mark.long) for name in ALL]
)
def test_small_pushes_and_large_ones(name: str) -> None:
    random = Random(name)
    asked = question(name, random.choice(list(POLICIES)))
    taken: dict[str, list[dict[str, object]]] = {stream: [] for stream in asked.streams}
    pushes: list[tuple[str, Rows]] = []
    for number in range(4 * len(taken)):
        for size in random.sample(SIZES, len(SIZES)):
            stream = random.choice(asked.streams)
            new = rows(random, len(taken[stream]), size if number % 4 == 0 else size % 100, number)
            taken[stream] += new
            pushes.append((stream, new))
    found = ran(STREAMS.format(offset="", s="", r="") + asked.text, pushes, random.choice(HOSTS))
    assert comparable(found) == batch_answer(asked, taken)
