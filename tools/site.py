"""Hooks of mkdocs: the docs, which are written to be read in a checkout, as a site.

The README is the first page. A link that leaves docs/, to a golden or a query, leads to a page that
shows the file, so that it works in both. Behind a fence only the language is left: the rest of its
words is for the tests.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPO = Path(__file__).parents[1]
DOCS, HOME, SOURCE = "docs/", "README.md", "source/"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")
FENCE = re.compile(r"^```.*?^```[^\S\n]*$", re.MULTILINE | re.DOTALL)
OPENING = re.compile(r"^```(\w+)[^\n]*$", re.MULTILINE)
LANGUAGES = {".sql": "sql", ".py": "python", ".jsonl": "json"}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, and a page of each file outside of docs/ that some page links to."""
    files.append(File.generated(config, "index.md", content=(REPO / HOME).read_text("utf-8")))
    waiting = [HOME, *(DOCS + file.src_uri for file in files.documentation_pages())]
    waiting.remove(DOCS + "index.md")
    config.nav = [*(config.nav or []), *_unlisted(str(config.nav), waiting)]
    known = set(waiting)
    while waiting:
        for target in targets(waiting.pop()):
            if target not in known and not target.startswith(DOCS):
                known.add(target)
                files.append(File.generated(config, uri(target), content=shown(target)))
                waiting += [target] if target.endswith(".md") else []
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    path, here = path_of(page.file.src_uri), posixpath.dirname(page.file.src_uri)

    def led(match: re.Match[str]) -> str:
        return posixpath.relpath(uri(target_of(path, match[1])), here or ".")

    done, out = 0, []
    for fence in FENCE.finditer(markdown):
        out += [LINK.sub(led, markdown[done : fence.start()]), OPENING.sub(_language, fence[0], 1)]
        done = fence.end()
    return "".join([*out, LINK.sub(led, markdown[done:])])


def targets(path: str) -> Iterator[str]:
    """Paths in the repository that a page links to."""
    text = FENCE.sub("", (REPO / path).read_text("utf-8"))
    yield from (target_of(path, link[1]) for link in LINK.finditer(text))


def target_of(path: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))


def uri(path: str) -> str:
    """Where a path of the repository is in the site's sources."""
    if path == HOME:
        return "index.md"
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return SOURCE + (path if path.endswith(".md") else f"{path}.md")


def path_of(src_uri: str) -> str:
    """The path of a page in the repository."""
    if src_uri == "index.md":
        return HOME
    return src_uri.removeprefix(SOURCE) if src_uri.startswith(SOURCE) else DOCS + src_uri


def shown(path: str) -> str:
    """A page of a file, or of the names in a folder."""
    file = REPO / path
    if path.endswith(".md"):
        return UNSEARCHED + file.read_text("utf-8")
    if file.is_dir():
        text = "\n".join(sorted(each.name for each in file.iterdir()))
    else:
        text = file.read_text("utf-8").rstrip()
    return f"{UNSEARCHED}\n# {path}\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"


def _unlisted(menu: str, paths: list[str]) -> list[dict[str, list[str]]]:
    """Pages that the menu leaves out, behind all others."""
    uris = sorted(uri(path) for path in paths)
    missing = [found for found in uris if f"'{found}'" not in menu]
    return [{"More": missing}] if missing else []


def _language(opening: re.Match[str]) -> str:
    return f"```{'text' if opening[1] in ('golden', 'text') else opening[1]}"
