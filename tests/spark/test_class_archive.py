"""The archive of Spark's classes: one JVM makes it, the next reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sqlwin.spark.session import class_archive

WHOLE = b"\xba\xab\x0b\xf0and classes"


@pytest.fixture
def java(tmp_path: Path) -> dict[str, str]:
    """A Java home with what is looked at."""
    (tmp_path / "java/lib/server").mkdir(parents=True)
    for name in ("libjvm.so", "classes.jsa"):
        (tmp_path / "java/lib/server" / name).touch()
    return {"JAVA_HOME": str(tmp_path / "java")}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


def made(options: str) -> Path:
    """Where a JVM of these options leaves its archive."""
    return Path(options.split('"')[1].removeprefix("-XX:ArchiveClassesAtExit="))


def test_the_first_makes_it_and_the_next_reads_it(home: Path, java: dict[str, str]) -> None:
    first = class_archive.options(home, java)
    assert "-XX:ArchiveClassesAtExit=" in first
    made(first).write_bytes(WHOLE)
    read = class_archive.options(home, java)
    assert f"-XX:SharedArchiveFile={made(first).with_suffix('')}" in read
    assert [each.name for each in home.iterdir()] == [made(first).with_suffix("").name]


def test_one_that_is_being_written_is_neither_read_nor_made_again(
    home: Path, java: dict[str, str]
) -> None:
    part = made(class_archive.options(home, java))
    part.write_bytes(bytes(100))
    assert class_archive.options(home, java) == ""
    os.utime(part, (0, 0))
    assert made(class_archive.options(home, java)) == part
    assert not part.exists()


def test_another_java_has_another(home: Path, java: dict[str, str]) -> None:
    before = made(class_archive.options(home, java))
    os.utime(Path(java["JAVA_HOME"]) / "lib/server/libjvm.so", (0, 0))
    assert made(class_archive.options(home, java)) != before


def test_one_that_others_may_write_is_not_read(home: Path, java: dict[str, str]) -> None:
    path = made(class_archive.options(home, java)).with_suffix("")
    path.write_bytes(WHOLE)
    path.chmod(0o666)
    assert "ArchiveClassesAtExit" in class_archive.options(home, java)


def test_those_that_nobody_has_used_for_long_are_deleted(home: Path, java: dict[str, str]) -> None:
    old, part, used = (home / f"spark-{name}" for name in ("a.jsa", "b.jsa.12", "c.jsa"))
    for each in (old, part, used):
        each.write_bytes(WHOLE)
    for each in (old, part):
        os.utime(each, (0, 0))
    made(class_archive.options(home, java)).write_bytes(WHOLE)
    class_archive.options(home, java)
    assert [each.exists() for each in (old, part, used)] == [False, False, True]


def test_a_java_of_another_kind_has_none(home: Path, java: dict[str, str]) -> None:
    (Path(java["JAVA_HOME"]) / "lib/server/classes.jsa").unlink()
    assert class_archive.options(home, java) == ""


@pytest.mark.parametrize("environment", [{"SQLWIN_CACHE": ""}, {"JAVA_HOME": "/nowhere"}])
def test_none_without_a_cache_or_a_java(environment: dict[str, str]) -> None:
    assert class_archive.options(environment={**os.environ, **environment}) == ""


@pytest.mark.spark
def test_a_jvm_makes_and_reads_it(home: Path) -> None:
    """The program is nothing of Spark's: it asks the JVM what it shares."""
    java = class_archive.java_home()
    if java is None or not class_archive.options(home):
        pytest.skip("its Java has no archive")

    def ran() -> str:
        options = class_archive.options(home).replace('"', "").split()
        command = [str(java / "bin" / "java"), *options, "-cp", classes(), "scala.util.Properties"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return " ".join(options) + done.stdout

    assert "ArchiveClassesAtExit" in ran()
    assert "SharedArchiveFile" in ran()
    assert len(list(home.glob("*.jsa"))) == 1


def classes() -> str:
    import pyspark

    (library,) = (Path(pyspark.__file__).parent / "jars").glob("scala-library*.jar")
    assert shutil.which("java") or os.environ.get("JAVA_HOME")
    return str(library)
