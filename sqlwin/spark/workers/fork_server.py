"""The process that Spark's Python workers are forked from: `fork_server FD`.

It imports what they need while the JVM starts, and forks one for each client (`fork_client`) of
the listening socket `FD`. It ends when its stdin does, which the process that started it holds,
and takes the folder of the socket with it; its workers go on, and end with the JVM.

Invariant: it has no threads of its own and uses nothing that it has imported, so a fork finds no
lock held. (Allocators of libraries have background threads; they care for forks themselves.)
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path

from sqlwin.lazy_dataclass import dataclass
from sqlwin.spark.workers.fork_client import NUMBER, Request, received

PRELOADED = (
    *("pyspark.worker", "pyspark.sql.worker.lookup_data_sources"),
    *("pyspark.sql.worker.create_data_source", "pyspark.sql.worker.plan_data_source_read"),
    *("pyspark.sql.streaming.stateful_processor_util", "pyspark.sql.streaming.stateful_processor"),
    *("sqlwin.spark.sources.source", "sqlwin.spark.stages.bucket"),
    *("sqlwin.kernels.folds.sketches.percentiles", "sqlwin.kernels.folds.full_state.collects"),
)
"""Not what Spark runs as a main module: it is to be a new one in each process."""
COMM = "/proc/self/comm"


@dataclass
class ForkServer:
    """clients: the connection of each process that runs."""

    listening: socket.socket
    clients: dict[int, socket.socket] = field(default_factory=dict)
    waiting: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    woken: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)

    def serve(self) -> Request | None:
        """Until there is no driver any more: None. In each process that is forked: its request."""
        for end in self.woken:
            end.setblocking(False)
        signal.set_wakeup_fd(self.woken[1].fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)  # to be woken
        self.waiting.register(0, selectors.EVENT_READ)
        self.waiting.register(self.woken[0], selectors.EVENT_READ, self._reap)
        self.waiting.register(self.listening, selectors.EVENT_READ, self._accept)
        while True:
            for key, _ in self.waiting.select():
                if key.data is None:
                    return None
                request: Request | None = key.data()
                if request is not None:
                    return request

    def _accept(self) -> Request | None:
        client, _ = self.listening.accept()
        try:
            request, descriptors = received(client)
        except (OSError, EOFError):
            client.close()
            return None
        process = os.fork()
        if not process:
            self._leave()
            client.close()
            _become(request, descriptors)
            return request
        for each in descriptors:
            os.close(each)
        self.clients[process] = client
        self.waiting.register(client, selectors.EVENT_READ, partial(self._client_gone, process))
        _tell(client, process)
        return None

    def _leave(self) -> None:
        """In a process that was forked: nothing of the server's is open, signals are as usual."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.waiting.close()
        for each in (*self.woken, self.listening, *self.clients.values()):
            each.close()

    def _client_gone(self, process: int) -> None:
        """It sends nothing more, so it was killed."""
        self.waiting.unregister(self.clients[process])
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            while self.woken[0].recv(4096):
                pass
        while self.clients:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            client = self.clients.pop(process)
            with suppress(KeyError):
                self.waiting.unregister(client)
            _tell(client, os.waitstatus_to_exitcode(status))
            client.close()


def _tell(client: socket.socket, number: int) -> None:
    with suppress(OSError):  # it was killed
        client.sendall(NUMBER.pack(number))


def _become(request: Request, descriptors: list[int]) -> None:
    """The process that the client stands for."""
    for number, each in enumerate(descriptors):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    more = request.environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = dict.fromkeys([request.folder, *filter(None, more), *sys.path])
    sys.argv = list(request.arguments)
    _name(request.arguments[-1].rpartition(".")[2])


def _name(name: str) -> None:
    """What `ps` and `top` call this process."""
    with suppress(OSError):
        Path(COMM).write_text(name[:15])


def preload() -> None:
    for name in PRELOADED:
        with suppress(ImportError):  # another version of Spark, or no pandas: a worker says so
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a worker would copy all pages


def main(descriptor: int) -> None:
    _name("fork_server")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's
    preload()
    listening = socket.socket(fileno=descriptor)
    folder = Path(listening.getsockname()).parent
    request = ForkServer(listening).serve()
    if request is None:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        runpy.run_module(request.arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
