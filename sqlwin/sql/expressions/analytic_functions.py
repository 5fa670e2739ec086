"""The analytic functions: what only an OVER clause gives a meaning.

FIRST_VALUE, LAST_VALUE and NTH_VALUE are aggregates over a frame and stand in
`sqlwin.aggregates`. These here have no frame: each is planned as aggregates over
frames of its own, see `analytic`. Results count in BIGINT.
"""

from __future__ import annotations

from sqlwin.aggregates import BIGINT, DOUBLE, Param, Signature

RANKS = ("row_number", "rank", "dense_rank")
"""Ranks that also exist in an order that is not event time, up to a bound."""

_OVER = "OVER (PARTITION BY product ORDER BY ts)"

ANALYTIC = {
    known.name: known
    for known in (
        *(
            Signature(name, (0, 0), lambda types: BIGINT, "nothing", f"{name.upper()}() {_OVER}")
            for name in RANKS
        ),
        *(
            Signature(name, (0, 0), lambda types: DOUBLE, "nothing", f"{name.upper()}() {_OVER}")
            for name in ("percent_rank", "cume_dist")
        ),
        Signature(
            "ntile",
            (0, 0),
            lambda types: BIGINT,
            "the number of buckets",
            f"NTILE(4) {_OVER}",
            params=(Param.COUNT,),
        ),
        *(
            Signature(
                name,
                (1, 3),
                lambda types: types[0],
                "a value, how many rows away, and what stands for no row",
                f"{name.upper()}(value, 1, 0) {_OVER}",
            )
            for name in ("lag", "lead")
        ),
    )
}
