"""When a change is due, and what is emitted of a result: pure, over frames.

`due` says when a changed result goes out, `goes_out` whether it then does; `changelog` what goes
out of results, by whether they exist, whether their last emission stands, and which revision
that was:

| exists | stands | goes out                                                         |
|--------|--------|------------------------------------------------------------------|
| yes    | no     | `+I`, one revision more                                          |
| yes    | yes    | `+U`, one more, where a value differs, or the word is `full` and |
|        |        | there are values, which a group without an aggregate has not;    |
|        |        | directly below its `-U` with the old values, if pairs are wanted |
| no     | yes    | `-D` with the old values, one more                               |

Invariant: revisions of a row key grow by one with each emission, a `-U` has that of the one it
takes back.

>>> known = {"__revision": [-1, 0, 3], "__stands": [False, True, True]}
>>> frame = pl.DataFrame({"n": [1, 2, 9], "__old.n": [None, 1, 7], **known,
...     "__exists": [True, True, False], "__word": "late", "__row_key": ["a", "b", "c"]})
>>> changelog(frame, ["n"], pairs=True).select("n", "__op", "__revision").rows()
[(1, '+I', 0), (1, '-U', 0), (2, '+U', 1), (7, '-D', 4)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from sqlwin.kernels.columns import constant
from sqlwin.operators.emitter.schema import DUE, EXISTS, OLD, PENDING, STANDS, WORD
from sqlwin.policies import Early, Late, Policy, end_of_period
from sqlwin.schema import EMIT, OP, REVISION, ROW_KEY

LINE = "__line"


def due(policy: Policy, late: pl.Expr, now: int) -> pl.Expr:
    """When a result that changed goes out, `late` or early; one that is due sooner stays so.

    Periods end at multiples of their length, at the same time for all results.
    """
    soon = pl.when(late).then(_late_due(policy, now)).otherwise(_early_due(policy, now))
    return soon.cast(pl.Int64).alias(DUE)


def _early_due(policy: Policy, now: int) -> pl.Expr:
    at, never = pl.lit(now, pl.Int64), pl.lit(None, pl.Int64)
    if policy.early is None:
        return never
    times = [pl.col(DUE)]
    if policy.early is Early.ON_UPDATE:
        times.append(at)
    if policy.early is Early.EVERY:
        times.append(pl.lit(end_of_period(now, policy.early_period), pl.Int64))
    if policy.early_rows:
        times.append(pl.when(pl.col(PENDING) >= policy.early_rows).then(at))
    soon = pl.min_horizontal(*times)
    return pl.when(pl.col(REVISION) < 0).then(soon).otherwise(DUE) if policy.early_once else soon


def _late_due(policy: Policy, now: int) -> pl.Expr:
    """No later than an early change was to go out."""
    if policy.late is Late.NEVER:
        return pl.lit(None, pl.Int64)
    at = end_of_period(now, policy.late_period if policy.late is Late.EVERY else 0)
    return pl.min_horizontal(DUE, pl.lit(at, pl.Int64))


def goes_out(values: Sequence[str]) -> pl.Expr:
    """Whether anything is emitted of a result with `__old.*` of these values: an update that
    changes none of them is not, but one that is `full` is, unless nothing in it may change."""
    moved = (pl.col(name).ne_missing(pl.col(OLD + name)) for name in values)
    differs = pl.any_horizontal(~pl.col(STANDS), *moved)
    full = (pl.col(WORD) == "full") & bool(values)
    return pl.when(EXISTS).then(differs | full).otherwise(STANDS)


def is_first(results: pl.DataFrame) -> bool:
    """Whether all of them go out, and are first emissions: they hold rows, and none stands."""
    return bool(results[EXISTS].all()) and not results[STANDS].any()


def changelog(frame: pl.DataFrame, output: Iterable[str], pairs: bool) -> pl.DataFrame:
    """Emissions of results, in their order.

    frame: `output`, `__old.*` where something is retracted, and `__revision`, `__stands`,
    `__exists`, `__word`, `__row_key`.
    """
    names, removed = list(output), not frame[EXISTS].all()
    if is_first(frame):
        return pl.DataFrame([*(frame[name] for name in names), *_inserted(frame)])
    last = pl.when(EXISTS).then(_op(pl.lit("+U"), pl.lit("+I"))).otherwise(pl.lit("-D"))
    emitted = frame.select(
        *(_last(frame, name) if removed else pl.col(name) for name in names),
        *_change(last, pl.col(REVISION) + 1),
    )
    replaced = pl.col(STANDS) & pl.col(EXISTS)
    if not pairs or not frame.select(replaced.any()).item():
        return emitted
    before = frame.with_row_index(LINE).filter(replaced)
    retracted = before.select(
        LINE, *(_old(frame, name) for name in names), *_change(pl.lit("-U"), pl.col(REVISION))
    )
    both = pl.concat([retracted, emitted.with_row_index(LINE)])
    return both.sort(LINE, maintain_order=True).drop(LINE)


def _inserted(frame: pl.DataFrame) -> list[pl.Series]:
    """As `_change` of first emissions."""
    return [
        constant(OP, "+I", pl.String(), len(frame)),
        frame[WORD].alias(EMIT),
        (frame[REVISION] + 1).cast(pl.Int32).alias(REVISION),
        frame[ROW_KEY],
    ]


def _op(update: pl.Expr, insert: pl.Expr) -> pl.Expr:
    return pl.when(STANDS).then(update).otherwise(insert)


def _change(op: pl.Expr, revision: pl.Expr) -> list[pl.Expr]:
    """The columns of `changes.CHANGE_SCHEMA`."""
    return [
        op.alias(OP),
        pl.col(WORD).alias(EMIT),
        revision.cast(pl.Int32).alias(REVISION),
        pl.col(ROW_KEY),
    ]


def _last(frame: pl.DataFrame, name: str) -> pl.Expr:
    return pl.when(EXISTS).then(name).otherwise(_old(frame, name)).alias(name)


def _old(frame: pl.DataFrame, name: str) -> pl.Expr:
    """What is of the identity has no old value: it is the same."""
    return pl.col(OLD + name if OLD + name in frame.columns else name).alias(name)
