"""Runs on Spark, killed: `python -m tests.faults.spark_kills --kills 200 --seed 1`.

What is killed is the driver, its JVM, one of the Python workers, or all at once, by SIGKILL.
Some moments are drawn, all others are aimed at the commit: the n-th time that something new
has a name in Spark's log of offsets or of commits, in the progress between two batches, or in
the folder of a sink, where a part has one before it is whole and another after.

A run goes on until it ends by itself, or five kills have come to it; then each sink is that of
a run in process that nothing disturbed. A second process on the checkpoint of a first one is
refused, or changes nothing.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from traceback import format_exc

from tests.faults.sinks import alike, command, land

FILES, ROWS, KILLS = 30, 20, 5
VICTIMS = ("driver", "jvm", "worker", "worker", "server", "all")
COMMITS = ("kept/spark/offsets", "kept/spark/commits", "kept/sqlwin/progress", "cut/totals")
RANDOM = "a moment"
WORKERS = ("worker", "python_streamin", "transform_with_")
"""Those of tasks, and those on the driver; not what has planned the query and is idle."""
CLIENT, SERVER = "fork_client.py", "fork_server"
POLL, LONGEST = 0.002, 900.0
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kill:
    """place: a folder below the run's, where the `nth` new name is waited for. seconds: since the
    start where it is no place, and after that where it is."""

    victim: str
    place: str
    nth: int
    seconds: float


def drawn(rng: random.Random) -> Kill:
    place = rng.choice((RANDOM, *COMMITS, *COMMITS))
    seconds = rng.uniform(2, 14) if place == RANDOM else rng.choice((0.0, rng.uniform(0, 0.1)))
    return Kill(rng.choice(VICTIMS), place, rng.randint(1, 6), seconds)


@dataclass
class Run:
    """A script in a folder of its own. kills: how many have hit."""

    home: Path
    seed: int
    files: int = FILES
    kills: int = 0
    sessions: list[int] = field(default_factory=list)

    def prepare(self) -> None:
        land(self.home, self.files, ROWS, self.seed)
        whole = self.command("embedded", "whole")
        subprocess.run(whole, check=True, capture_output=True)

    def command(self, engine: str, out: str, *more: str) -> list[str]:
        """A batch takes about three of the files."""
        argv = command(self.home, engine, out, *more)
        text = (self.home / f"{out}.sql").read_text()
        (self.home / f"{out}.sql").write_text(text.replace("20000", "5000"))
        return argv

    def start(self) -> subprocess.Popen[bytes]:
        argv = self.command("spark", "cut", "--checkpoint", str(self.home / "kept"), "--drain")
        running = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        self.sessions.append(running.pid)
        return running

    def ends(self, kills: list[Kill]) -> bool:
        """Start it, and kill until it is over; whether it came to its end."""
        running, kill = self.start(), None
        for kill in kills:
            if not self.comes(kill, running):
                break
            hit = victims(running.pid, kill.victim)
            killed_now(hit)
            self.kills += bool(hit)
            if kill.victim not in ("worker", "server"):
                break
        try:
            _, said = running.communicate(timeout=LONGEST)
        finally:
            if kill is None or kill.victim != "driver":  # what it leaves meets the next one
                self.clear(running.pid)
        lines = said.decode().splitlines()
        LOG.info("%s: exit %s: %s", kill, running.returncode, lines[-1:])
        assert kill is not None or running.returncode == 0, said.decode()
        if kill is not None and kill.victim in ("jvm", "worker", "server") and running.returncode:
            assert running.returncode == 1, said.decode()
            assert lines[-1].startswith("failed: ") and b"Traceback" not in said, said.decode()
        return running.returncode == 0

    def comes(self, kill: Kill, running: subprocess.Popen[bytes]) -> bool:
        """Wait for the moment; False where the run ended before."""
        began = time.monotonic()
        folder = self.home / kill.place
        seen, new = names(folder), 0
        while running.poll() is None and time.monotonic() < began + LONGEST:
            if kill.place == RANDOM and time.monotonic() >= began + kill.seconds:
                return True
            now = names(folder)
            new, seen = new + len(now - seen), now
            if new >= kill.nth:
                time.sleep(kill.seconds)
                return True
            time.sleep(POLL)
        return False

    def clear(self, session: int) -> None:
        """No process of a run that is over writes any more."""
        killed_now(victims(session, "all"))

    def compare(self) -> None:
        alike(self.home / "whole", self.home / "cut", self.files)


def names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))  # noqa: PTH208  it is done hundreds of times a second
    except FileNotFoundError:
        return set()


def killed_now(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def victims(session: int, victim: str) -> list[int]:
    """Of the processes of a session those that are to be killed; of its workers one, or the process
    by which Spark knows it."""
    listed = subprocess.check_output(["ps", "-e", "-o", "pid=,sess=,comm=,args="], text=True)
    known = [line.split(None, 3) for line in listed.splitlines()]
    own = {int(each[0]): each[2:] for each in known if len(each) == 4 and int(each[1]) == session}
    if victim == "all":
        return list(own)
    if victim == "driver":
        return [process for process in own if process == session]
    if victim == "jvm":
        return [process for process, (_, said) in own.items() if "java" in said.split()[0]]
    workers = [process for process, (name, _) in own.items() if name in WORKERS]
    if victim == "server":
        return [process for process, (name, _) in own.items() if name == SERVER]
    clients = [process for process, (_, said) in own.items() if CLIENT in said]
    return random.sample(workers + clients, min(1, len(workers + clients)))


def killed(home: Path, seed: int, kills: int, files: int = FILES) -> int:
    """A run that is killed so often, and then compared; how often it was hit."""
    rng = random.Random(seed)
    run = Run(home, seed, files)
    run.prepare()
    while not run.ends([drawn(rng) for _ in range(kills - run.kills)]):
        pass
    for session in run.sessions:
        run.clear(session)
    run.compare()
    return run.kills


def two_at_once(home: Path, seed: int, files: int = FILES) -> tuple[int, int]:
    """Two processes on one checkpoint, then one; how the two ended."""
    run = Run(home, seed, files)
    run.prepare()
    both = [run.start(), run.start()]
    said = [each.communicate(timeout=LONGEST)[1].decode() for each in both]
    for each, text in zip(both, said, strict=True):
        assert each.returncode == 0 or "Traceback" not in text, text
    run.ends([])
    run.compare()
    return both[0].returncode, both[1].returncode


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Kill runs on Spark, and compare their sinks.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    kills, failed, seed = 0, 0, options.seed
    while kills < options.kills:
        folder = Path(mkdtemp())
        try:
            kills += killed(folder, seed, KILLS)
            rmtree(folder)
        except Exception:  # noqa: BLE001  whatever a run does wrong is a finding
            failed += 1
            kills += KILLS
            sys.stdout.write(f"seed {seed}, see {folder}: {format_exc()[-4_000:]}\n")
        seed += 1
        sys.stderr.write(f"{kills} kills, up to seed {seed - 1}, {failed} failed\n")
    sys.stdout.write(f"{kills} kills from seed {options.seed}, {failed} runs failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
