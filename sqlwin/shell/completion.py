"""What Tab proposes: commands, files, and the words of SQL, with what is declared first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from sqlwin.lazy_dataclass import dataclass
from sqlwin.shell.commands import COMMANDS
from sqlwin.shell.declared import Declarations
from sqlwin.shell.words import declared, functions, keywords, matching

_FILE = re.compile(r"\b(?:FROM|JOIN|TABLE)\s*'([^'\n]*)\Z|\A\s*\\i\s+(\S*)\Z", re.IGNORECASE)
_COMMAND = re.compile(r"\A\s*\\(\S*)\Z")
_ARGUMENT = re.compile(r"\A\s*\\(\S+)\s+(\S*)\Z")


@dataclass
class ShellCompleter(Completer):
    declarations: Declarations
    files: PathCompleter = field(default_factory=lambda: PathCompleter(expanduser=True))

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        file, command, argument = (p.search(before) for p in (_FILE, _COMMAND, _ARGUMENT))
        if file is not None:
            path = file[1] if file[1] is not None else file[2]
            yield from self.files.get_completions(Document(path), event)
        elif command is not None:
            yield from _proposed(command[1], COMMANDS)
        elif argument is not None:
            yield from self._of_command(argument[1], argument[2])
        else:
            word = document.get_word_before_cursor(pattern=re.compile(r"\w+"))
            yield from self._words(word, document.text)

    def _words(self, word: str, text: str) -> Iterator[Completion]:
        own = declared(self.declarations, text)
        if word:
            yield from _proposed(word, [*own, *keywords(), *functions()])
        else:
            yield from _proposed(word, own)

    def _of_command(self, name: str, wanted: str) -> Iterator[Completion]:
        known = COMMANDS.get(name)
        if name == "d":
            named = [each.name for each in self.declarations.all if each.kind != "setting"]
            yield from _proposed(wanted, named)
        elif known is not None:
            yield from _proposed(wanted, known.choices)


def _proposed(wanted: str, words: Iterable[str]) -> Iterator[Completion]:
    for word in dict.fromkeys(matching(wanted, iter(words))):
        yield Completion(word, start_position=-len(wanted))
