"""The fast operators say what the reference says, and when it says it, through restarts too."""

from __future__ import annotations

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.testing.cells import Table, of_arrow
from sqlwin.testing.difference import difference
from tests.properties.hosts import Host, fast_hosts, reference
from tests.properties.plans import NUMBERED, STREAM, Step, numbered, scripts, steps

EMISSIONS = (scripts(STREAM), steps(), fast_hosts())
NUMBERS = (scripts(NUMBERED), numbered(), fast_hosts())


def same(script: Script, taken: list[Step], host: Host) -> None:
    for step, expected, found in zip(
        taken, emissions(script, reference, taken), emissions(script, host, taken), strict=True
    ):
        assert not difference(expected, found), (step, difference(expected, found))


def emissions(script: Script, host: Host, taken: list[Step]) -> list[Table]:
    runs = host(script)
    query, values = next(runs), []
    for step in taken:
        values.append(after(query, step))
        if step.restart:
            query = next(runs)
    return values


def after(query: EmbeddedQuery, step: Step) -> Table:
    if step.rows:
        query.push("s", list(step.rows))
    if step.watermark is not None:
        query.advance(watermark={"s": step.watermark})
    if step.clock is not None:
        query.advance(now=step.clock)
    if step.drain:
        query.drain()
    query._check()
    return of_arrow(query.results())
