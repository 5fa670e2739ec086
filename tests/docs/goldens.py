"""Fill what the goldens of pages expect: `python -m tests.docs.goldens docs/cookbook/joins.md …`.

As `make golden-rewrite` does: it is the reference that says what to expect. A golden whose query is
refused, and whose steps so have no results, is reported and stays as it is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sqlwin.testing.checks import rewritten, unwritten
from sqlwin.testing.golden import parse, render
from tests.golden.hosts import REFERENCE

GOLDEN = re.compile(r"(?<=^```golden\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def main(pages: list[str]) -> int:
    """1 where a golden could not be written."""
    failed = 0

    def filled(match: re.Match[str]) -> str:
        nonlocal failed
        golden = parse("page", match[0])
        found = REFERENCE.run([golden])[golden.name]
        why = unwritten(golden, found)
        if why is None:
            return render(rewritten(golden, found)).rstrip() + "\n"
        sys.stderr.write(f"{page}: {golden.head.get('title', 'a golden')} is not written: {why}\n")
        failed = 1
        return match[0]

    for page in map(Path, pages):
        text = page.read_text("utf-8")
        page.write_text(GOLDEN.sub(filled, text), "utf-8")
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
