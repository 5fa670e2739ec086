"""Python workers that are forked are to Spark what it would have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwin.spark.workers import launch
from sqlwin.spark.workers.fork_client import SERVER

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks are for Linux")
Start = Callable[..., "subprocess.Popen[str]"]
AWAKE = "import os, sys, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n"
BUSY = """
import os, polars as pl, pyarrow as pa, pyarrow.parquet as pq, sys
from concurrent.futures import ThreadPoolExecutor
frame = pl.DataFrame({"k": [n % 7 for n in range(50_000)], "v": range(50_000)})
pq.write_table(frame.to_arrow(), sys.argv[1])
def total(_):
    read = pl.scan_parquet(sys.argv[1]).group_by("k").agg(pl.col("v").sum()).sort("k").collect()
    return read["v"].sum() + pa.compute.sum(pq.read_table(sys.argv[1])["v"]).as_py()
with ThreadPoolExecutor(4) as pool:
    print(set(pool.map(total, range(8))))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    """The environment of a JVM whose workers a server forks."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launch, "_started", [])
        patched.setenv(SERVER, "")
        patched.setenv("SQLWIN_WORKER_PYTHON", sys.executable)
        launch.start_fork_server()
        yield dict(os.environ)
        launch.end(launch._started[0])


@pytest.fixture
def start(server: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Start a worker: its module's text and arguments."""
    running = []

    def started(text: str, *arguments: str, environment: Any = server) -> subprocess.Popen[str]:
        (tmp_path / "of_a_worker.py").write_text(text)
        running.append(
            subprocess.Popen(
                [launch.worker_python(), "-m", "of_a_worker", *arguments],
                env={**environment, "PYTHONPATH": str(tmp_path), "OF_IT": "its own"},
                cwd=tmp_path,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return running[-1]

    yield started
    for each in running:
        each.kill()
        each.communicate()


def gone(process: int) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_it_has_its_arguments_environment_folder_and_streams(start: Start, tmp_path: Path) -> None:
    worker = start(
        "import os, sys\n"
        "print(sys.argv[1:], os.environ['OF_IT'], os.getcwd(), sys.stdin.read(), __name__)\n"
        "print('on stderr', 'sqlwin.spark.stages.bucket' in sys.modules, file=sys.stderr)\n",
        "a b",
        "c",
    )
    said, told = worker.communicate("given")
    assert said == f"['a b', 'c'] its own {tmp_path} given __main__\n"
    assert told == "on stderr True\n"
    assert worker.returncode == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        ("raise ValueError('x')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_it_ends_as_its_worker(start: Start, text: str, code: int) -> None:
    worker = start(text)
    worker.communicate()
    assert worker.returncode == code


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_its_worker_ends_with_it(start: Start, how: signal.Signals) -> None:
    worker = start(AWAKE)
    assert worker.stdout is not None
    process = int(worker.stdout.readline())
    assert process != worker.pid
    worker.send_signal(how)
    assert gone(process)
    assert worker.wait(30) == -how


def test_many_at_once_use_what_was_imported_before_the_fork(start: Start, tmp_path: Path) -> None:
    workers = [start(BUSY, str(tmp_path / f"{n}.parquet")) for n in range(6)]
    said = {worker.communicate(timeout=120)[0] for worker in workers}
    assert said == {f"{{{sum(range(50_000)) * 2}}}\n"}


def test_the_server_has_no_threads_but_those_of_allocators(start: Start) -> None:
    start("pass").communicate()  # the server is up
    tasks = Path(f"/proc/{launch._started[0].pid}/task").glob("*/comm")
    names = [each.read_text().strip() for each in tasks]
    known = ("jemalloc_bg_thd", "polars-ooc-clea")  # they wait; Polars' deletes files of spills
    assert len([name for name in names if name not in known]) == 1


def test_a_worker_is_named_for_its_module(start: Start) -> None:
    worker = start(AWAKE)
    assert worker.stdout is not None
    process = worker.stdout.readline().strip()
    assert Path(f"/proc/{process}/comm").read_text() == "of_a_worker\n"


def test_the_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = (
        "import os\nfrom sqlwin.spark.workers import launch\nlaunch.start_fork_server()\n"
        "print(launch._started[0].pid, os.environ[launch.SERVER], flush=True)\nos._exit(0)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert gone(int(said[0]))
    assert not Path(said[1]).parent.exists()


def test_a_long_folder_of_temporary_files_is_none_for_sockets(tmp_path: Path) -> None:
    """A socket's path has 107 bytes at most."""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    code = (
        "import os\nfrom sqlwin.spark.workers import launch\nlaunch.start_fork_server()\n"
        "print(len(os.environ[launch.SERVER]), flush=True)\n"
    )
    environment = {**os.environ, "TMPDIR": str(long)}
    said = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert 0 < int(said) < 108
    assert not list(long.iterdir())


def test_without_a_server_it_is_plain_python(
    server: dict[str, str], start: Start, tmp_path: Path
) -> None:
    """As where the server was killed: its socket is there, and nobody answers."""
    import socket

    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(tmp_path / "socket"))
    gone_server = {**server, SERVER: str(tmp_path / "socket")}
    text = "import sys\nprint('sqlwin.spark.stages.bucket' in sys.modules)"
    for environment in (gone_server, {**server, SERVER: ""}):
        assert start(text, environment=environment).communicate()[0] == "False\n"
