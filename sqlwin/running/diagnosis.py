"""What a machine has of what sqlwin needs: Python, Java, memory, disk, packages, and a Spark that
starts.

>>> print(Finding(MISSING, "Kafka", "confluent-kafka is not installed", "pip install x").line())
missing  Kafka        confluent-kafka is not installed: pip install x
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from sqlwin.errors import RunError, SqlwinError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Summary
from sqlwin.sql import script

OK, MISSING, WARNING, FAILED = "ok", "missing", "warning", "failed"
"""missing: what only some runs need."""
PYTHON, JAVA = (3, 10), 17
MEMORY, DISK = 2, 2
"""GB without which a run on Spark is likely to fail."""
INSTALL_JAVA = "install a JRE, as root: apt-get install openjdk-17-jre-headless; or set JAVA_HOME"
PACKAGES = (
    ("Kafka", "confluent_kafka", "kafka"),
    ("Avro", "fastavro", "kafka"),
    ("PostgreSQL", "psycopg", "postgres"),
    ("Delta Lake", "deltalake", "delta"),
    ("Iceberg", "pyiceberg", "iceberg"),
    ("Pictures", "altair", "charts"),
    ("Notebooks", "IPython", "notebook"),
)
"""What it is for, the module, the extra that brings it."""
QUERY = """
CREATE STREAM rows (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (path = 'rows.jsonl');
SELECT SUM(n) AS n FROM TUMBLE(TABLE rows, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end
"""
_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_GB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """state: as above. mend: what to do; "" where nothing is to be done."""

    state: str
    of: str
    what: str
    mend: str = ""

    def line(self) -> str:
        mend = f": {self.mend}" if self.mend else ""
        return f"{self.state:<7}  {self.of:<11}  {self.what}{mend}"


def findings(starts: bool = True) -> Iterator[Finding]:
    """One after the other, as they are known. starts: whether a row goes through both engines,
    which takes seconds."""
    yield _python()
    java = _java()
    yield java
    yield _memory()
    yield _disk(Path(tempfile.gettempdir()))
    for name, module, extra in PACKAGES:
        yield _package(name, module, extra)
    if starts:
        yield _in_process()
        if java.state == OK:
            yield _on_spark()


def _python() -> Finding:
    own = importlib.metadata.version("sqlwin")
    found = f"{platform.python_version()}, sqlwin {own}, {sys.executable}"
    if sys.version_info < PYTHON:
        return Finding(FAILED, "Python", found, "it needs Python 3.10 or newer")
    return Finding(OK, "Python", found)


def _java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return Finding(FAILED, "Java", "there is none on the path", INSTALL_JAVA)
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as failure:
        return Finding(FAILED, "Java", f"{java} does not start, {failure.strerror}", INSTALL_JAVA)
    version = _VERSION.search(told.stderr + told.stdout)
    if version is None or int(version[1]) < JAVA:
        said = (told.stderr + told.stdout).strip().partition("\n")[0]
        return Finding(
            FAILED, "Java", f"{java} is {said or 'no Java'}; Spark needs 17", INSTALL_JAVA
        )
    return Finding(OK, "Java", f"{version[1]}, {java}")


def _memory() -> Finding:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    found = f"{whole:.0f} GB, {os.cpu_count()} cores"
    if whole < MEMORY:
        return Finding(WARNING, "Memory", found, "Spark wants 2 GB; run with --engine embedded")
    return Finding(OK, "Memory", found)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / _GB
    found = f"{free:.0f} GB free in {folder}"
    if free < DISK:
        return Finding(WARNING, "Disk", found, "state without --checkpoint lies there; set TMPDIR")
    return Finding(OK, "Disk", found)


def _package(name: str, module: str, extra: str) -> Finding:
    if importlib.util.find_spec(module) is None:
        mend = f"pip install 'sqlwin[{extra}]'"
        return Finding(MISSING, name, f"{module} is not installed", mend)
    package = module.replace("_", "-").lower()
    return Finding(OK, name, f"{package} {importlib.metadata.version(package)}")


def _in_process() -> Finding:
    from sqlwin.embedded.run import run  # here: the rest wants no engine

    return _tried("In process", lambda: _row_goes_through(run))


def _on_spark() -> Finding:
    from sqlwin.spark.run import run

    found = _tried("Spark", lambda: _row_goes_through(run))
    version = importlib.metadata.version("pyspark")
    return replace(found, what=f"{version}, {found.what}")


def _tried(of: str, one: Callable[[], None]) -> Finding:
    began = time.monotonic()
    try:
        one()
    except (SqlwinError, OSError) as failure:
        return Finding(FAILED, of, "no row went through a query", str(failure).partition("\n")[0])
    return Finding(OK, of, f"a row went through a query in {time.monotonic() - began:.1f} s")


def _row_goes_through(run: Callable[[Script, RunOptions], Summary]) -> None:
    with tempfile.TemporaryDirectory(prefix="sqlwin-doctor-", ignore_cleanup_errors=True) as home:
        (Path(home) / "rows.jsonl").write_text('{"n": 1, "ts": "2024-01-01T00:00:00Z"}\n')
        summary = run(script(QUERY), RunOptions(Path(home), drain=True))
    if summary.emitted != 1:
        raise RunError(f"{summary.emitted} results of one row")
