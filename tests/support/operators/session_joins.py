"""Session joins to test, over the rows and steps of `tests.support.operators.joins`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sqlwin.operators.joins.sessions.operator import SessionJoin
from sqlwin.operators.joins.sessions.sides import SessionSide
from sqlwin.policies import Late, Policy
from sqlwin.windows import Unit
from sqlwin.windows.joins import JoinWindow
from sqlwin.windows.session import Session
from tests.support.operators.joins import KINDS, LEFT, RIGHT, policies, residual


def session_join(
    kind: str = "inner",
    gaps: tuple[int | None, int | None] = (4, 3),
    keys: int = 1,
    session_keys: int = 1,
    filtered: bool = False,
    slice_width: int = 4,
    interval: int = 4,
    update_before: bool = False,
    weighted: bool = False,
    **policy: Any,
) -> SessionJoin:
    """gaps: None: that of each row is its `j`, or `rj`; 0: its rows are in no session.
    session_keys: keys that sessions have."""
    kept = Policy(**{"retain": 5, "late": Late.ON_UPDATE, **policy})
    left, right = (
        SessionSide(
            name,
            columns,
            names[:keys],
            JoinWindow(Unit.RANGE, None, None),
            slice_width,
            weighted=weighted,
            session=Session(gap, gap_by=names[1] if gap is None else None),
            partition=names[:session_keys],
            interval=interval,
        )
        for name, columns, names, gap in (
            ("left", LEFT, ("k", "j"), gaps[0]),
            ("right", RIGHT, ("rk", "rj"), gaps[1]),
        )
    )
    return SessionJoin(left, right, kind, kept, residual if filtered else None, update_before)


GAPS = st.sampled_from([1, 2, 3, 6, 11])
ONE_SIDE = GAPS.flatmap(lambda gap: st.sampled_from([(gap, 0), (0, gap)]))
"""Sessions of one side alone."""


@st.composite
def session_joins(draw: st.DrawFn, **fixed: Any) -> SessionJoin:
    drawn = draw(policies())
    of_sides = ("large", "keys")
    policy = {name: value for name, value in drawn.items() if name not in of_sides}
    keys = draw(st.sampled_from([1, 1, 2]))
    return session_join(
        draw(st.sampled_from(KINDS)),
        draw(st.one_of(st.tuples(GAPS, GAPS), ONE_SIDE)),
        keys=keys,
        session_keys=draw(st.integers(1, keys)),
        filtered=draw(st.booleans()),
        interval=draw(st.sampled_from([1, 4, 16])),
        **{**policy, **fixed},
    )
