"""The contextual lexer of Lark, which compiles no more than a text needs.

For each set of terminals that may come next Lark compiles all of them into one expression: for a
short query some 40 sets of up to 60 terminals, half the time of its front end. Here a terminal is
compiled once, when a character comes that it may begin with. They are tried in the order in which
they stand in Lark's expression, so the first that matches is the token there, too.

A terminal that is a text, as `"SELECT"i`, is not tried where an expression of its priority, as that
of a name, matches the whole of it. What that matches becomes the token of the text. So does Lark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cached_property
from typing import Any

from lark.common import LexerConf
from lark.lexer import BasicLexer, ContextualLexer, PatternStr, TerminalDef, Token
from lark.utils import TextSlice

from sqlwin.sql.syntax.parsing.lazy.initials import Initials, initials

Match = Callable[[str, int, int], "re.Match[str] | None"]


class Terminals:
    """What is known of the terminals of a grammar, found by need."""

    def __init__(self, conf: LexerConf) -> None:
        self._flags = conf.g_regex_flags
        self._texts = [each for each in conf.terminals if isinstance(each.pattern, PatternStr)]
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._initials: dict[str, Initials] = {}
        self._words: dict[str, list[TerminalDef]] = {}

    def compiled(self, terminal: TerminalDef) -> re.Pattern[str]:
        if terminal.name not in self._compiled:
            made = re.compile(terminal.pattern.to_regexp(), self._flags)
            self._compiled[terminal.name] = made
        return self._compiled[terminal.name]

    def may_begin(self, terminal: TerminalDef, character: str) -> bool:
        if terminal.name not in self._initials:
            text = isinstance(terminal.pattern, PatternStr)
            value = terminal.pattern.value
            found = frozenset(value[0]) if text else initials(value)
            if found is not None and "i" in terminal.pattern.flags:
                found = frozenset(case for each in found for case in (each.lower(), each.upper()))
            self._initials[terminal.name] = found
        known = self._initials[terminal.name]
        return known is None or character in known or not character.isascii()

    def words(self, terminal: TerminalDef) -> list[TerminalDef]:
        """The texts of its priority that an expression matches whole."""
        if isinstance(terminal.pattern, PatternStr):
            return []
        if terminal.name not in self._words:
            alike = [each for each in self._texts if each.priority == terminal.priority]
            match = self.compiled(terminal).match if alike else None
            self._words[terminal.name] = [
                each
                for each in alike
                if match and (found := match(each.pattern.value))
                if found[0] == each.pattern.value
            ]
        return self._words[terminal.name]


class LazyLexer(ContextualLexer):
    """A lexer for each state of the parser, made when the parser is in it."""

    def __init__(
        self,
        conf: LexerConf,
        states: Mapping[int, Collection[str]],
        always_accept: Collection[str] = (),
    ) -> None:
        self._conf = conf
        conf.skip_validation = True
        self._terminals = Terminals(conf)
        self.lexers = _ByState(self._lexer, states, {*conf.ignore, *always_accept})

    @cached_property
    def root_lexer(self) -> BasicLexer:  # type: ignore[override]
        """Of all terminals, for what may not come next."""
        return self._lexer(self._conf.terminals_by_name)

    def _lexer(self, accepted: Collection[str]) -> BasicLexer:
        known = self._conf.terminals_by_name
        terminals = [known[name] for name in accepted if name in known]
        conf = copy(self._conf)
        conf.terminals = terminals
        return _StateLexer(conf, self._terminals)


class _ByState(dict[int, Any]):
    """States that accept the same have one lexer."""

    def __init__(
        self,
        make: Callable[[Collection[str]], BasicLexer],
        states: Mapping[int, Collection[str]],
        always: set[str],
    ) -> None:
        super().__init__()
        self._make, self._states, self._always = make, states, always
        self._made: dict[frozenset[str], BasicLexer] = {}

    def __missing__(self, state: int) -> BasicLexer:
        accepted = frozenset(self._always.union(self._states[state]))
        if accepted not in self._made:
            self._made[accepted] = self._make(accepted)
        self[state] = self._made[accepted]
        return self._made[accepted]


class _StateLexer(BasicLexer):
    def __init__(self, conf: LexerConf, known: Terminals) -> None:
        super().__init__(conf)
        self._known = known

    def _build_scanner(self) -> Any:
        here = {each.name for each in self.terminals}
        self.callback, within = {}, set()
        for terminal in self.terminals:
            words = [each for each in self._known.words(terminal) if each.name in here]
            if words:
                self.callback[terminal.name] = _Unless(words, self._known)
            within |= {
                each.name
                for each in words
                if set(each.pattern.flags).issubset(terminal.pattern.flags)
            }
        self.callback |= self.user_callbacks
        return _Scanner([each for each in self.terminals if each.name not in within], self._known)


class _Scanner:
    def __init__(self, terminals: list[TerminalDef], known: Terminals) -> None:
        self.allowed_types = {each.name for each in terminals}
        self._terminals, self._known = terminals, known
        self._by_initial: dict[str, list[tuple[str, Match]]] = {}

    def match(self, text: TextSlice[str], at: int) -> tuple[str, str] | None:
        """What is found at a place, and the name of its terminal."""
        whole, end = text.text, text.end
        initial = whole[at]
        if initial not in self._by_initial:
            self._by_initial[initial] = [
                (each.name, self._known.compiled(each).match)
                for each in self._terminals
                if self._known.may_begin(each, initial)
            ]
        for name, match in self._by_initial[initial]:
            found = match(whole, at, end)
            if found:
                return found[0], name
        return None


class _Unless:
    """The token of an expression becomes that of the text that it is."""

    def __init__(self, words: list[TerminalDef], known: Terminals) -> None:
        self._words, self._known = words, known
        self._exact = {each.pattern.value: each.name for each in words}
        folded = (each for each in words if "i" in each.pattern.flags)
        self._folded = {each.pattern.value.upper(): each.name for each in folded}

    def __call__(self, token: Token) -> Token:
        text = str(token)
        name = self._exact.get(text) or self._folded.get(text.upper())
        if not text.isascii():  # `ſ` is an S of re, but SS no ß
            fits = (each for each in self._words if self._known.compiled(each).fullmatch(text))
            name = next((each.name for each in fits), None)
        token.type = name or token.type
        return token
