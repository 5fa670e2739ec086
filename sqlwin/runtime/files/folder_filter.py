"""Which files of a partitioned source are read: those of folders that WHERE may be true of.

Invariant: a file is left out only where a condition over the values of its folders was computed,
and is FALSE or NULL. One whose folders have no such values, or of which it cannot be computed, is
read, so that its rows are malformed, or fail, as they do without a filter.

An expression of one row costs about as much as of a thousand, so what is known of one file is found
with that of all others that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Node, Stream
from sqlwin.plan.properties.folders import Conditions, folders_read

Texts = tuple[tuple[str, str | None], ...]
"""Of the folders of a file: column and text."""
_AT = "__folder"


@dataclass(frozen=True)
class FolderFilter:
    """Of one source in one query. conditions: of which one is true of the folders that are read."""

    stream: Stream
    conditions: Conditions
    known: dict[Texts, bool] = field(default_factory=dict, compare=False, repr=False)

    def reads(self, path: str, others: Iterable[str] = ()) -> bool:
        """others: paths that are going to be looked at."""
        texts = self._texts(path)
        if texts is None:
            return True
        if texts not in self.known:
            several = {texts, *(each for each in map(self._texts, others) if each is not None)}
            self._look([each for each in several if each not in self.known])
        return self.known[texts]

    def _texts(self, path: str) -> Texts | None:
        """None where the file is in no such folder."""
        from sqlwin.runtime.files.source import folder_texts  # by need: most have no folders

        try:
            return tuple(folder_texts(self.stream, path).items())
        except RunError:
            return None

    def _look(self, several: Sequence[Texts]) -> None:
        try:
            read = self._read(several)
        except RunError:  # rows would say so, too
            read = set(range(len(several)))
        self.known.update((texts, at in read) for at, texts in enumerate(several))

    def _read(self, several: Sequence[Texts]) -> set[int]:
        """The numbers of those that are read."""
        from sqlwin.runtime.files.source import folders_of
        from sqlwin.runtime.rows.scalars import evaluate

        lines = folders_of(self.stream, [dict(texts) for texts in several])
        found, rows = set(lines.bad), lines.rows.with_row_index(_AT)
        for condition in self.conditions:
            done = evaluate(rows, (), condition, keep=(_AT,))
            passed = [*done.frame[_AT], *(at for at, _ in done.rejected)]
            found.update(int(lines.numbers[at]) for at in passed)
        return found


@dataclass(frozen=True)
class FolderFilters:
    """Of one query, by source."""

    filters: Mapping[Stream, FolderFilter]

    @staticmethod
    def of(plan: Node) -> FolderFilters:
        read = folders_read(plan)
        return FolderFilters({stream: FolderFilter(stream, each) for stream, each in read.items()})

    def reads(self, stream: Stream, path: str, others: Iterable[str] = ()) -> bool:
        """Whether rows of a file are decoded. others: as of a FolderFilter."""
        found = self.filters.get(stream)
        return found is None or found.reads(path, others)
