"""The JVM's archive of Spark's classes in the user's cache: read by a start, made by the first.

A start of Spark loads and verifies thousands of classes. From an archive (Java's application
class-data sharing) that takes half of the CPU. The JVM that finds none makes one when it ends,
under a name of its own; a later start renames it once it is whole.

Invariant: nothing depends on it. The JVM itself checks that an archive is of its own version and
of these jars, and goes on without one that is not.
"""

from __future__ import annotations

import os
import shutil
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pyspark

from sqlwin.system import user_cache

SUFFIX = ".jsa"
QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""Of an archive that does not fit the JVM would say so on stdout."""
LONGEST_SECONDS = 600
"""After which an archive that is not whole will not be."""
UNUSED_SECONDS = 30 * 86400


def options(home: Path | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """Those of a JVM that reads the archive, or makes it. home: None: the user's cache."""
    home = home or user_cache.folder(environment)
    java = java_home(environment)
    if home is None or java is None:
        return ""
    library = java / "lib" / "server" / "libjvm.so"
    if not library.with_name("classes.jsa").exists():  # what an archive adds to: another JVM
        return ""
    made_of = (str(java), str(library.stat().st_mtime_ns), pyspark.__version__, pyspark.__file__)
    path = home / f"spark-{user_cache.key(*made_of)}{SUFFIX}"
    with suppress(OSError):
        return _options(path)
    return ""


def _options(path: Path) -> str:
    being_made = False
    for part in path.parent.glob(f"{path.name}.*"):
        if whole(part):
            part.replace(path)
            _clean(path)
        elif part.stat().st_mtime > time.time() - LONGEST_SECONDS:
            being_made = True
        else:
            part.unlink()
    if path.exists() and user_cache.own(path):
        path.touch()
        return f'"-XX:SharedArchiveFile={path}" -Xshare:auto {QUIET}'
    return "" if being_made else f'"-XX:ArchiveClassesAtExit={path}.{os.getpid()}" {QUIET}'


def _clean(path: Path) -> None:
    """Away with archives, whole or not, that nobody has used for long: each has 180 MB."""
    for other in path.parent.glob(f"spark-*{SUFFIX}*"):
        if other.stat().st_mtime < time.time() - UNUSED_SECONDS:
            other.unlink()


def whole(path: Path) -> bool:
    """Whether a JVM has written it to its end: its header comes last."""
    with path.open("rb") as file:
        (magic,) = struct.unpack("=I", file.read(4).rjust(4, b"\0"))
    return bool(magic)


def java_home(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Of the Java that Spark starts."""
    home = environment.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return None if found is None else Path(found).resolve().parents[1]
