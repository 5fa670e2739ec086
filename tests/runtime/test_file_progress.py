"""Files that grow, shrink, are replaced or go: what is taken of them, and when that is refused."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.connectors.sources import FileSource
from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.formats.records import LINES
from sqlwin.schema import Column, type_named

COLUMNS = (Column("n", type_named("STRING")),)  # type: ignore[arg-type]
Read = Callable[..., list[str]]


@pytest.fixture(params=[None, 5])
def size(request: pytest.FixtureRequest) -> int | None:
    """Of a piece."""
    return request.param  # type: ignore[no-any-return]


def reading(home: Path, format_: str, size: int | None) -> tuple[FileProgress, Read]:
    options = (("format", format_), ("path", str(home)))
    source, progress = (
        FileSource(Stream("s", COLUMNS, None, options=options), str(home)),
        FileProgress(),
    )

    def read(ends: bool = False) -> list[str]:
        """What is new; what was read is committed."""
        source.find(progress, home, size, ends)
        came = [source.read(progress.piece(at), at) for at in progress.left()]
        progress.read(progress.end)
        assert all(each.errors.is_empty() for each in came)
        return [row for each in came for row in each.rows["n"].to_list()]

    return progress, read


def lines(*numbers: object) -> str:
    return "".join(f'{{"n": "{n}"}}\n' for n in numbers)


def append(file: Path, text: str) -> None:
    with file.open("a", newline="") as out:
        out.write(text)


def test_appended_lines_are_read_once(tmp_path: Path, size: int | None) -> None:
    progress, read = reading(tmp_path, "json", size)
    file = tmp_path / "a.json"
    file.write_text(lines(1, 2))
    assert read() == ["1", "2"]
    append(file, lines(3, 4) + '{"n": ')
    assert read() == ["3", "4"]
    assert read() == []
    append(file, '"5"}')  # an object is complete without a line end
    assert read() == ["5"]
    append(file, "\n" + lines(6))
    assert read() == ["6"]
    assert list(progress.files) == [str(file)]


def test_appended_csv_has_the_header_of_its_file(tmp_path: Path, size: int | None) -> None:
    _, read = reading(tmp_path, "csv", size)
    file = tmp_path / "a.csv"
    file.write_text("m,n")
    assert read() == []
    append(file, "\r\n1,a\r\n2,")
    assert read() == ["a"]
    append(file, '"b\nc"\r\n3,d')
    assert read() == ["b\nc"]
    append(file, '\n4,"e')
    assert read() == ["d"]
    append(file, '\n"\n')
    assert read() == ["e\n"]
    append(file, "5,f")
    assert read() == []
    assert read(ends=True) == ["f"]


def test_a_quote_that_nothing_closes_is_not_awaited_for_ever(tmp_path: Path) -> None:
    progress, _ = reading(tmp_path, "csv", None)
    file = tmp_path / "a.csv"
    file.write_text('n\n1\n"2\n' + "3\n" * LINES)
    source = FileSource(Stream("s", COLUMNS, None, options=(("format", "csv"),)), str(file))
    source.find(progress, tmp_path)
    assert progress.piece(0).hi == file.stat().st_size


def test_a_quote_that_is_a_letter_opens_nothing(tmp_path: Path, size: int | None) -> None:
    _, read = reading(tmp_path, "csv", size)
    file = tmp_path / "a.csv"
    file.write_text('n,m\n5" pipe,1\n"a\nb",2\nc,3\n')
    assert read() == ['5" pipe', "a\nb", "c"]
    append(file, '6" pipe,1\n"d\ne')
    assert read() == ['6" pipe']
    append(file, '",4\n"f\ng",5\n')
    assert read() == ["d\ne", "f\ng"]


def test_a_file_that_was_read_may_go_and_one_that_was_not_may_not(tmp_path: Path) -> None:
    progress, read = reading(tmp_path, "json", None)
    for name in "ab":
        (tmp_path / name).write_text(lines(name))
    assert read() == ["a", "b"]
    (tmp_path / "a").unlink()
    (tmp_path / "c").write_text(lines("c"))
    assert read() == ["c"]
    (tmp_path / "d").write_text(lines("d"))
    options = (("path", str(tmp_path)),)
    source = FileSource(Stream("s", COLUMNS, None, options=options), str(tmp_path))
    source.find(progress, tmp_path)
    (tmp_path / "d").unlink()
    with pytest.raises(RunError, match=r"/d is gone, and was found but not read: put it back"):
        source.read(progress.piece(3), 3)


CHANGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("json", lambda file: file.write_text(""), "has 0 bytes, and 20 of it were taken"),
    ("json", lambda file: file.write_text(lines(1)), "has 11 bytes, and 20 of it were taken"),
    ("json", lambda file: file.write_text(lines(8, 9)), "was replaced or changed after it was"),
    ("json", lambda file: file.write_text(lines(8, 9, 7)), "was replaced or changed after it was"),
    ("json", lambda file: file.write_text(" " + lines(1, 2)), "was replaced or changed after it"),
]


@pytest.mark.parametrize(("format_", "change", "reason"), CHANGES)
def test_any_other_change_is_an_error(
    tmp_path: Path, format_: str, change: Callable[[Path], object], reason: str
) -> None:
    progress, read = reading(tmp_path, format_, None)
    file = tmp_path / "a"
    file.write_text(lines(1, 2).replace(" ", ""))
    assert read() == ["1", "2"]
    again = FileProgress.load(progress.dump())
    change(file)
    os.utime(file, ns=(1, 1))
    with pytest.raises(RunError, match=f"{file} {reason}.*: put it back as it was, or begin with"):
        read()
    source = FileSource(Stream("s", COLUMNS, None, options=()), str(file))
    with pytest.raises(RunError, match=reason):
        source.find(again, tmp_path)  # as does the next run


def test_what_is_found_must_be_the_same_when_it_is_read(tmp_path: Path) -> None:
    progress, _ = reading(tmp_path, "json", None)
    file = tmp_path / "a"
    file.write_text(lines(1, 2))
    source = FileSource(Stream("s", COLUMNS, None, options=()), str(file))
    source.find(progress, tmp_path)
    append(file, lines(3))
    assert source.read(progress.piece(0), 0).rows["n"].to_list() == ["1", "2"]
    file.write_text(lines(4, 5))
    with pytest.raises(RunError, match="was replaced or changed"):
        source.read(progress.piece(0), 0)


def test_a_file_that_is_touched_or_put_back_is_the_same(tmp_path: Path) -> None:
    _, read = reading(tmp_path, "json", None)
    file = tmp_path / "a"
    file.write_text(lines(1))
    assert read() == ["1"]
    file.unlink()
    assert read() == []
    file.write_text(lines(1))
    os.utime(file, ns=(1, 1))
    assert read() == []


def test_only_lines_can_be_appended(tmp_path: Path) -> None:
    _, read = reading(tmp_path, "json", 5)
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(lines(1, 2).encode()))
    assert read() == ["1", "2"]  # in one piece
    with file.open("ab") as out:
        out.write(gzip.compress(lines(3).encode()))
    with pytest.raises(RunError, match=r"a.json.gz grew by \d+ bytes after it was taken, which is"):
        read()


def test_a_line_that_was_taken_as_it_was_cannot_go_on(tmp_path: Path) -> None:
    _, read = reading(tmp_path, "csv", None)
    file = tmp_path / "a"
    file.write_text("n\n12")
    assert read(ends=True) == ["12"]
    append(file, "3\n")
    with pytest.raises(RunError, match="goes on in the middle of its last line"):
        read()


# --- rotation -------------------------------------------------------------------------


def log_of(home: Path, path: str) -> tuple[Callable[[], None], Read]:
    """begin: another run goes on from the checkpoint."""
    options = (("format", "json"), ("path", path))
    source, progress = (
        FileSource(Stream("s", COLUMNS, None, options=options), path),
        [FileProgress()],
    )

    def begin() -> None:
        progress[0] = FileProgress.load(progress[0].dump())

    def read() -> list[str]:
        source.find(progress[0], home)
        found = [progress[0].piece(at) for at in progress[0].left()]
        placed = [replace(piece, path=source.split(piece.path, home)) for piece in found]
        came = [source.read(piece, 0) for piece in placed]
        progress[0].read(progress[0].end)
        return [row for each in came for row in each.rows["n"].to_list()]

    return begin, read


def rename(log: Path, keep: int = 3) -> None:
    for number in reversed(range(keep)):
        file = log.with_name(f"{log.name}.{number}") if number else log
        if file.exists():
            file.rename(log.with_name(f"{log.name}.{number + 1}"))
    log.touch()


def copy(log: Path) -> None:
    shutil.copy(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize(("path", "rotate"), [("log", rename), ("log*", rename), ("log", copy)])
def test_a_log_that_is_rotated_is_read_once(
    tmp_path: Path, path: str, rotate: Callable[[Path], None], begins: bool
) -> None:
    begin, read = log_of(tmp_path, path)
    log, found = tmp_path / "log", []
    log.touch()
    for number in range(6):
        append(log, lines(f"{number}a"))
        found += read()
        begin() if begins else None
        append(log, lines(f"{number}b"))  # before the rotation, and not read yet
        rotate(log)
        append(log, lines(f"{number}c"))
        found += read()
        assert read() == []
    assert found == [f"{number}{letter}" for number in range(6) for letter in "abc"]


def test_what_a_rotated_log_is_given_still_is_read(tmp_path: Path) -> None:
    _, read = log_of(tmp_path, "log")
    log = tmp_path / "log"
    log.write_text(lines(1))
    assert read() == ["1"]
    with log.open("a") as writer:  # goes on until it is told of the rotation
        rename(log)
        append(log, lines(3))
        assert read() == ["3"]
        writer.write(lines(2))
    assert read() == ["2"]
    rename(log)
    append(tmp_path / "log.2", lines("late"))
    assert read() == ["late"]


def test_a_rotation_is_seen_between_its_two_steps(tmp_path: Path) -> None:
    begin, read = log_of(tmp_path, "log*")
    log = tmp_path / "log"
    log.write_text(lines(1))
    assert read() == ["1"]
    begin()
    log.rename(tmp_path / "log.1")
    assert read() == []
    log.write_text(lines(1))  # the same bytes, in a new file
    assert read() == ["1"]
    log.unlink()
    (tmp_path / "log.2").write_text(lines(1))  # and no rotation, for it is no older
    assert read() == ["1"]


def test_an_empty_log_is_known_by_its_inode(tmp_path: Path) -> None:
    begin, read = log_of(tmp_path, "log")
    log = tmp_path / "log"
    log.touch()
    assert read() == []
    begin()
    append(log, lines(1))
    rename(log)
    append(log, lines(2))
    assert read() == ["1", "2"]


def test_rotations_that_were_missed_are_an_error(tmp_path: Path) -> None:
    begin, read = log_of(tmp_path, "log")
    log = tmp_path / "log"
    log.write_text(lines(1))
    assert read() == ["1"]
    for number in (2, 3):
        rename(log)
        append(log, lines(number))
        os.utime(log, ns=(number * 10**18, number * 10**18))
    with pytest.raises(RunError, match=r"rotated more than once: .* in .*/log\.2, and .*/log\.1 w"):
        read()
    begin()
    with pytest.raises(RunError, match="rotated more than once"):
        read()


@pytest.mark.parametrize("name", ["log.bak", "log~", "log.1.gz", "other.1"])
def test_a_copy_that_no_rotation_makes_is_no_excuse(tmp_path: Path, name: str) -> None:
    _, read = log_of(tmp_path, "log")
    log = tmp_path / "log"
    log.write_text(lines(1, 2))
    assert read() == ["1", "2"]
    log.rename(tmp_path / name)
    log.write_text(lines(1, 3))
    with pytest.raises(RunError, match=r"was replaced or changed .* stays beside it, not compress"):
        read()


def test_only_a_line_that_is_not_complete_is_said_to_wait(tmp_path: Path) -> None:
    options = (("format", "csv"), ("path", "a"))
    source, progress = FileSource(Stream("s", COLUMNS, None, options=options), "a"), FileProgress()
    file = tmp_path / "a"
    file.write_text("n\n1\n")
    source.find(progress, tmp_path)
    for rest, waits in (("2\n", False), ("2\n3", False), ("2", True), ('"2\n', True)):
        file.write_text(f"n\n1\n{rest}")
        assert list(source.left(progress, tmp_path).values()) == [4] * waits, rest
