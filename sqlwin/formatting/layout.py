"""Where the lines of a statement may end, by the rules of the grammar.

Every token comes with what is between it and the one before: a comment stays where it is, behind
a token or on lines of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlwin.formatting import pipes
from sqlwin.formatting.comments import gap
from sqlwin.formatting.document import HARD, LINE, SOFT, Doc, Group, Line, Nest
from sqlwin.formatting.expression_words import OF_ITS_OWN, Words, capitals, keywords
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.syntax.parsing.concrete import KEY, PIVOTED, Branch, Leaf, leaves

Node = Leaf | Branch
BREAKS = frozenset(["AND", "OR", "WHEN", "ELSE"])
TIGHT_BEFORE, TIGHT_AFTER = frozenset(",;)]."), frozenset("([.")
Before = Line | str | None
"""What stands before a token: a place for a line to end, a text, or None: as in the source."""


@dataclass
class Layout:
    source: str
    last: Leaf | None = None
    led: Leaf | None = None
    """The token whose gap is made already: it stands before the group that begins with it."""
    words: Words = frozenset()
    """Those that are written in capitals where it is."""

    def script(self, tree: Branch) -> Doc:
        made: list[Doc] = []
        for child in tree.children:
            end = isinstance(child, Leaf)  # a semicolon
            made.append(self.of(child, "" if end or self.last is None else HARD))
        behind = self._gap(len(self.source), "", top=True)
        return [*made, behind, HARD]

    def of(self, node: Node, before: Before = None) -> Doc:
        first = next(leaves(node), None)
        if first is None:
            return ""
        gap: Doc = ""
        if first is not self.led:
            top = before is HARD or self.last is None
            gap = self._gap(first.start, self._spaced(first, before), top)
        self.led = first
        if isinstance(node, Leaf):
            return [gap, self._leaf(node)]
        rule, words = RULES.get(node.rule, Layout._plain), self.words
        if node.rule in OF_ITS_OWN:
            self.words = keywords(node, self.source)
        made = [gap, rule(self, node.children, "")]
        self.words = words
        return made

    # --- rules ---

    def _plain(self, children: Sequence[Node], before: Before) -> Doc:
        return [self.of(each, before if at == 0 else None) for at, each in enumerate(children)]

    def _create(self, children: Sequence[Node], before: Before) -> Doc:
        """Columns end their lines where the whole statement does not fit on one."""
        return Group(self._bracketed(children, before, " "))

    def _options(self, children: Sequence[Node], before: Before) -> Doc:
        return Group(self._bracketed(children, before or " ", " "))

    def _call(self, children: Sequence[Node], before: Before) -> Doc:
        return Group(self._bracketed(children, before, None))

    def _bracketed(self, children: Sequence[Node], before: Before, opening: Before) -> Doc:
        """What stands between the brackets is indented. opening: before the first of them."""
        made: list[Doc] = []
        inner: list[Doc] | None = None
        for at, each in enumerate(children):
            text = each.text if isinstance(each, Leaf) else ""
            first = before if at == 0 else None
            if text == "(" and inner is None:
                made.append(self.of(each, opening if at else before))
                inner = []
            elif text == ")" and inner is not None and at > 0:
                made += [Nest(inner), self.of(each, SOFT)]
                inner = None
            elif inner is None:
                made.append(self.of(each, first))
            else:
                inner.append(self.of(each, self._between(text, SOFT if not inner else LINE)))
        return made

    def _between(self, text: str, line: Line) -> Before:
        return "" if text == "," else line

    def _option(self, children: Sequence[Node], before: Before) -> Doc:
        key, equal, value = children
        return [self.of(key, before), self.of(equal, " "), self.of(value, " ")]

    def _query_behind(self, children: Sequence[Node], before: Before) -> Doc:
        """CREATE VIEW v AS, INSERT INTO sink: the query on lines of its own."""
        *head, query = children
        return Group([self._plain(head, before), self.of(query, LINE)])

    def _query(self, children: Sequence[Node], before: Before) -> Doc:
        if len(children) == 1:
            return self.of(children[0], before)
        made = [
            self.of(each, before if at == 0 else None if _is_matching(each) else HARD)
            for at, each in enumerate(children)
        ]
        return Group(made, broken=True)

    def _ctes(self, children: Sequence[Node], before: Before) -> Doc:
        return self._listed(children, before, HARD)

    def _select(self, children: Sequence[Node], before: Before) -> Doc:
        """A clause a line; all on one where there is one clause behind FROM at most."""
        made: list[Doc] = []
        names = [each.text if isinstance(each, Leaf) else each.rule for each in children]
        place = names.index("relation")
        for at, each in enumerate(children):
            line = LINE if names[at] == "FROM" or at > place else None
            doc = self.of(each, before if at == 0 else LINE if names[at] == "items" else line)
            made.append(Group(Nest(doc)) if names[at] == "items" else doc)
        return Group(made, broken=len(children) - place > 2)

    def _items(self, children: Sequence[Node], before: Before) -> Doc:
        return self._listed(children, before, LINE)

    def _clause(self, children: Sequence[Node], before: Before) -> Doc:
        first, *rest = children
        if len(rest) == 1:
            return [self.of(first, before), self.of(rest[0])]
        return [self.of(first, before), Group(Nest(self._listed(rest, None, LINE)))]

    def _listed(self, children: Sequence[Node], before: Before, line: Line) -> Doc:
        made: list[Doc] = []
        comma = False
        for at, each in enumerate(children):
            made.append(self.of(each, before if at == 0 else line if comma else None))
            comma = isinstance(each, Leaf) and each.text == ","
        return made

    def _relation(self, children: Sequence[Node], before: Before) -> Doc:
        made = []
        for at, each in enumerate(children):
            made.append(self.of(each, before if at == 0 else LINE if _is_join(each) else None))
        return made

    def _joined(self, children: Sequence[Node], before: Before) -> Doc:
        """A join in brackets: each JOIN begins a line where they do not fit on one."""
        opened, first, *joins, closed = children
        made = [self.of(first, SOFT), *(self.of(each, LINE) for each in joins)]
        return Group([self.of(opened, before), Nest(made), self.of(closed, SOFT)])

    def _run(self, children: Sequence[Node], before: Before) -> Doc:
        """An expression, whose lines end before AND and OR, outside of brackets."""
        made: list[Doc] = []
        depth, between = 0, False
        for at, each in enumerate(children):
            word = each.text.upper() if isinstance(each, Leaf) else ""
            depth += (word in ("(", "[")) - (word in (")", "]"))
            ends = word in BREAKS and depth == 0 and at > 0 and not (between and word == "AND")
            between = word == "BETWEEN" or (between and word != "AND")
            made.append(self.of(each, before if at == 0 else LINE if ends else None))
        return [made[0], Group(Nest(made[1:]))] if made else made

    # --- tokens, and what is between them ---

    def _leaf(self, leaf: Leaf) -> Doc:
        self.last = leaf
        return capitals(leaf, self.words)

    def _spaced(self, leaf: Leaf, before: Before) -> Line | str:
        if before is not None:
            return before
        if self.last is None or leaf.text in TIGHT_BEFORE or self.last.text in TIGHT_AFTER:
            return ""
        apart = leaf.start > self.last.end or self.last.text == ","
        return " " if apart else ""

    def _gap(self, until: int, planned: Line | str, top: bool = False) -> Doc:
        after = None if self.last is None else self.last.end
        return gap(self.source, after, until, planned, top)


Rule = Callable[[Layout, Sequence[Node], Before], Doc]
RULES: dict[str, Rule] = {
    "create_stream": Layout._create,
    "create_sink": Layout._create,
    "options": Layout._options,
    "option": Layout._option,
    "table_function": Layout._call,
    "subquery": Layout._call,
    "bracketed_join": Layout._joined,
    "cte": Layout._call,
    "spec": Layout._call,
    "create_view": Layout._query_behind,
    "create_as": Layout._query_behind,
    "insert": Layout._query_behind,
    "query": Layout._query,
    "ctes": Layout._ctes,
    "pipe": pipes.pipe,
    **dict.fromkeys(("piped_select", "extend", "aggregate"), pipes.operator),
    **dict.fromkeys(("assign", "dropped", "renamed"), Layout._clause),
    "columns": Layout._items,
    "select": Layout._select,
    "items": Layout._items,
    "relation": Layout._relation,
    "run": Layout._run,
    KEY: Layout._run,
    PIVOTED: Layout._run,
    **dict.fromkeys(
        ("where", "group", "having", "qualify", "named_windows", "order"), Layout._clause
    ),
}


def _is_matching(node: Node) -> bool:
    """Whether it stands behind UNION."""
    return isinstance(node, Branch) and node.rule == "matching"


def _is_join(node: Node) -> bool:
    """Whether it begins with a word; what a comma joins stands behind it."""
    if not isinstance(node, Branch) or node.rule not in ("join", "unnest"):
        return False
    first = node.children[0]
    return not (isinstance(first, Leaf) and first.text.startswith(","))
