"""When a pending change of a join goes out: by the clock, by how many wait, or by the watermark.

| of the policy             | goes out                                                    |
|---------------------------|-------------------------------------------------------------|
| EVERY d, early or late    | at the end of the period                                    |
| EARLY EVERY n ROWS        | as n results of its keys that are on time are pending; else once |
|                           | the watermark has passed the rows that it is made of        |
| EARLY EVERY d OR n ROWS   | as n are pending, or at the end of the period               |

What waits for rows alone has no time on the clock, and is due at `NEVER`.

>>> due(Policy(None, early=Early.EVERY, early_period=60, late=Late.ON_UPDATE), 119)
Due(early=120, late=119)
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sqlwin.instants import END
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.schema import DUE, SIGN
from sqlwin.policies import Early, Late, Policy, end_of_period
from sqlwin.schema import EMIT, ROW_KEY

NEVER = END - 1


@dataclass(frozen=True)
class Due:
    """When a change that comes now goes out; None: never."""

    early: int
    late: int | None


def waits_for_rows(policy: Policy) -> bool:
    """Whether no clock says when what is pending early goes out."""
    return policy.early is Early.ROWS


def due(policy: Policy, now: int) -> Due:
    """Periods end at multiples of them: at the same time for all keys, wherever they lie."""
    early = end_of_period(now, policy.early_period) if policy.early is Early.EVERY else now
    late = end_of_period(now, policy.late_period) if policy.late is Late.EVERY else now
    return Due(
        NEVER if waits_for_rows(policy) else early, None if policy.late is Late.NEVER else late
    )


@dataclass(frozen=True)
class DueChanges:
    """keys: of each equality the columns of both sides, one of which a result may lack. at: the
    time of what a result is made of, None where it has none. replaced: a result may have both
    signs, and then is what becomes true."""

    policy: Policy
    keys: tuple[Sequence[str], ...]
    at: str | None
    replaced: bool

    def goes(self, now: int, watermark: int, silent: bool) -> pl.Expr:
        """Of all that is pending, what goes out now. silent: all that waits for rows."""
        due_ = pl.col(DUE) <= now
        if not self.policy.early_rows:
            return due_
        on_time = pl.col(EMIT) != "late"
        results = pl.col(ROW_KEY).filter(on_time).n_unique()
        keys = [self._of_result(pl.coalesce(k)).alias(f"__{n}") for n, k in enumerate(self.keys)]
        enough = (results.over(keys) if keys else results) >= self.policy.early_rows
        passed = pl.lit(silent)
        if self.at is not None:
            passed = passed | (self._of_result(pl.col(self.at)) < watermark)
        return due_ | (on_time & enough) | ((pl.col(DUE) == NEVER) & passed)

    def _of_result(self, value: pl.Expr) -> pl.Expr:
        return value.sort_by(SIGN).last().over(ROW_KEY) if self.replaced else value
