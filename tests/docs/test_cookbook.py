"""Every recipe of the cookbook is one golden, and is in the table of contents."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import REPO, page_blocks
from tests.docs.test_docs import links

INDEX = REPO / "docs" / "cookbook.md"
PAGES = sorted((REPO / "docs" / "cookbook").glob("*.md"))


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_has_a_query_input_and_output(page) -> None:
    text = page.read_text("utf-8")
    for recipe in text.split("\n## ")[1:]:
        assert recipe.count("```golden\n") == 1
        assert "\n--- feed " in recipe
        assert re.search(r"^(op \||--- errors)", recipe, re.MULTILINE)
    assert [block.kind for block in page_blocks(page)] == ["golden"] * len(headings(text))


def test_the_contents_list_every_recipe() -> None:
    listed = {(path, anchor) for path, anchor in links(INDEX) if anchor}
    recipes = [h for page in PAGES for h in headings(page.read_text("utf-8"))]
    assert len(recipes) == len(listed) >= 25
