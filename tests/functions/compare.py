"""sqlwin against the recorded answers of Spark, by subject.

    python -m tests.functions.compare                         # the table of all subjects
    python -m tests.functions.compare strings --show silent   # and every such expression
    python -m tests.functions.compare --only "substring("     # cases that contain a text

`--show` takes classes, separated by commas (see `classes`), or `all`. `--rows` says how many rows
of an expression are shown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator

from tests.functions.canonical import Json
from tests.functions.classes import CLASSES, Tally, Verdict, verdict
from tests.functions.matrix import Case, cases, subjects
from tests.functions.oracle import Answer
from tests.functions.ours import Ours, answer
from tests.functions.record import recorded


def compared(subject: str, only: str = "") -> Iterator[tuple[Case, Answer, Ours, Verdict]]:
    """Every case with both answers, where Spark's is recorded."""
    theirs = recorded(subject)
    for case in cases(subject):
        if only in case.text and case.text in theirs:
            ours = answer(case)
            yield case, theirs[case.text], ours, verdict(theirs[case.text], ours)


def report(case: Case, theirs: Answer, ours: Ours, found: Verdict, rows: int) -> Iterator[str]:
    """An expression, and the first rows that differ: Spark's answer → ours."""
    yield f"{found.kind:9} {case.text}" + (f"    -- {found.why}" if found.why else "")
    worst = sorted(found.rows, key=lambda each: -CLASSES.index(each[1]))
    for at, kind in worst[:rows]:
        values = f"{text(theirs.rows[at])} → {text(ours.rows[at])}"
        yield f"            {kind}: {case.shown(at) or 'no columns'}: {values}"


def text(value: Json) -> str:
    if isinstance(value, dict) and "!" in value:
        return f"raises {value['!']}"
    return json.dumps(value, ensure_ascii=False)


def printed(tallies: dict[str, Tally]) -> Iterator[str]:
    """The table."""
    yield f"{'':14}{'cases':>7}" + "".join(f"{kind:>10}" for kind in CLASSES)
    total = dict.fromkeys(CLASSES, 0)
    for subject, tally in tallies.items():
        counts = tally.counts()
        total = {kind: total[kind] + counts[kind] for kind in CLASSES}
        yield _line(subject, counts)
    if len(tallies) > 1:
        yield _line("all", total)


def _line(name: str, counts: dict[str, int]) -> str:
    return f"{name:14}{sum(counts.values()):7}" + "".join(f"{n or '':>10}" for n in counts.values())


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.functions.compare")
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--show", default="", help="classes, separated by commas, or all")
    parser.add_argument("--only", default="", help="cases that contain this text")
    parser.add_argument("--rows", type=int, default=3)
    given = parser.parse_args(None if arguments is None else list(arguments))
    shown = CLASSES if given.show == "all" else tuple(given.show.split(","))
    tallies = {subject: Tally() for subject in given.subjects or subjects()}
    for subject, tally in tallies.items():
        for case, theirs, ours, found in compared(subject, given.only):
            tally.verdicts[case.text] = found
            if found.kind in shown:
                print("\n".join(report(case, theirs, ours, found, given.rows)), flush=True)
    print("\n".join(printed(tallies)))


if __name__ == "__main__":
    main()
