"""A Spark for local runs, set for what it does here: little row work, few cores.

The JVM only moves binary rows, so its optimising compiler and its parallel
collector would take the cores from the Python workers. A session that exists
already, such as a cluster's, keeps its settings but for those a query needs.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import accumulators
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

from sqlwin.errors import InputError, RunError
from sqlwin.spark.session import class_archive
from sqlwin.spark.workers.launch import start_fork_server, worker_python

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
NEEDED = {
    PROVIDER: ROCKSDB,
    "spark.sql.session.timeZone": "UTC",
    # a crash may leave half of the first offset; whose checkpoint it is, the manifest says
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
}
PATIENCE = {
    # what is read from a worker within 15 s may come after minutes where the machine is busy
    "spark.python.authenticate.socketTimeout": "600s",
    "spark.network.timeout": "600s",
}
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
FEW_CORES = 4
_GB = 1 << 30


def local_session(cores: int | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """A quiet local session, or the active one. cores: all of the machine by default."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return needed(active)
    _environment()
    _without_tracebacks()
    count = cores or os.cpu_count() or 1
    builder = SparkSession.builder.master(f"local[{count}]").appName("sqlwin")
    own = local_settings(count)
    own[JAVA_OPTIONS] = f"{own[JAVA_OPTIONS]} {class_archive.options()}".strip()
    for name, value in {**own, **(settings or {})}.items():
        builder = builder.config(name, value)
    with _started(), _stderr_to(log_file()):
        start_fork_server()
        spark = builder.getOrCreate()
    atexit.register(stop, spark)  # without it the JVM may outlive us
    return spark


@contextmanager
def _started() -> Iterator[None]:
    """RunError where the JVM ends before it is up: there is no Java, or somebody killed it."""
    try:
        yield
    except PySparkRuntimeError as failure:
        why = f"Spark did not start: {_last_words(log_file())}"
        raise RunError(f"{why}; it needs Java 17 or newer, see {log_file()}") from failure


def _last_words(log: Path) -> str:
    """The last line of Java's, and not of the script of Spark's that starts it."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    own = [line for line in lines if line and "/bin/spark-class: line " not in line]
    return own[-1] if own else "its JVM has ended"


def _without_tracebacks() -> None:
    """Where the JVM ends its connections break, and a thread of PySpark's would print how."""
    for server in (accumulators.AccumulatorTCPServer, accumulators.AccumulatorUnixServer):
        setattr(server, "handle_error", _silent)  # noqa: B010  mypy takes it for a method


def _silent(server: object, request: object, client: object) -> None:
    pass


def stop(spark: SparkSession) -> None:
    """At the end of the process; of a JVM that has ended already there is nothing to say."""
    with suppress(Py4JError, OSError):
        spark.stop()


def log_file() -> Path:
    """Where the JVM of a local session and its workers write what they would say on stderr."""
    return Path(tempfile.gettempdir()) / f"sqlwin-spark-{os.getpid()}.log"


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """The JVM keeps for life the stderr it is started with; ours comes back."""
    sys.stderr.flush()
    kept = os.dup(2)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(log)


def needed(spark: SparkSession) -> SparkSession:
    """The session with the settings without which a query cannot run."""
    for name, value in NEEDED.items():
        spark.conf.set(name, value)
    return spark


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings, and as it was afterwards. InputError for one that Spark
    takes only at its start, where the session has another value."""
    before: dict[str, str | None] = {}
    try:
        for name, value in settings.items():
            known = spark.conf.get(name, None)
            if known != value:
                _set(spark, name, value)
                before[name] = known
        yield
    finally:
        for name, known in before.items():
            if known is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, known)


def _set(spark: SparkSession, name: str, value: str) -> None:
    try:
        spark.conf.set(name, value)
    except PySparkException as failure:
        why = str(failure).splitlines()[0]
        message = f"{name} cannot be {value} in a session that runs: {why}"
        raise InputError(
            f"{message}; legal is --conf of spark-submit, or SparkSession"
        ) from failure


def activated(spark: SparkSession) -> SparkSession:
    """The session, the active one of this thread from now on.

    Spark looks for data sources written in Python in the active session, whichever session reads
    from them, so one registered in another session is refused or not found.
    """
    if SparkSession.getActiveSession() is not spark:
        spark.createDataFrame([], "none INT")  # activates it; there is no call for that alone
    return spark


def local_settings(cores: int) -> dict[str, str]:
    return {
        **NEEDED,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{driver_gigabytes()}g",
        "spark.driver.maxResultSize": "0",
        JAVA_OPTIONS: _java_options(cores),
        "spark.python.worker.reuse": "true",
        # a port is open to strangers: a client whose server is gone is taken for a worker
        "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
        **PATIENCE,
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.adaptive.enabled": "false",
        # payloads are few and big, rows of a DataFrame many and small: bytes bound a batch
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
        "spark.sql.execution.arrow.maxBytesPerBatch": f"{256 << 20}b",
        "spark.sql.streaming.minBatchesToRetain": "3",
        "spark.sql.streaming.pollingDelay": "20ms",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.metricsEnabled": "false",
    }


def driver_gigabytes() -> int:
    """A quarter of the machine, 1 to 16 GB: the workers and the segments need the rest."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    return max(1, min(16, int(whole / 4)))


def _java_options(cores: int) -> str:
    """Measured on 2 cores; with many the JVM's own choice is as good."""
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}"
    return f"{JVM} {quiet}" if cores <= FEW_CORES else quiet


def _environment() -> None:
    """What the JVM hands on to the Python workers; they share the cores, one thread each."""
    os.environ["SQLWIN_WORKER_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = os.environ["PYSPARK_PYTHON"] = worker_python()
    home = str(Path(__file__).parents[3])
    path = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for threads in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS"):
        os.environ.setdefault(threads, "1")
