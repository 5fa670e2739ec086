"""Which rows count in no window that is kept, against each window looked at by itself."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.panes import WINDOW_END, ends_at, ends_of, pane_of
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.rows.error_stream import EXPIRED, IN_PART
from sqlwin.schema import TS
from sqlwin.windows.frames import Reach
from sqlwin.windows.group import Cumulate, Hop

HOPS = st.builds(
    lambda advance, more, offset: Hop(size=advance + more, advance=advance, offset=offset),
    st.integers(1, 6),
    st.integers(0, 12),
    st.integers(-5, 5),
)
CUMULATING = st.builds(
    lambda steps, step, offset: Cumulate(size=steps * step, step=step, offset=offset),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(-5, 5),
)
WINDOWS = HOPS | CUMULATING


def ends(ts: int, window: Hop | Cumulate) -> list[int]:
    rows = pl.DataFrame({TS: [ts]}).with_columns(pane_of(pl.col(TS), window).alias("pane"))
    return sorted(ends_of(rows, "pane", window)[WINDOW_END].to_list())


@given(WINDOWS, st.integers(-30, 30))
def test_the_ends_of_the_first_and_the_last_window(window: Hop | Cumulate, ts: int) -> None:
    held = ends(ts, window)
    assert ends_at(ts, window) == (held[0], held[-1])


@given(
    WINDOWS,
    st.integers(-30, 30),
    st.integers(0, 9),
    st.integers(-30, 60),
    st.none() | st.integers(-30, 30),
)
def test_a_row_counts_where_a_window_is_kept(
    window: Hop | Cumulate, ts: int, retain: int, watermark: int, since: int | None
) -> None:
    kept = RowRetention(retain, since, window)
    held = ends(ts, window)
    ended = max(watermark - retain, -(10**9) if since is None else since)
    missed = [end for end in held if end <= ended]
    rows = kept.missed(pl.DataFrame({TS: [ts]}), watermark)
    assert bool(len(rows)) == bool(missed)
    assert (ts < kept.horizon(watermark)) == (missed == held)
    expected = [EXPIRED] if missed == held else [IN_PART]
    assert [r.split(":")[0] for r in kept.reasons(rows, watermark)] == expected[: len(rows)]


@given(
    st.builds(Reach, st.integers(0, 6), st.integers(0, 6)),
    st.integers(-30, 30),
    st.integers(0, 9),
    st.integers(-30, 60),
)
def test_a_row_counts_where_a_frame_that_may_hold_it_is_kept(
    reach: Reach, ts: int, retain: int, watermark: int
) -> None:
    kept = RowRetention(retain, window=reach)
    ends_ = {at + reach.after + 1 for at in range(ts - reach.after, ts + reach.back + 1)}
    missed = {end for end in ends_ if end <= watermark - retain}
    rows = kept.missed(pl.DataFrame({TS: [ts]}), watermark)
    assert bool(len(rows)) == bool(missed)
    assert (ts < kept.horizon(watermark)) == (missed == ends_)


@given(st.integers(0, 6), st.integers(-30, 30), st.integers(0, 9), st.integers(-30, 60))
def test_an_unbounded_frame_holds_a_row_however_old(
    after: int, ts: int, retain: int, watermark: int
) -> None:
    kept = RowRetention(retain, window=Reach(None, after))
    rows = kept.missed(pl.DataFrame({TS: [ts]}), watermark)
    assert bool(len(rows)) == (ts < watermark - retain)
    assert not kept.judged and ts >= kept.horizon(watermark)
    assert [r.split(":")[0] for r in kept.reasons(rows, watermark)] == [IN_PART] * len(rows)


@given(st.integers(0, 6), st.integers(-30, 30), st.integers(0, 9), st.integers(-30, 60))
def test_of_frames_in_rows_what_time_alone_would_expire_is_in_doubt(
    back: int, ts: int, retain: int, watermark: int
) -> None:
    kept, timed = (RowRetention(retain, window=Reach(back, 1, rows)) for rows in (2, 0))
    rows = pl.DataFrame({TS: [ts]})
    doubtful = kept.doubtful(watermark)
    assert doubtful is not None
    doubted, missed = rows.filter(doubtful), timed.missed(rows, watermark)
    assert len(doubted) == timed.reasons(missed, watermark).count(EXPIRED)
    assert len(kept.missed(rows, watermark)) == len(missed) - len(doubted)
