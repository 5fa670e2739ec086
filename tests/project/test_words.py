"""Nothing in the repository is true of one machine only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]

# In pieces, or this file would be the first to name them.
REGISTRIES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "conda" + ".anaconda.org",
    "repo1." + "maven.org",
    "repo." + "maven.apache.org",
    "registry." + "npmjs.org",
]
HOMES = ["/" + "root/", "/" + "home/", "/" + "Users/"]


def tracked() -> Iterator[Path]:
    """Files that are, or at the next `git add` would be, part of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        path = REPO / name
        if path.is_file():  # one deleted and not yet committed is still listed
            yield path


def lines_with(pattern: str) -> list[str]:
    wanted = re.compile(pattern)
    return [
        f"{path.relative_to(REPO)}:{number}: {line.strip()[:120]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if wanted.search(line)
    ]


def test_no_file_names_a_package_registry() -> None:
    assert lines_with("|".join(map(re.escape, REGISTRIES))) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    """The checkout's own path, or anybody's home; `$HOME/x` and `a/home/b` are no such thing."""
    places = [*HOMES, *([f"{REPO}/"] if len(REPO.parts) > 2 else [])]
    anywhere = "|".join(map(re.escape, places))
    assert lines_with(rf"(?<![\w.$}}/-])(?:{anywhere})") == []
