"""The page of dialects is what its rows say, and what they say of sqlwin is what it does."""

from __future__ import annotations

import pytest

from tests.docs.dialects import (
    PAGE,
    ROWS,
    WITHOUT,
    Row,
    refusal,
    section,
    sections,
    with_errors,
    written,
)

EVERY = [row for part in sections() for row in part.rows]


def test_the_page_is_as_the_rows_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == written(text), "python -m tests.docs.dialects writes it"


@pytest.mark.parametrize("row", EVERY, ids=lambda row: f"{row.file[:2]} {row.feature}")
def test_what_is_said_of_sqlwin_is_so(row: Row) -> None:
    for statement in row.accepted:
        message = refusal(statement)
        assert message is None, f"{statement}\nis refused: {message}"
    for statement, begins in row.refused:
        message = refusal(statement)
        assert message, f"now accepted: say so in {ROWS.name}/{row.file}\n{statement}"
        assert message.startswith(begins), statement


@pytest.mark.parametrize("row", EVERY, ids=lambda row: f"{row.file[:2]} {row.feature}")
def test_a_row_says_how_or_why_not_and_where_to_read_on(row: Row) -> None:
    assert row.accepted or row.refused
    assert row.here.startswith(WITHOUT) == (not row.accepted)
    assert "](" in row.here
    assert all(len(begins) >= 10 for _, begins in row.refused)


def test_no_row_is_there_twice() -> None:
    for part in sections():
        features = [row.feature for row in part.rows]
        assert len(features) == len(set(features))
    assert len(EVERY) >= 150


def test_a_row_that_is_not_understood_is_an_error(tmp_path) -> None:
    path = tmp_path / "odd.rows"
    path.write_text("title: Odd\n\n--- a feature\nflnk: yes\nhere: [yes](joins.md)\n")
    with pytest.raises(ValueError, match=r"odd\.rows: a feature: accepted, error, flink"):
        section(path)


def test_errors_are_written_below_what_is_refused() -> None:
    text = "here: none\nrefused: SELEC id FROM orders\nerror: another\naccepted: SHOW TABLES\n"
    assert with_errors(text) == text.replace("another", "SELEC: did you mean SELECT?")
