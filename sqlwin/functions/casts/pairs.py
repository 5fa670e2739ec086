"""How each kind of type is cast to each: the tables of the modules of casts, see `casting`."""

from __future__ import annotations

from sqlwin.functions.casts import intervals, nested, numbers, strings, texts, times, wall_clocks
from sqlwin.functions.casts.casting import How

CASTS: dict[tuple[str, str], How] = {
    **numbers.CASTS,
    **strings.CASTS,
    **texts.CASTS,
    **nested.CASTS,
    **times.CASTS,
    **wall_clocks.CASTS,
    **intervals.CASTS,
}
