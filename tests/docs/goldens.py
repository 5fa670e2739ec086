"""Fill what the goldens of pages expect: `python -m tests.docs.goldens docs/cookbook/joins.md …`.

As `make golden-rewrite` does: it is the reference that says what to expect.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sqlwin.testing.checks import rewritten
from sqlwin.testing.golden import parse, render
from tests.golden.hosts import REFERENCE

GOLDEN = re.compile(r"(?<=^```golden\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def filled(match: re.Match[str]) -> str:
    golden = parse("page", match[0])
    return render(rewritten(golden, REFERENCE.run([golden])[golden.name])).rstrip() + "\n"


def main(pages: list[str]) -> None:
    for page in map(Path, pages):
        text = page.read_text("utf-8")
        page.write_text(GOLDEN.sub(filled, text), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
