"""Results as JUnit's XML, which servers that run tests read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from sqlwin.testing.runner import Result

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no character for, escaped or not: a reader refuses the file."""


def write(results: Sequence[Result], path: Path) -> None:
    """One suite for each engine, one case for each golden."""
    root = ElementTree.Element("testsuites")
    for engine in dict.fromkeys(result.engine for result in results):
        _suite(root, engine, [result for result in results if result.engine == engine])
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _suite(root: ElementTree.Element, engine: str, results: Sequence[Result]) -> None:
    counted = [result.status for result in results]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=f"sqlwin on {engine}",
        tests=str(len(results)),
        failures=str(counted.count("failed")),
        skipped=str(counted.count("gap")),
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        folder, _, name = result.golden.name.rpartition("/")
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=".".join([engine, *folder.split("/")]).rstrip("."),
            name=name,
            time=f"{result.seconds:.3f}",
        )
        if result.status == "failed":
            why = _legal(result.why)
            failure = ElementTree.SubElement(case, "failure", message=why.splitlines()[0])
            failure.text = why
        elif result.status == "gap":
            ElementTree.SubElement(case, "skipped", message=_legal(result.golden.gaps[engine]))


def _legal(text: str) -> str:
    r"""Characters that XML lacks as a golden writes those that end a line.

    >>> _legal("a\x1bb\n")
    'a\\u001bb\n'
    """
    return FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
