"""Random queries that are rewritten while they are bound: INTERSECT and EXCEPT.

What they read are groups of windows, which are corrected as late rows come.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.properties.query_groups import Windowed, windowed
from tests.properties.question import Question, predicates


def nested() -> SearchStrategy[Question]:
    return set_operations()


@st.composite
def set_operations(draw: DrawFn) -> Question:
    """Of few columns, so that rows are equal; those of ALL are counted, for none has a name."""
    window, columns = draw(windowed()), draw(st.sampled_from([("k",), ("n",), ("n", "b"), ()]))
    word = draw(st.sampled_from(["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]))
    parts = [_groups(window, draw(predicates()), columns) for _ in "ab"]
    ours, theirs = (f" {word} ".join(texts) for texts in zip(*parts, strict=True))
    names = ["w", "e", *columns]
    if "ALL" in word:
        ours, theirs = (
            f"SELECT {', '.join(names)}, COUNT(*) AS times FROM ({text}) "
            f"GROUP BY {', '.join(names)}"
            for text in (ours, theirs)
        )
    else:
        ours = f"SELECT * FROM ({ours})"
    return Question(ours, theirs, len(names))


def _groups(window: Windowed, where: str, columns: tuple[str, ...]) -> tuple[str, str]:
    rest = "".join(f", {name}" for name in columns)
    edges = "window_start AS w, window_end AS e"
    ours = (
        f"SELECT w, e{rest} FROM (SELECT k, b, {edges}, COUNT(*) AS n FROM {window.source}{where} "
        f"GROUP BY k, b, window_start, window_end)"
    )
    bounds = ", ".join(f"{b} AS {name}" for b, name in zip(window.bounds, "we", strict=True))
    theirs = (
        f"SELECT {bounds}{rest} FROM (SELECT k, b, w, e, COUNT(*) AS n "
        f"FROM ({window.unnested.format(where=where)}) GROUP BY k, b, w, e)"
    )
    return ours, theirs
