"""The searches that take hours, one after the other: `python -m tests.long --seed 7`.

First the tests that are marked `hours`, and properties. Each search draws from the seed on, keeps
what failed beside its tests, and says how much it searched; one that found something does not end
the others.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

MORE = ("pytest", "-m", "hours or drawn", "--quiet")
"""The tests that are one more of their kind, and properties."""
SEARCHES = (
    ("tests.runtime.damage", "--files", "10000"),
    ("tests.faults.simulation", "--runs", "5000"),
    ("tests.faults.flips", "--cases", "5000"),
    ("tests.properties.search", "--cases", "50000"),
    ("tests.functions.sweep", "--every", "1"),
    ("tests.sql.fuzz", "--cases", "1000000"),
    ("tests.faults.spark_kills", "--kills", "200"),
)


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(description="Search for what is wrong, for hours.")
    options.add_argument("--seed", type=int, default=1)
    seed = str(options.parse_args(arguments).seed)
    failed = []
    for module, *size in (MORE, *((*search, "--seed", seed) for search in SEARCHES)):
        sys.stderr.write(f"{module} {' '.join(size)}\n")
        command = [sys.executable, "-m", module, *size]
        if subprocess.run(command, check=False).returncode:
            failed.append(module)
    sys.stderr.write(f"failed: {', '.join(failed) or 'none'}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
