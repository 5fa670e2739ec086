"""Frames of spans `[__from, __until)`: which meet, which rows lie within.

Invariant: spans of one key do not overlap.

>>> spans = pl.DataFrame({"k": ["a", "a"], FROM: [0, 10], UNTIL: [5, 15]})
>>> rows = pl.DataFrame({"k": ["a", "a", "b"], "at": [4, 7, 4]})
>>> within(rows, "at", spans, ("k",)).rows()
[('a', 4, 0, 5)]
"""

from __future__ import annotations

import polars as pl

from sqlwin.kernels.frames import Mask
from sqlwin.kernels.sessions import runs_of
from sqlwin.state.stores.session_store import FROM, UNTIL

AT = "__at"
REACH = "__reach"
KEY, NEW, RUN = "__key", "__new", "__run"


def extent_of(spans: pl.DataFrame) -> tuple[int, int]:
    """From the first beginning to the last end; of none an empty range."""
    return (spans[FROM].min(), spans[UNTIL].max()) if len(spans) else (0, 0)  # type: ignore[return-value]


def first_of(frame: pl.DataFrame, keys: tuple[str, ...]) -> Mask:
    """Where another key begins, in a frame sorted by keys."""
    changed = [pl.col(key).ne_missing(pl.col(key).shift(1)) for key in keys]
    number = pl.int_range(pl.len()) == 0
    return frame.select(pl.any_horizontal(number, *changed)).to_series().to_numpy()


def met(
    stored: pl.DataFrame, added: pl.DataFrame, keys: tuple[str, ...], reach: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both with `__run`: what reaches into each other shares one. Stored ones that nothing
    reaches, through others too, are left out."""
    columns = list(dict.fromkeys([*keys, FROM, reach]))
    both = pl.concat(
        frame.select(columns).with_columns(pl.lit(new).alias(NEW)).with_row_index(RUN)
        for frame, new in ((stored, False), (added, True))
    ).sort(*keys, FROM)
    runs = runs_of(first_of(both, keys), both[FROM].to_numpy(), both[reach].to_numpy())
    numbered = both.select(NEW, pl.col(RUN).alias(AT)).with_columns(pl.Series(RUN, runs))
    places = [numbered.filter(pl.col(NEW) == new).sort(AT)[RUN].alias(RUN) for new in (False, True)]
    touched = stored.with_columns(places[0]).filter(pl.col(RUN).is_in(places[1].unique().implode()))
    return touched, added.with_columns(places[1])


def within(rows: pl.DataFrame, at: str, spans: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Rows with the bounds of the span of their key that holds them; others are left out.

    spans: keys, `__from`, `__until`; those of a key do not overlap.
    """
    if rows.is_empty() or spans.is_empty():
        none = pl.lit(None, pl.Int64)
        return rows.clear().with_columns(none.alias(FROM), none.alias(UNTIL))
    bounded = spans.select(*keys, FROM, UNTIL)
    if keys:
        known = bounded.select(keys).unique().with_row_index(KEY)
        left = rows.join(known, on=list(keys), how="inner", nulls_equal=True)
        right = bounded.join(known, on=list(keys), how="inner", nulls_equal=True)
    else:
        left, right = (f.with_columns(pl.lit(0, pl.UInt32).alias(KEY)) for f in (rows, bounded))
    found = left.sort(at).join_asof(
        right.select(KEY, FROM, UNTIL).sort(FROM),
        left_on=at,
        right_on=FROM,
        by=KEY,
        coalesce=False,
        check_sortedness=False,
    )
    return found.filter(pl.col(at) < pl.col(UNTIL)).drop(KEY)
