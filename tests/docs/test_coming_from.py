"""Pages for those who know another engine: what each shows of ours is a golden, so it runs."""

from __future__ import annotations

import pytest

from tests.docs.blocks import REPO, page_blocks

PAGES = sorted((REPO / "docs" / "coming-from").glob("*.md"))


def test_there_is_a_page_for_each_engine() -> None:
    assert [page.stem for page in PAGES] == ["flink", "ksqldb", "samza", "spark"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_query_is_run_and_shown_beside_theirs(page) -> None:
    kinds = [block.kind for block in page_blocks(page)]
    assert set(kinds) == {"text", "golden"}
    assert kinds.count("golden") == page.read_text("utf-8").count("\n## ") >= 5
