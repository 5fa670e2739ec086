"""Write what is said of queries: `python -m tests.pairs.rewrite [name …]`."""

from __future__ import annotations

import sys

from tests.pairs.text import files, path_of, rewritten


def main(names: list[str]) -> None:
    for file in files(names):
        text = rewritten(file)
        if text != path_of(file).read_text(encoding="utf-8"):
            path_of(file).write_text(text, encoding="utf-8")
            print(file.name)


if __name__ == "__main__":
    main(sys.argv[1:])
