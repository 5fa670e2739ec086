"""Write what the goldens expect: `python -m tests.golden.rewrite [name …]`.

It is the reference that says what to expect. Titles, reasons, queries and steps stay. A golden
whose query is refused, and whose steps so have no results, is reported and stays as it is.
"""

from __future__ import annotations

import sys

from sqlwin.testing.checks import rewritten, unwritten
from sqlwin.testing.golden import render
from tests.golden.files import goldens, path_of
from tests.golden.hosts import REFERENCE


def main(names: list[str]) -> int:
    """1 where a golden could not be written."""
    failed = 0
    for golden in goldens():
        if names and not any(name in golden.name for name in names):
            continue
        found = REFERENCE.run([golden])[golden.name]
        why = unwritten(golden, found)
        if why is not None:
            sys.stderr.write(f"{golden.name} is not written: {why}\n")
            failed = 1
            continue
        text = render(rewritten(golden, found))
        if text != path_of(golden).read_text(encoding="utf-8"):
            path_of(golden).write_text(text, encoding="utf-8")
            print(golden.name)
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
