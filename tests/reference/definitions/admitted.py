"""Which rows of a batch an operator takes: none beyond retention, and each message once.

A row is expired when every window that holds it ended `retain` before the watermark, or where it
has none of fixed bounds it is older than that, of sessions as `late_sessions` has it, of OVER as
`late_frames`; or when it is late, and older than the horizon that RETAIN n ROWS gives its bucket. A
message that was taken is a no-op; of a tuple window, also one whose offset does not rise.

>>> rows = [{"__part": 0, "__seq": seq} for seq in (7, 7, 3)]
>>> from sqlwin.policies import Policy
>>> fresh(rows, [{"__part": 0, "__seq": 3}], Definition(lambda taken: [], {}, {}, Policy(None)))
[{'__part': 0, '__seq': 7}]
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sqlwin.instants import START
from sqlwin.schema import PART, SEQ, TS
from tests.reference.definitions.horizons import Horizons
from tests.reference.definitions.late_sessions import of_each_key
from tests.reference.definitions.window import Definition, key_text
from tests.reference.kernels.rows import Row


def expired(
    rows: pl.DataFrame,
    taken: Sequence[Row],
    found: Horizons,
    definition: Definition,
    closed: int,
) -> pl.DataFrame:
    """Those of a batch that are; taken, found, closed: rows, horizons and watermark before it."""
    if definition.by_count:
        return rows.clear()
    retain = definition.policy.retain
    horizon = START if retain is None else closed - retain
    keys = [key_text(row, definition.buckets) for row in rows.to_dicts()]
    least = [min(closed, found[key][0] if key in found else START) for key in keys]
    if definition.frames is not None and retain is not None:
        gone = definition.frames(rows.to_dicts(), taken, horizon)
    elif definition.judged is None or retain is None:
        gone = [not _counts(ts, horizon, definition) for ts in rows[TS]]
    else:
        gone = of_each_key(rows.to_dicts(), taken, *definition.judged, horizon)
    below = pl.col(TS) < pl.Series(least, dtype=pl.Int64)
    return rows.filter(below | pl.Series(gone, dtype=pl.Boolean))


def misses(rows: pl.DataFrame, definition: Definition, closed: int) -> pl.DataFrame:
    """Those of a batch for which a window is gone that holds them."""
    ends, retain = definition.ends, definition.policy.retain
    if ends is None or retain is None:
        return rows.clear()
    missed = [any(end <= closed - retain for end in ends(ts)) for ts in rows[TS]]
    return rows.filter(pl.Series(missed, dtype=pl.Boolean))


def _counts(ts: int, horizon: int, definition: Definition) -> bool:
    """Whether a window is kept that a row of this instant counts in; one between windows may."""
    held = [] if definition.ends is None else definition.ends(ts)
    return any(end > horizon for end in held) if held else ts >= horizon


def fresh(rows: Sequence[Row], taken: Sequence[Row], definition: Definition) -> list[Row]:
    """Rows of messages not taken yet; offsets of tuple windows must rise."""
    if not definition.once:
        return list(rows)
    known = {(row[PART], row[SEQ]) for row in taken}
    greatest = {part: max(seq for p, seq in known if p == part) for part, _ in known}
    once = {(row[PART], row[SEQ]): row for row in reversed(rows)}
    if definition.by_count:
        return [r for (p, seq), r in sorted(once.items()) if seq > greatest.get(p, START)]
    return [row for place, row in sorted(once.items()) if place not in known]
