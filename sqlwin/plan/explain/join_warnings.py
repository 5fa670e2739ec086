"""What EXPLAIN warns of in joins: state that grows for ever, results that never become final."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.plan.explain.operators import stays
from sqlwin.plan.explain.operators.joins import named, retained
from sqlwin.plan.explain.stage_warnings import never_final
from sqlwin.plan.ir.nodes import Join
from sqlwin.plan.properties.changelog import lateness, replayed
from sqlwin.plan.properties.facts import arriving, counts, ordered_sides, streams_of, untimed
from sqlwin.windows.joins import AsOf

_PADDED = {"left": ("left",), "right": ("right",), "full": ("left", "right"), "anti": ("left",)}
"""The sides whose rows are sent without a match."""


def join_warnings(join: Join) -> Iterator[str]:
    if join.stays is not None:
        yield from stays.warnings(join, join.stays)
        return
    if counts(join):
        what = "messages" if arriving(join) else "rows"
        yield f"a window in ROWS numbers the {what} of all keys, so all rows go to one bucket"
    elif not join.left_keys and not join.static:
        yield "the join has no equality, so all rows go to one bucket and each meets all others"
    endless = [s for s in join.unbounded if not retained(join) or s in untimed(join)]
    if endless:
        yield from _endless(join, endless)
    elif not _has_bound(join) and not join.static and not join.policy.ttls:
        yield from (never_final(s) for s in streams_of(join) if lateness(s) is None)
    if not counts(join):
        yield from _positions(join, endless)
    by_rows = join.policy.retain_rows is not None and join.policy.retain is None
    if by_rows and join.left_keys and len(join.policy.ttls) < 2:
        yield "the last rows of every key are kept, so state grows with keys"
    nearest = isinstance(join.match, AsOf) and join.match.backward and not by_rows
    if nearest and "right" not in join.policy.ttls:
        (stream,) = streams_of(join.right)
        yield f"the newest row of every key of {stream.name} is kept, so state grows with keys"
    if isinstance(join.match, AsOf):
        yield from _replaced(join)


def _replaced(join: Join) -> Iterator[str]:
    """Of rows that a changelog retracts: they are not there for rows of their time."""
    for stream in (s for of in streams_of(join.right) for plan in of.of for s in streams_of(plan)):
        if stream.changelog is not None:
            yield (
                f"a change of {stream.name} retracts the row before it, so there is one version of "
                f"each; without the option changelog each change is a version"
            )


def _positions(join: Join, sides: list[str]) -> Iterator[str]:
    """Of streams that recognise replays by positions, those that never evict one."""
    of = {"left": join.left, "right": join.right}
    read = [s for side in sides for s in streams_of(of[side])]
    bounded_ = [stream.name for stream in read if replayed(stream)]
    if bounded_:
        of_all = f"the positions of all messages of {' and '.join(dict.fromkeys(bounded_))}"
        yield f"{of_all} are kept to recognise replays, so state grows for ever"


def _endless(join: Join, sides: list[str]) -> Iterator[str]:
    """What is true of sides that no window and no RETAIN bounds."""
    ttls = join.policy.ttls
    bounded_ = [side for side in sides if side not in ttls]
    bounds = "window" if counts(join) else "RETAIN"
    lasting = [side for side in bounded_ if side in untimed(join) and not counts(join)]
    bounded = [side for side in bounded_ if side not in lasting]
    remedies = bounds if ordered_sides(join) else f"{bounds} or TTL"
    for which, remedy in ((bounded, remedies), (lasting, "TTL")):
        if which:
            rows = f"rows of {named(join, which)}"
            yield f"{rows} are kept for ever, so state grows until a {remedy} is given"
    null_padded = _PADDED.get(join.kind, ())
    unmatched = [side for side in sides if side in null_padded]
    if unmatched:
        row = (
            "a row" if len(unmatched) == len(null_padded) else f"a row of {named(join, unmatched)}"
        )
        yield f"that {row} has no match is final only at the end of input, as no window ends"
    never_emitted = [side for side in unmatched if side in ttls]
    if never_emitted and join.policy.early is None:
        unsent = named(join, never_emitted)
        evicted = f"rows of {unsent} without a match are evicted and never emitted"
        yield f"{evicted}, as EMIT names no EARLY"


def _has_bound(join: Join) -> bool:
    """Whether there comes a time at which a result is corrected no more."""
    return retained(join) or arriving(join) or (counts(join) and join.policy.retain is not None)
