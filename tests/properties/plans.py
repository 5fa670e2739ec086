"""Random windows over a small stream, and random steps that feed it.

Instants are a few microseconds around the epoch and windows a few microseconds
long, so that a dozen rows meet every edge, tie and overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from sqlwin.instants import format_instant
from sqlwin.plan.ir.nodes import Filter, Node, Scalar, Stream, WindowRank
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.schema import TIMESTAMP, Column
from tests.properties.features import has
from tests.properties.plan_ttl import lived
from tests.properties.plan_windows import windows

COLUMNS = (
    Column("k", pa.string()),
    Column("i", pa.int64()),
    Column("d", pa.decimal128(6, 2)),
    Column("f", pa.float64()),
    Column("b", pa.bool_()),
    Column("ts", TIMESTAMP),
)


@dataclass(frozen=True)
class Step:
    """Rows of a batch; or an instant that the watermark, or the clock, moves to; or the end.

    restart: whether the process stops after it, on hosts that can go on.
    """

    rows: tuple[dict[str, Any], ...] = ()
    watermark: int | None = None
    clock: int | None = None
    drain: bool = False
    restart: bool = False


def rows(instants: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "k": st.sampled_from(["a", "b", None]),
            "i": st.none() | st.integers(-4, 4),
            "d": st.none() | st.integers(-500, 500).map(lambda n: Decimal(n).scaleb(-2)),
            # quarters, of which sums are exact in any order; variances are not
            "f": st.none() | st.integers(-8, 8).map(lambda n: n / 4),
            "b": st.sampled_from([True, False, None]),
            "ts": instants.map(format_instant),
        }
    )


@st.composite
def scripts(draw: st.DrawFn, stream: Stream) -> Script:
    """One query; with some a filter on its first value, which corrections pass or not."""
    plan: Node = draw(lived(draw(windows(stream))))
    if draw(st.booleans()):
        plan = Filter(plan, draw(st.sampled_from(_filters(plan))))
    return Script((stream,), (Query(plan),))


def _filters(plan: Node) -> list[Scalar]:
    """Values that are there; and the first two of a ranking."""
    names = [column.name for column in plan.schema]
    texts = ['"a0" IS NOT NULL'] if "a0" in names else []
    texts += ['"place" <= 2'] if isinstance(plan, WindowRank) else []
    return [
        Scalar(text, text, pa.bool_(), tuple(n for n in names if f'"{n}"' in text))
        for text in texts
    ]


def steps() -> st.SearchStrategy[list[Step]]:
    """A feed, since nothing is to be said before one; then whatever comes."""
    feeds = st.lists(rows(st.integers(-3, 9)), min_size=1, max_size=5).map(
        lambda batch: Step(rows=tuple(batch))
    )
    watermarks = st.integers(-2, 12).map(lambda at: Step(watermark=at))
    clocks = st.integers(1, 12).map(lambda at: Step(clock=at))
    drains = st.just(Step(drain=True))
    # half of all steps bring rows, or there would be little to correct
    kinds = [feeds, feeds, feeds, watermarks, clocks, drains]
    step = st.builds(
        replace, st.sampled_from(kinds).flatmap(lambda kind: kind), restart=st.booleans()
    )
    more = st.lists(step, min_size=3, max_size=10)
    return st.builds(lambda first, rest: [first, *rest], feeds, more)


STREAM = Stream("s", COLUMNS, "ts", delay=2)
NUMBERED = Stream("s", (*COLUMNS, Column("id", pa.int64())), "ts", delay=2, offset="id")


@st.composite
def numbered(draw: st.DrawFn) -> list[Step]:
    """Steps whose rows have an `id`, in any order; some rows come again, as they were."""
    taken = draw(steps())
    fed = sum(len(step.rows) for step in taken)
    ids = iter(draw(st.permutations(range(-fed, fed)))[:fed])
    known: list[dict[str, Any]] = []
    out: list[Step] = []
    for step in taken:
        new = [{**row, "id": next(ids)} for row in step.rows]
        known += new
        again = draw(st.lists(st.sampled_from(known), max_size=2)) if has("replays") and new else []
        out.append(replace(step, rows=tuple(draw(st.permutations(new + again)))))
    return out
