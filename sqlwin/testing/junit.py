"""Results as JUnit's XML, which servers that run tests read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from sqlwin.testing.runner import Result


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
            failure = ElementTree.SubElement(case, "failure", message=result.why.splitlines()[0])
            failure.text = result.why
        elif result.status == "gap":
            ElementTree.SubElement(case, "skipped", message=result.golden.gaps[engine])
