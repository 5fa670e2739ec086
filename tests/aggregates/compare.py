"""sqlwin against Spark's recorded batch answers, by type and call.

    .venv/bin/python -m tests.aggregates.compare
    .venv/bin/python -m tests.aggregates.compare double "decimal(10,0)" --only "sum(" --form session

What is the same is not printed. Classes are those of `tests.functions.classes`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import pyarrow as pa

from tests.aggregates.calls import calls_of, same_but
from tests.aggregates.ours import FORMS, TUMBLE, Batch
from tests.aggregates.record import recorded
from tests.aggregates.tables import GROUPS, tables
from tests.aggregates.ties import tied
from tests.functions.canonical import Json, canonical
from tests.functions.classes import Verdict, verdict
from tests.functions.compare import text
from tests.functions.oracle import Answer
from tests.functions.ours import Ours


def compared(
    name: str, only: str = "", form: str = TUMBLE
) -> Iterator[tuple[str, Answer, Ours, Verdict]]:
    """Of one type's table, every call that contains the text `only`, with both answers."""
    calls = [call for call in calls_of(name) if only in call]
    groups = grouped(tables()[name])
    for call, ours in Batch(tables()[name], form).answers(calls):
        theirs = recorded()[name, call]
        yield call, theirs, ours, judged(call, theirs, ours, groups)


def grouped(rows: pa.Table) -> list[list[dict[str, Json]]]:
    """The rows of each group, in the form of `canonical`."""
    forms = {name: list(map(canonical, rows[name])) for name in rows.column_names}
    groups: dict[int, list[dict[str, Json]]] = {}
    for row in zip(*forms.values(), strict=True):
        named = dict(zip(forms, row, strict=True))
        groups.setdefault(named["g"], []).append(named)
    return [groups[g] for g in sorted(groups)]


def judged(
    call: str, theirs: Answer, ours: Ours, groups: Sequence[Sequence[dict[str, Json]]]
) -> Verdict:
    """The verdict, where answers that Spark leaves open are the same."""
    if not theirs.rows or len(theirs.rows) != len(ours.rows):
        return verdict(theirs, ours)
    rows = tuple(
        one if same_but(call, one, other, theirs.type) or tied(call, group, one, other) else other
        for one, other, group in zip(theirs.rows, ours.rows, groups, strict=True)
    )
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
    for name in given.types or tables():
        print(name)
        for call, theirs, ours, found in compared(name, given.only, FORMS[given.form]):
            if found.kind != "same":
                print("\n".join(report(call, theirs, ours, found)), flush=True)


if __name__ == "__main__":
    main()
