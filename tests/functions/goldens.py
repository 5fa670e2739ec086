"""The expressions of Spark's own tests and manuals: its live answer against sqlwin's.

    python -m tests.functions.goldens --jar spark-sql_2.13-4.2.0-tests.jar --answers /tmp/goldens.gz
    python -m tests.functions.goldens --answers /tmp/goldens.gz --show silent,unraised,crash
    python -m tests.functions.goldens --examples --answers /tmp/examples.gz

The jar is of Spark's published tests; `--examples` takes what `DESCRIBE FUNCTION EXTENDED` shows
instead. Of their SELECTs without FROM, or FROM VALUES, each item that is a scalar is one case.
What the files expect is not read: the pinned PySpark answers. With `--answers` these are written
to a file, and read from it where it is there already; nothing of them belongs in the repository
but how many are of which class, `goldens.txt`: `--expect jar` fails where a class that is worse
than `near` has grown.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tests.functions.classes import CLASSES, Verdict
from tests.functions.live import NOTHING, Answered, Over, compared, read, written
from tests.functions.oracle import Oracle, failures, session
from tests.functions.statements import Select, split

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUERY = re.compile(r"^-- !query\n(.*?)\n-- !query (?:schema|analysis)$", re.M | re.S)
_EXAMPLE = re.compile(r"^\s*> (SELECT.*?);$", re.M | re.S)
_VOLATILE = re.compile(
    r"\b(current_\w+|curdate|now|localtime\w*|rand\w*|uuid|uniform|shuffle|user|session_user|version"
    r"|monotonically_increasing_id|spark_partition_id|input_file_\w+|reflect|java_method|try_reflect)\b"
    r"|'(now|today|tomorrow|yesterday)'",
    re.I,
)
KEPT = Path(__file__).with_name("goldens.txt")
"""A line for each set: its name, and a count for each class."""
Text = tuple[str, str]
"""Subject, statement."""


def of_jar(path: Path) -> Iterator[Text]:
    with zipfile.ZipFile(path) as jar:
        for name in sorted(jar.namelist()):
            if re.fullmatch(r"sql-tests/results/.*\.out", name):
                text = jar.read(name).decode("utf-8")
                yield from ((Path(name).name.split(".")[0], each) for each in _QUERY.findall(text))


def of_manual(spark: SparkSession) -> Iterator[Text]:
    for (name,) in spark.sql("SHOW SYSTEM FUNCTIONS").collect():
        reported = spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect()
        shown = "\n".join(line[0] for line in reported)
        yield from (("examples", each) for each in _EXAMPLE.findall(shown))


def selects(texts: Iterable[Text]) -> Iterator[tuple[str, Select]]:
    """Each once, of the subject that has it first."""
    seen: set[Select] = set()
    for subject, text in texts:
        found = split(text)
        if found is not None and found not in seen and not _VOLATILE.search(text):
            seen.add(found)
            yield subject, found


def answered(spark: SparkSession, texts: Iterable[Text]) -> Iterator[Answered]:
    """Each item once, over the rows it reads."""
    oracles: dict[str, Oracle | None] = {"": Oracle(spark, NOTHING)}
    seen: set[tuple[str, str]] = set()
    for subject, select in selects(list(texts)):
        if select.source not in oracles:
            table = _table(spark, select.source)
            oracles[select.source] = None if table is None else Oracle(spark, table)
        oracle = oracles[select.source]
        if oracle is None:
            continue
        oracle.shown()
        for item in select.items:
            if (item, select.source) not in seen and oracle.is_scalar(item):
                seen.add((item, select.source))
                case = Over(subject, item, oracle.rows)
                yield case, oracle.answer(case)


def _table(spark: SparkSession, source: str) -> pa.Table | None:
    """Its rows; None where it is none, or of types that are no columns."""
    try:
        found: Any = spark.sql(f"SELECT * FROM {source}").toArrow()
    except (*failures(), pa.ArrowException):
        return None
    distinct = len(set(map(str.lower, found.column_names))) == found.num_columns
    return found if distinct and found.num_rows else None


def parsed(jar: Path | None) -> list[Answered]:
    """Of Spark."""
    with session() as spark:
        return list(answered(spark, of_manual(spark) if jar is None else of_jar(jar)))


def grown(name: str, found: Iterable[Verdict]) -> list[str]:
    """The classes of which there are more than `goldens.txt` has."""
    kinds = [each.kind for each in found]
    lines = [line.split() for line in KEPT.read_text("utf-8").splitlines() if line[:1] != "#"]
    (kept,) = (list(map(int, counts)) for of, *counts in lines if of == name)
    pairs = list(zip(CLASSES, kept, strict=True))[CLASSES.index("near") + 1 :]
    return [f"{kinds.count(k)} {k}, not {n}" for k, n in pairs if kinds.count(k) > n]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.functions.goldens")
    parser.add_argument("--jar", type=Path)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--show", default="", help="classes, separated by commas, or all")
    parser.add_argument("--expect", default="", help="jar or manual: a line of goldens.txt")
    given = parser.parse_args()
    kept: Path | None = given.answers
    if kept is None or not kept.exists():
        if given.jar is None and not given.examples:
            parser.error("--jar or --examples, or --answers that were written before")
        found = parsed(None if given.examples else given.jar)
        if kept is not None:
            written(kept, found)
    else:
        found = list(read(kept))
    verdicts = compared(found, given.show).values()
    worse = grown(given.expect, verdicts) if given.expect else []
    if worse:
        sys.exit(f"there are more than {KEPT.name} has: {'; '.join(worse)}")


if __name__ == "__main__":
    main()
