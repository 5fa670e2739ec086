"""A Python worker of the driver connects before it imports anything."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sqlwin.spark.session.local import local_settings
from sqlwin.spark.workers import early
from sqlwin.spark.workers.fork_client import SERVER
from sqlwin.spark.workers.launch import worker_python

RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"


def started(module: str, **environment: str) -> subprocess.Popen[bytes]:
    known = {**os.environ, "SQLWIN_WORKER_PYTHON": sys.executable, SERVER: "", **environment}
    return subprocess.Popen([worker_python(), "-m", module], env=known, stderr=subprocess.PIPE)


def test_it_says_the_secret_and_then_its_number_as_pyspark_does() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        worker = started(RUNNER, PYTHON_WORKER_FACTORY_PORT=port, PYTHON_WORKER_FACTORY_SECRET="x1")
        with server.accept()[0] as connection, connection.makefile("rwb") as file:
            assert file.read(6) == struct.pack("!i", 2) + b"x1"
            file.write(struct.pack("!i", 2) + b"ok")
            file.flush()
            assert struct.unpack("!i", file.read(4)) == (worker.pid,)
    worker.communicate()


def test_it_connects_before_it_imports() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = str(Path(folder) / "sock")
        server.bind(path)
        server.listen()
        worker = started("no.module.of_this_name", PYTHON_WORKER_FACTORY_SOCK_PATH=path)
        server.settimeout(60)
        server.accept()[0].close()
    _, said = worker.communicate()
    assert b"No module named" in said


def test_a_wrong_secret_ends_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        worker = started(RUNNER, PYTHON_WORKER_FACTORY_PORT=port, PYTHON_WORKER_FACTORY_SECRET="x")
        with server.accept()[0] as connection:
            connection.sendall(struct.pack("!i", 3) + b"err")
            _, said = worker.communicate()
    assert b"does not know the secret" in said


def test_other_processes_are_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLWIN_WORKER_PYTHON", sys.executable)
    for name in (early.PORT, early.PATH):
        monkeypatch.delenv(name, raising=False)
    said = subprocess.check_output([worker_python(), "-c", "import sys; print(sys.path[0] == '')"])
    assert said.split() == [b"True"]


def test_the_connection_is_given_once() -> None:
    def connect(*where: object) -> early.Connection:
        raise LookupError(where)

    made = object()
    given = early.first(made, connect)  # type: ignore[arg-type]
    assert given("here") is made
    with pytest.raises(LookupError, match="there"):
        given("there")


def test_a_busy_machine_has_minutes() -> None:
    assert local_settings(2)["spark.python.authenticate.socketTimeout"] == "600s"


@pytest.mark.parametrize(
    ("module", "without"),
    [
        (
            "sqlwin.spark.sources.source",
            {"numpy", "polars", "pyarrow", "duckdb", "sqlglot", "lark"},
        ),
        ("sqlwin.spark.sources.reader", {"duckdb", "sqlglot", "lark", "pandas", "sqlwin.sql"}),
        ("sqlwin.spark.stages.bucket", {"duckdb", "sqlglot", "lark", "sqlwin.sql"}),
        ("sqlwin.spark.workers.early", {"pyspark", "numpy"}),
    ],
)
def test_a_process_of_spark_imports_what_it_needs(module: str, without: set[str]) -> None:
    assert not without & imported(module)


def imported(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


@pytest.mark.parametrize(
    ("module", "most"),
    [
        ("sqlwin.spark.sources.source", 5),
        ("sqlwin.spark.sources.reader", 216),
        ("sqlwin.spark.stages.bucket", 200),
    ],
)
def test_modules_of_a_process_of_spark(module: str, most: int) -> None:
    assert sum(name.partition(".")[0] == "sqlwin" for name in imported(module)) <= most
