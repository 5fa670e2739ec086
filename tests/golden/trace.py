"""What goldens do not see: the order of emitted rows, and when the next tick is due.

The rows of an `expect` block have no order. What the embedded host gave is frozen in
`embedded.trace`, so that a change of the operators that is to change nothing is seen to. After a
change that does, and once the goldens are right:

    python -m tests.golden.trace [name ...]

A line is a golden, and in it a word is a step: how many rows it emitted and a digest of their op,
emit, revision and row_key in their order; behind `@` the next deadline of each stage from below, in
microseconds since their clock began, `-` where there is none; a step without either is `.`.
Values are not in it, for the golden has them. A step that stops the query is `failed`.

>>> rows = Table(COLUMNS, (("+I", "full", "0", "[1]"), ("+I", "full", "0", "[2]")))
>>> word(StepResult(rows, deadlines=(BEGAN + 10_000_000,)))
'2:57410fa9@10000000'
>>> word(StepResult(deadlines=(None, BEGAN))), word(StepResult(deadlines=(None,)))
('@-,0', '.')
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import zip_longest
from pathlib import Path
from zlib import crc32

from sqlwin.instants import parse_instant
from sqlwin.testing.cells import Table
from sqlwin.testing.golden import START_OF_CLOCK, Golden
from sqlwin.testing.outcome import Outcome, StepResult
from tests.golden.files import goldens

FILE = Path(__file__).with_name("embedded.trace")
COLUMNS = ("op", "emit", "revision", "row_key")
BEGAN = parse_instant(START_OF_CLOCK)
NONE = "none"


def trace(outcome: Outcome) -> str:
    return " ".join(map(word, outcome.steps))


def word(step: StepResult) -> str:
    if step.failed is not None:
        return "failed"
    when = ",".join("-" if at is None else str(at - BEGAN) for at in step.deadlines)
    due = f"@{when}" if any(at is not None for at in step.deadlines) else ""
    return f"{_order(step.emitted)}{due}" or "."


def _order(emitted: Table) -> str:
    if not emitted.rows:
        return ""
    text = "\n".join("\t".join(row) for row in emitted.only(COLUMNS).rows)
    return f"{len(emitted.rows)}:{crc32(text.encode()):08x}"


def untraced(golden: Golden, outcome: Outcome) -> list[str]:
    """The steps at which it differs from the trace that was recorded; none where it does not."""
    if outcome.refused is not None:
        return []
    known = recorded().get(golden.name)
    if known is None:
        return [f"no trace: `python -m tests.golden.trace {golden.name}` records one"]
    words = zip_longest(known.split(), map(word, outcome.steps), fillvalue=NONE)
    return [
        _difference(golden, outcome, at, before, now)
        for at, (before, now) in enumerate(words)
        if before != now
    ]


def _difference(golden: Golden, outcome: Outcome, at: int, before: str, now: str) -> str:
    steps = golden.steps()
    step = f"{steps[at].kind} {steps[at].argument}".rstrip() if at < len(steps) else "the last step"
    found = outcome.steps[at].emitted if at < len(outcome.steps) else Table()
    rows = [" ".join(row) for row in found.only(COLUMNS).rows] if found.rows else []
    where = f"{golden.name}, step {at + 1}, after {step}: order or deadline"
    return "\n".join([f"{where} was {before}, is {now}; emitted in this order:", *rows])


@cache
def recorded() -> dict[str, str]:
    """By name of the golden."""
    lines = (line.partition(" ") for line in FILE.read_text(encoding="utf-8").splitlines())
    return {name: words for name, _, words in lines}


def main(names: list[str]) -> None:
    from tests.golden.hosts import EMBEDDED

    known = recorded() if FILE.exists() else {}
    lines: list[str] = []
    for golden in goldens():
        if names and golden.name in known and not any(name in golden.name for name in names):
            lines.append(f"{golden.name} {known[golden.name]}".rstrip())
            continue
        outcome = EMBEDDED.run([golden])[golden.name]
        if outcome.refused is None:
            lines.append(f"{golden.name} {trace(outcome)}".rstrip())
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
