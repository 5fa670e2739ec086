"""Resuming from a checkpoint whose query was another: whether the new one is compatible.

The old query is bound again from the source text in the checkpoint. Where only RETAIN differs,
the instant up to which windows were evicted before is carried over, as `since`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import RunError, SqlwinError
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import window_policy
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.plan.resume.compatibility import retained_since, why_not, with_since
from sqlwin.plan.resume.differences import difference
from sqlwin.runtime.checkpoint.task_state import METADATA
from sqlwin.runtime.checkpoint.versions import parsed
from sqlwin.runtime.lowering.chain import chain
from sqlwin.state.contract import Blobs


class Differs(RunError):
    """Which difference keeps a query from going on from a state."""


def going_on(
    query: Query, number: int, plan: str, since: int | None, text: bytes | None, blobs: Blobs
) -> Query:
    """The query as it goes on from the state in `blobs`. Differs where it cannot.

    number: of it in its script. plan, since, text: as the state has them.
    """
    if plan == fingerprint(query):
        return with_since(query, since)
    (was,) = before(None if text is None else text.decode(), plan, [query], number)
    return following(was, query, since, _reached(blobs))


def before(
    text: str | None, plan: str, now: Sequence[Query], only: int | None = None
) -> tuple[Query, ...]:
    """The queries that a state was made by, where those of `now` can go on. Differs where not.

    only: the number of the one it is of; None: of all of its script.
    """
    from sqlwin.runtime.checkpoint.snapshot import bound_again  # here: with it comes the front end

    functions = {function.name: function for query in now for function in query.functions}
    try:
        made = bound_again(text, plan, tuple(functions.values())).queries
    except SqlwinError as error:
        raise Differs(str(error).partition("\n")[0]) from error
    was = made if only is None else made[only : only + 1]
    if len(was) != len(now):
        raise Differs(f"the script had {len(made)} queries, now it has others")
    for old, new in zip(was, now, strict=True):
        why = why_not(old, new)
        if why is None and _stores(old) != _stores(new):
            why = f"{difference(old.plan, new.plan, 'the query')}, which needs other state"
        if why is not None:
            raise Differs(why)
    return was


def following(was: Query, now: Query, since: int | None, reached: int | None) -> Query:
    """The query behind another. since: of that one's state. reached: its watermark."""
    if not retains_otherwise(was, now):
        return with_since(now, since)
    return with_since(now, retained_since(with_since(was, since), reached))


def retains_otherwise(was: Query, now: Query) -> bool:
    old, new = window_policy(was.plan), window_policy(now.plan)
    return old is not None and new is not None and old.retain != new.retain


def since_of(query: Query) -> int | None:
    policy = window_policy(query.plan)
    return None if policy is None else policy.since


def _reached(blobs: Blobs) -> int | None:
    try:
        return int(parsed(METADATA, blobs.get(METADATA))["watermark"])
    except KeyError:
        return None


def _stores(query: Query) -> list[list[tuple[object, ...]]]:
    """Of each stage, but for the width of slices, which another RETAIN changes."""
    return [
        [(at.name, at.columns, at.keys, at.order) for at in (spec.layout for spec in stage.stores)]
        for stage in chain(query).stages
    ]
