"""Flink's jars, from the package `apache-flink-libraries`, in a folder under build/bench/flink.

They are no dependency of sqlwin's and in no lock: 330 MB that only this benchmark reads.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import py4j

VERSION = "2.3.0"
PACKAGE = f"apache-flink-libraries=={VERSION}"
HOME = Path(__file__).parents[2] / "build" / "bench" / "flink"


class Missing(Exception):
    """Flink cannot be had here; the message says why and what to do."""


def jars(home: Path = HOME, package: str = PACKAGE) -> list[Path]:
    """All that its class path needs, installed the first time."""
    folder = home / package.rpartition("=")[2]
    if not (folder / "complete").exists():
        _install(folder, package)
        (folder / "complete").touch()
    found = sorted((folder / "pyflink" / "lib").glob("*.jar"))
    if not found:
        raise Missing(f"{package} has no jars in pyflink/lib: delete {folder}")
    return [*found, _py4j()]


def _install(folder: Path, package: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    print(f"installing {package} into {folder}", file=sys.stderr, flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    where = ["--quiet", "--no-deps", "--no-compile", "--target", str(folder), package]
    done = subprocess.run([*pip, *where], capture_output=True, text=True, check=False)
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
        raise Missing(
            f"Flink cannot be had here: pip could not install {package}: {words[0]}. "
            f"Where it was installed elsewhere, copy its folder `pyflink` into {folder} "
            "and make an empty file `complete` beside it"
        )


def _py4j() -> Path:
    """Its server, which Python's client came with."""
    share = [Path(py4j.__file__).parents[depth] / "share" for depth in range(1, 5)]
    jars = [*_spark_jars(), *(jar for folder in share for jar in folder.glob("py4j/py4j*.jar"))]
    if not jars:
        raise Missing("no jar of py4j beside PySpark: install PySpark with its jars")
    return jars[0]


def _spark_jars() -> list[Path]:
    import pyspark

    return sorted((Path(pyspark.__file__).parent / "jars").glob("py4j*.jar"))
