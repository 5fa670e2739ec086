"""Sessions in any order and cut: what is out at the end is what all rows make at once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.policies import Early, Late
from sqlwin.windows.session import Session
from tests.support.operators.sessions import WINDOWS, Emission, Fed, plan, row

Out = dict[tuple[Any, ...], tuple[Any, ...]]


def rows() -> st.SearchStrategy[dict[str, Any]]:
    some = st.sampled_from([None, None, None, True, False])
    return st.builds(
        lambda k, page, at, wait, login, logout: row(
            k, at, page=page, wait=wait, login=login, logout=logout
        ),
        st.sampled_from(["a", "a", None]),
        st.sampled_from(["x", "y"]),
        st.integers(0, 60),
        st.sampled_from([1, 5, 10, 30]),
        some,
        some,
    )


def steps() -> st.SearchStrategy[list[tuple[list[dict[str, Any]], int, int, bool]]]:
    """Rows; by how much the watermark and the clock move; whether input ends there."""
    ends = st.sampled_from([False] * 7 + [True])
    step = st.tuples(st.lists(rows(), max_size=4), st.integers(0, 15), st.integers(0, 9), ends)
    return st.lists(step, min_size=1, max_size=9)


def policies() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "early": st.sampled_from([None, *Early]),
            "early_period": st.just(7 * SECOND),
            "early_rows": st.sampled_from([1, 3]),
            "late": st.sampled_from(Late),
            "late_period": st.just(5 * SECOND),
            "timeout": st.sampled_from([None, 8 * SECOND]),
        }
    )


def overlay(out: Out, emissions: list[Emission]) -> None:
    """Follow emissions one by one; no two sessions of the same keys are ever out together."""
    for op, _, _, k, page, start, end, last, n in emissions:
        key = (k, page, start, end)
        assert (op == "+I") == (key not in out), (op, key)
        if op == "-D":
            assert out.pop(key) == (last, n)
        else:
            rivals = [other[2:] for other in out if other[:2] == key[:2] and other != key]
            assert not any(start < until and since < end for since, until in rivals), (key, out)
            out[key] = (last, n)


@given(st.sampled_from(WINDOWS), policies(), steps())
def test_no_two_are_out_at_once_and_at_the_end_those_of_all_rows_are(
    window: Session, policy: dict[str, Any], taken: list[Any]
) -> None:
    operator = plan(window, ("k", "page"), ("k",), ("last", "n"), **policy)
    fed, out, now, watermark, known = Fed(operator), Out(), 0, 0, 0
    for batch, ahead, later, end in taken:
        now, watermark = now + later, watermark + ahead
        overlay(out, fed(*batch, now=now, watermark=watermark, end=end))
        if policy["late"] is Late.NEVER:  # which retracts nothing but for something better
            known, before = sum(n for _, n in out.values()), known
            assert known >= before
    overlay(out, fed(now=now, end=True))
    whole: Out = {}
    overlay(whole, Fed(operator)(*(each for batch, *_ in taken for each in batch), end=True))
    if policy["late"] is not Late.NEVER:
        assert out == whole
        assert not fed.driven.operator.emitted.vanished  # type: ignore[attr-defined]
