"""The parse table of Lark, of which a state is decoded when the parser is first in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_parser import LALR_Parser, _Parser

Coded: TypeAlias = Mapping[int, tuple[int, Any]]
"""Of a token's number: 1 with the place of a rule, or 0 with the state that follows."""


class LazyParser(LALR_Parser):
    @classmethod
    def deserialize(  # type: ignore[override]
        cls, data: Any, memo: Any, callbacks: Any, debug: bool = False
    ) -> Any:
        made = cls.__new__(cls)
        states = _States(data["tokens"], data["states"], memo)
        table: Any = IntParseTable(states, data["start_states"], data["end_states"])  # type: ignore[no-untyped-call]
        made._parse_table, made.parser = table, _Parser(table, callbacks, debug)
        return made


class _States(dict[int, dict[str, tuple[Any, Any]]]):
    def __init__(
        self, tokens: Mapping[int, str], coded: Mapping[int, Coded], memo: Mapping[int, Any]
    ) -> None:
        super().__init__()
        self._tokens, self._coded, self._memo = tokens, coded, memo

    def __missing__(self, state: int) -> dict[str, tuple[Any, Any]]:
        self[state] = {
            self._tokens[token]: (Reduce, self._memo[of["@"]]) if rule else (Shift, of)
            for token, (rule, of) in self._coded[state].items()
        }
        return self[state]

    def items(self) -> Iterator[tuple[int, dict[str, None]]]:  # type: ignore[override]
        """The tokens of every state, which the lexer is made of."""
        for state, coded in self._coded.items():
            yield state, dict.fromkeys(map(self._tokens.__getitem__, coded))
