"""Files in the user's cache are whole, the user's own, and can be done without."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.sql.syntax.parsing import grammar_tables, parser
from sqlwin.sql.syntax.parsing.grammar_tables import OPTIONS, parser_of, tables
from sqlwin.system import user_cache


def test_what_is_made_once_is_read_again(tmp_path: Path) -> None:
    assert user_cache.kept("a", lambda: b"made", tmp_path) == b"made"
    assert user_cache.kept("a", _never, tmp_path) == b"made"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def _never() -> bytes:
    raise AssertionError("made twice")


def test_what_others_may_write_is_not_read(tmp_path: Path) -> None:
    user_cache.kept("a", lambda: b"theirs", tmp_path)
    (tmp_path / "a").chmod(0o666)
    assert user_cache.kept("a", lambda: b"made", tmp_path) == b"made"
    assert user_cache.kept("a", _never, tmp_path) == b"made"


def test_what_is_damaged_is_made_again(tmp_path: Path) -> None:
    user_cache.kept("a", lambda: b"made", tmp_path)
    data = (tmp_path / "a").read_bytes()
    for damaged in (data[:-1], data + b"x", b"", b"?" + data[1:]):
        (tmp_path / "a").write_bytes(damaged)
        assert user_cache.kept("a", lambda: b"again", tmp_path) == b"again"


def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert user_cache.folder({user_cache.VARIABLE: str(tmp_path)}) is None


def test_the_folder_is_made_for_the_user_alone(tmp_path: Path) -> None:
    made = user_cache.folder({"XDG_CACHE_HOME": str(tmp_path)})
    assert made == tmp_path / "sqlwin"
    assert made.stat().st_mode & 0o777 == 0o700


def test_nothing_is_kept_where_the_variable_is_empty() -> None:
    assert user_cache.folder({user_cache.VARIABLE: ""}) is None


def test_a_folder_that_cannot_be_made_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert user_cache.folder({user_cache.VARIABLE: str(tmp_path / "file" / "in")}) is None


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    assert user_cache.kept("a", lambda: b"made", tmp_path) == b"made"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_grammar_that_was_read_parses_as_one_that_was_made() -> None:
    text = "SELECT COUNT(*) FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    grammar = (parser.grammar_folder() / "sqlwin.lark").read_text("utf-8")
    read = parser_of(tables(grammar, parser.STARTS))
    assert read.parse(text, start="start") == parser.grammar().parse(text, start="start")


@pytest.mark.long
@pytest.mark.parametrize("name", ["STARTS", "OPTIONS"])
def test_a_grammar_that_is_read_otherwise_is_made_anew(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(user_cache.VARIABLE, str(tmp_path))
    read = parser.grammar.__wrapped__
    read()
    other = {"STARTS": ("start", "query"), "OPTIONS": {**OPTIONS, "propagate_positions": False}}
    for module in (parser, grammar_tables):
        monkeypatch.setattr(module, name, other[name], raising=False)
    read()
    assert len(list(tmp_path.iterdir())) == 2
