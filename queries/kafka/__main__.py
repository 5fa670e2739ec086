"""Flights through Kafka into PostgreSQL, by a run that is killed twice; `make kafka-demo`."""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys

print("kafka-demo: loading", flush=True)

from rich.console import Console  # noqa: E402

from queries.kafka.demo import Demo, Options  # noqa: E402
from queries.kafka.processes import REPO  # noqa: E402
from tools.servers import postgres  # noqa: E402
from tools.servers.unavailable import Unavailable  # noqa: E402

UNEQUAL, FAILED = 1, 2


def main() -> int:
    given = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(FAILED))  # servers are stopped, too
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(f"seed {given.seed}: --seed {given.seed} kills at the same points of the feed")
    if postgres.binaries() is None:
        subprocess.run([REPO / "tools" / "apt-install", "postgresql"], check=False)
    try:
        return 0 if Demo(given, console).run() else UNEQUAL
    except (Unavailable, RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
        console.print(f"failed: {failure}", markup=False)
        return FAILED


def options() -> Options:
    parser = argparse.ArgumentParser(prog="make kafka-demo", description=__doc__)
    parser.add_argument("--files", type=int, default=8, help="of the flights, four days each")
    parser.add_argument("--seconds", type=float, default=60.0, help="in which all flights land")
    parser.add_argument("--engine", choices=("embedded", "spark"), default="embedded")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    return Options(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
