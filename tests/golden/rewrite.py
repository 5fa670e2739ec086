"""Write what the goldens expect: `python -m tests.golden.rewrite [name …]`.

It is the reference that says what to expect. Titles, reasons, queries and steps stay.
"""

from __future__ import annotations

import sys

from sqlwin.testing.checks import rewritten
from sqlwin.testing.golden import render
from tests.golden.files import goldens, path_of
from tests.golden.hosts import REFERENCE


def main(names: list[str]) -> None:
    for golden in goldens():
        if names and not any(name in golden.name for name in names):
            continue
        text = render(rewritten(golden, REFERENCE.run([golden])[golden.name]))
        if text != path_of(golden).read_text(encoding="utf-8"):
            path_of(golden).write_text(text, encoding="utf-8")
            print(golden.name)


if __name__ == "__main__":
    main(sys.argv[1:])
