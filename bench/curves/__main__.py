"""What a row costs as windows become longer, keys more, batches larger, rows later, keys uneven.

    python -m bench.curves [--scale 0.25] [--curves hop range-keys …] [--runs 3]
    python -m bench.curves --write-docs     # the last result into docs/scaling.md, with its plots

On a curve one thing is varied and all else is held. Each point is a process of its own, see
`points`; it is given as nanoseconds a row, and as a ratio to the least point of the curve: machines
differ, ratios less. Of several runs the least counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from bench.curves.points import CURVES, Point, point

HOME = Path(__file__).parents[2]
RESULT = HOME / "build" / "bench" / "curves.json"
THREADS = {"POLARS_MAX_THREADS": "1"}


def measured(name: str, scale: float, runs: int) -> list[Point]:
    """Each point in processes of its own, in turns; the least of its runs."""
    found: list[list[Point]] = []
    for _ in range(runs):
        for at in range(len(CURVES[name].points)):
            command = [sys.executable, "-m", "bench.curves", "--point", name, str(at), str(scale)]
            made = subprocess.check_output(command, cwd=HOME, env={**os.environ, **THREADS})
            if at == len(found):
                found.append([])
            found[at].append(Point(**json.loads(made)))
    return [min(points, key=lambda each: each.ns) for points in found]


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.curves")
    asked.add_argument("--scale", type=float, default=1.0, help="of the rows of each point")
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES))
    asked.add_argument("--write-docs", action="store_true")
    asked.add_argument("--point", nargs=3, help=argparse.SUPPRESS)
    given = asked.parse_args(arguments)
    if given.point:
        name, at, scale = given.point
        print(json.dumps(asdict(point(name, int(at), float(scale)))))
        return
    known: dict[str, list[dict[str, float]]] = {}
    if RESULT.exists():
        known = json.loads(RESULT.read_text(encoding="utf-8"))
    if not given.write_docs:
        for name in given.curves:
            points = measured(name, given.scale, given.runs)
            known[name] = [asdict(each) for each in points]
            print(name, *(f"{each.varied:,}: {each.ns:,.0f} ns" for each in points), flush=True)
            RESULT.parent.mkdir(parents=True, exist_ok=True)
            RESULT.write_text(json.dumps(known, indent=1), encoding="utf-8")
        return
    from bench.curves.page import write  # draws, which a point does not

    write({name: [Point(**each) for each in points] for name, points in known.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
