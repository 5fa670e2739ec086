"""The pages of the docs, and their code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PAGES = [
    REPO / "README.md",
    *sorted((REPO / "docs").rglob("*.md")),
    *sorted((REPO / "queries").glob("**/README.md")),
]
SHELL = ("shell", "sh", "bash", "console")


@dataclass(frozen=True)
class Block:
    """kind: what stands behind the opening fence. line: of that fence."""

    page: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPO)}:{self.line}"


def blocks(*kinds: str) -> list[Block]:
    return [block for page in PAGES for block in page_blocks(page) if block.kind in kinds]


def page_blocks(page: Path) -> Iterator[Block]:
    kind, lines, began = None, [], 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif kind is None:
            kind, lines, began = line[3:].strip(), [], number
        else:
            yield Block(page, began, kind, "\n".join(lines))
            kind = None
    assert kind is None, f"{page.relative_to(REPO)}: the block of line {began} is never closed"


def each(found: list[Block]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", found, ids=str)


def links(page: Path) -> Iterator[tuple[str, str]]:
    """(path, anchor) of every relative link outside of blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor
