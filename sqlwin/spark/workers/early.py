"""A Python worker that connects to Spark before it imports anything: `early.py -m MODULE`.

Spark starts two kinds of Python processes. Workers of tasks are forked by a daemon, which it
waits for as long as that takes. Those on the driver, which plan the batches of a source and
initialise the state of an operator, are started one by one, and each must connect within
10 seconds: a number in the JVM's code that no setting changes. PySpark imports itself,
NumPy and Arrow before it connects, some 0.4 s of a core; with 25 processes for
a core that takes longer than 10 s, and the query ends with "Python worker failed to connect
back". Here the connection comes first, after some 0.03 s of a core.

Invariant: what Spark reads and writes on the connection is what it would be without this
file; `MODULE` runs as with `python -m`, and only finds its connection open already.

Nothing of sqlwin is imported, nor anything but the standard library before the connection.
"""

from __future__ import annotations

import os
import runpy
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

PORT, PATH = "PYTHON_WORKER_FACTORY_PORT", "PYTHON_WORKER_FACTORY_SOCK_PATH"
SECRET = "PYTHON_WORKER_FACTORY_SECRET"
CONNECT = "local_connect_and_auth"
Connection = tuple[BinaryIO, socket.socket]
Connect = Callable[..., Connection]


def connected(environment: Mapping[str, str]) -> Connection:
    """The connection that `pyspark.util.local_connect_and_auth` would make."""
    path = environment.get(PATH)
    if path:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect(path)
    else:
        ipv6 = environment.get("SPARK_PREFER_IPV6", "false").lower() == "true"
        made = socket.create_connection(("::1" if ipv6 else "127.0.0.1", int(environment[PORT])))
    made.settimeout(int(environment.get("SPARK_AUTH_SOCKET_TIMEOUT", 15)))
    file: Any = made.makefile("rwb", int(environment.get("SPARK_BUFFER_SIZE", 65536)))
    if not path:
        _authenticate(file, environment[SECRET].encode())
    return file, made


def _authenticate(file: BinaryIO, secret: bytes) -> None:
    """Say the secret, read `ok`; each is a length of four bytes and a text."""
    file.write(struct.pack("!i", len(secret)) + secret)
    file.flush()
    (length,) = struct.unpack("!i", file.read(4))
    if file.read(length) != b"ok":
        raise ConnectionError("Spark does not know the secret of this worker")


def first(connection: Connection, connect: Connect) -> Connect:
    """`connect`, whose first call gives the connection that is open already."""
    waiting = [connection]

    def given(*where: Any) -> Connection:
        return waiting.pop() if waiting else connect(*where)

    return given


def main(module: str, arguments: list[str]) -> None:
    connection = connected(os.environ)
    sys.path[0] = str(Path.cwd())  # as `python -m` has it, in place of this file's folder
    from pyspark import util, worker_util

    given = first(connection, getattr(util, CONNECT))
    for each in (util, worker_util):
        setattr(each, CONNECT, given)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1:2] != ["-m"]:
        sys.exit("usage: early.py -m MODULE")
    main(sys.argv[2], sys.argv[3:])
