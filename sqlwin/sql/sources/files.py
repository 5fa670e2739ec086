"""Files that FROM names by their path: `SELECT … FROM 'rides.csv'`.

The stream that reads one is inferred from its rows by whoever binds the text, which itself opens
nothing. It has the name of the file, so `rides.fare` is a column of it; a number is added where
something else has that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from itertools import count
from pathlib import PurePath

from sqlwin.errors import InputError, QueryError, Span
from sqlwin.functions.core.session_zone import session_zone
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Stream
from sqlwin.sql.text import ast

Infer = Callable[[str, str], Stream]
"""The stream that reads a path, of a name; InputError where there is none."""


@dataclass
class NamedFiles:
    """streams: those that are known, by name in lower case. read: names of those read so far."""

    infer: Infer | None = None
    streams: dict[str, Stream] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    @staticmethod
    def of(given: Iterable[Stream], infer: Infer | None) -> NamedFiles:
        """given: streams from outside, among which those of a text that is bound again are."""
        return NamedFiles(infer, {each.name.lower(): each for each in given if each.inferred})

    def stream(self, file: ast.File, taken: Callable[[str], bool]) -> Stream:
        """QueryError where there is no such file, or nothing is to read one."""
        for known in self.streams.values():
            if path_of(known) == file.text:
                return self._kept(known)
        if self.infer is None:
            message = f"'{file.text}' is a file, and no files are read here"
            raise QueryError(message, file.span, legal="a stream: CREATE STREAM … first")
        name = _free(name_of(file.text), taken)
        try:
            made = self.infer(file.text, name)
        except QueryError as error:  # of a column's name, say
            raise QueryError(
                f"'{file.text}': {error.message}", file.span, legal=error.legal
            ) from None
        except InputError as error:
            legal = "a file, a folder or a pattern: FROM 'rides.csv', FROM 'rides/*.jsonl'"
            if taken(file.text.lower()):
                legal = f"FROM {file.text}, without quotes, is what was declared"
            raise QueryError(str(error), file.span, legal=legal) from None
        return self._kept(replace(made, inferred=True))

    def _kept(self, made: Stream) -> Stream:
        """Its texts are by the clocks of the session's zone, that of its first reader."""
        if made.name.lower() not in self.read:
            zone = session_zone()
            columns = tuple(replace(column, zone=zone) for column in made.columns)
            self.streams[made.name.lower()] = replace(made, columns=columns)
            self.read.add(made.name.lower())
        return self.streams[made.name.lower()]


def name_of(path: str) -> str:
    """What the stream of a file is called.

    >>> name_of("data/2024 rides.csv"), name_of("*.jsonl")
    ('_2024_rides', 'rows')
    """
    stem = re.sub(r"\W+", "_", PurePath(path).name.partition(".")[0]).strip("_") or "rows"
    return f"_{stem}" if stem[0].isdigit() else stem


def path_of(stream: Stream) -> str | None:
    return dict(stream.options).get("path")


def no_time(stream: Stream, span: Span) -> QueryError:
    path, columns = path_of(stream), [column.name for column in stream.schema]
    message = f"no column of '{path}' has instants, and this window needs an event time"
    legal = (
        "a window in ROWS; or a CREATE STREAM, which `sqlwin infer` prints, with "
        f"at AS TO_TIMESTAMP({columns[0]}), WATERMARK FOR at AS at"
    )
    return QueryError(message, span, legal=legal)


def _free(name: str, taken: Callable[[str], bool]) -> str:
    if not taken(name.lower()):
        return name
    return next(each for n in count(2) if not taken((each := f"{name}_{n}").lower()))
