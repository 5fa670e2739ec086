"""sqlwin against Spark's recorded batch answers, by type and call.

    .venv/bin/python -m tests.aggregates.compare
    .venv/bin/python -m tests.aggregates.compare double "decimal(10,0)" --only "sum(" --form session

What is the same is not printed. Classes are those of `tests.functions.classes`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from tests.aggregates.calls import CALLS, same_but
from tests.aggregates.ours import FORMS, TUMBLE, Batch
from tests.aggregates.record import recorded
from tests.aggregates.tables import GROUPS, tables
from tests.functions.classes import Verdict, verdict
from tests.functions.compare import text
from tests.functions.oracle import Answer
from tests.functions.ours import Ours


def compared(
    name: str, calls: Sequence[str] = CALLS, form: str = TUMBLE
) -> Iterator[tuple[str, Answer, Ours, Verdict]]:
    """Of one type's table, every call with both answers."""
    for call, ours in Batch(tables()[name], form).answers(calls):
        theirs = recorded()[name, call]
        yield call, theirs, ours, judged(call, theirs, ours)


def judged(call: str, theirs: Answer, ours: Ours) -> Verdict:
    """The verdict, where answers that Spark leaves open are the same."""
    if len(theirs.rows) != len(ours.rows):
        return verdict(theirs, ours)
    pairs = zip(theirs.rows, ours.rows, strict=True)
    rows = tuple(one if same_but(call, one, other) else other for one, other in pairs)
    return verdict(theirs, Ours(ours.type, rows, ours.refused, ours.crashed))


def report(call: str, theirs: Answer, ours: Ours, found: Verdict) -> Iterator[str]:
    yield f"{found.kind:9} {call}" + (f"    -- {found.why}" if found.why else "")
    for at, kind in found.rows:
        group = GROUPS[at] if at < len(GROUPS) else f"drawn {at}"
        yield f"            {kind}: {group}: {text(theirs.rows[at])} → {text(ours.rows[at])}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.aggregates.compare")
    parser.add_argument("types", nargs="*")
    parser.add_argument("--only", default="", help="calls that contain this text")
    parser.add_argument("--form", default="tumble", choices=tuple(FORMS))
    given = parser.parse_args()
    calls = [call for call in CALLS if given.only in call]
    for name in given.types or tables():
        print(name)
        for call, theirs, ours, found in compared(name, calls, FORMS[given.form]):
            if found.kind != "same":
                print("\n".join(report(call, theirs, ours, found)), flush=True)


if __name__ == "__main__":
    main()
