"""An option of a connector: how its text is read, its legal values, and the error otherwise.

>>> boolean("Yes"), boolean("0")
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.durations import micros
from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.system.secrets import refers

TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
MOST = 10**12
"""Of any count."""


def boolean(text: str) -> bool:
    """ValueError for what is neither."""
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueError(text)
    return word in TRUE


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MOST:
        raise ValueError(text)
    return int(text)


def positive(text: str) -> int:
    if not count(text):
        raise ValueError(text)
    return int(text)


def is_positive(text: str) -> bool:
    try:
        return positive(text) > 0
    except ValueError:
        return False


def duration(text: str) -> int:
    """Microseconds, not negative."""
    found = micros(text, None)
    if found < 0:
        raise ValueError(text)
    return found


def positive_duration(text: str) -> int:
    if not duration(text):
        raise ValueError(text)
    return duration(text)


def delimiter_text(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in '"\r\n':  # fields are cut at one byte
        raise ValueError(text)
    return text


def path_text(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def some(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


@dataclass(frozen=True)
class Option:
    """read: ValueError for what cannot be. legal: one of words, or what the docs say.

    default: "" where there is none. needed: it has to be given.
    """

    name: str
    read: Callable[[str], object] | tuple[str, ...]
    legal: str
    about: str
    default: str = ""
    needed: bool = False

    def check(
        self, what: str, text: str, span: Span | None = None, written: str | None = None
    ) -> None:
        """QueryError for a value that cannot be; what a reference stands for is not known yet.

        written: the value as the script has it, where `text` is what its references stand for.
        """
        written = text if written is None else written
        if refers(text) and written == text:
            return
        shown = repr(written)
        try:
            if not isinstance(self.read, tuple):
                self.read(text)
            elif text not in self.read:
                near = nearest(text, self.read) if written == text else ""
                message = f"{what} has an unknown {self.name} {shown}{near}"
                raise QueryError(message, span, legal=self.legal)
        except ValueError:
            message = f"{what} has an option {self.name!r} that cannot be {shown}"
            raise QueryError(message, span, legal=self.legal) from None


def one_of(name: str, words: tuple[str, ...], about: str, default: str = "") -> Option:
    return Option(name, words, ", ".join(words), about, default)
