"""FROM with joins to a relation over a plan's Join.

Inputs are read first, so that names are distinguished; then each join's words, windows
and condition are looked at, from the left; then WHERE, which goes as far down as it
may; then the plan is made, in `join_plans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.joins import HALVES, StaticScan
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr, column, parsed
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.joins.asof import nearest_by, version_of
from sqlwin.sql.joins.changes import by_changes, refuse_more
from sqlwin.sql.joins.conditions import is_true, on, take
from sqlwin.sql.joins.inputs import Input, inputs
from sqlwin.sql.joins.kinds import MIRRORED, join_type, refuse
from sqlwin.sql.joins.last_rows import alone, is_last, is_now, looked_up
from sqlwin.sql.joins.plans import Plans
from sqlwin.sql.joins.tree import Leaf, Pair, Term, Tree
from sqlwin.sql.joins.windows import windowed
from sqlwin.sql.relations.rank_bounds import conjuncts
from sqlwin.sql.relations.relation import NOWHERE, Relation, nearest
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.from_clause import refuse_matches
from sqlwin.sql.sources.known import Bind, Known
from sqlwin.sql.text import ast

_SIGNS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


@dataclass
class PartialJoin:
    """What has been joined so far. visible: the inputs whose columns may be named.

    merged: columns of USING by their names in lower case. computed: what columns of LATERAL are
    where they are not those of its query, by their names in the join.
    """

    tree: Tree
    visible: list[Input]
    merged: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    computed: dict[str, Expr] = field(default_factory=dict)

    def scope(self, *more: Input) -> Scope:
        return Scope(self.relation([*self.visible, *more]))

    def relation(self, seen: Sequence[Input]) -> Relation:
        """All that may be named, over the join's names."""
        plain = [
            (name, self.computed.get(name) or column(name), NOWHERE)
            for i in seen
            for side in i.sides
            for _, name in side.columns
        ]
        merged = [(name, tree, NOWHERE) for name, tree in self.merged.values()]
        return Relation(
            base=seen[0].relation.base,
            columns=(*plain, *merged),
            names=tuple(side.name for i in seen for side in i.sides),
            sides=tuple(side for i in seen for side in i.sides),
            merged=tuple(name for name, _ in self.merged.values()),
            same=tuple(self.tree.same.items()),
        )

    def over(self, made: Relation) -> Relation:
        """What a query reads: all that is visible, over the plan."""
        seen = self.relation(self.visible)
        return replace(
            seen,
            base=made.base,
            predicate=made.predicate,
            predicate_run=made.predicate_run,
            ttl=made.ttl,
            reads=made.reads,
        )

    def terms(self, run: ast.Run, where: str, *more: Input, own: Input | None = None) -> list[Term]:
        """The conditions that `run` joins by AND. own: whose columns bare names mean first."""
        tree = parsed(run)
        refuse_calls(tree, run, where)
        scope = self.scope(*more)
        below = scope.relation.below
        return [
            Term(below(scope.resolved(_owned(part, own), run)), run, place(part, run))
            for part in conjuncts(tree)
            if not is_true(part)
        ]

    def member(
        self, equal: tuple[ast.Run, ast.Run], right: Input, unknown: bool, sign: str
    ) -> Term:
        """`x IN (SELECT y …)` as the equality of x, of what was joined before, and y, or as the
        comparison of ANY. unknown: whether a pair matches, too, that has a NULL, as of NOT IN,
        which is then not true."""
        scopes, owns = (self.scope(), self.scope(right)), (None, right)
        trees = []
        for run, scope, own in zip(equal, scopes, owns, strict=True):
            tree = parsed(run)
            refuse_calls(tree, run, "IN")
            trees.append(scope.relation.below(scope.resolved(_owned(tree, own), run)))
        both: Expr = _SIGNS[sign](this=exp.paren(trees[0]), expression=exp.paren(trees[1]))
        if unknown:
            both = exp.Coalesce(this=both, expressions=[exp.true()])
        return Term(both, equal[0], equal[0].span)


def joined(select: ast.Select, known: Known, bind: Bind) -> Relation:
    """The relation of FROM, WHERE and the policies; all three are then done with."""
    joins = select.relation.joins
    refuse_matches((select.relation, *(join.right for join in joins)))
    if any(join.right.open for join in joins):
        from sqlwin.sql.joins.brackets import flat  # by need

        select = replace(select, relation=flat(select.relation, known))
    source = mirrored(select.relation, known)
    changes = select.instants is not None and by_changes(source, known)
    if changes:
        source = mirrored(select.relation, known, tables=True)
    first, *rest = inputs(source, known, bind, select, changes)
    if first.last is not None:
        raise alone(first.last)
    joining = PartialJoin(Leaf(first), [first])
    for join, right in zip(source.joins, rest, strict=True):
        _join(joining, join, right)
        if join is source.joins[0] and source is not select.relation:
            joining.visible.reverse()  # as they stand in the text
    for term in joining.terms(select.where, "WHERE") if select.where else ():
        take(joining.tree, term)
    large = known.large if select.large is None else select.large
    made = Plans(select.policies, large, known, select.ttl).of(joining.tree)
    return joining.over(made)


def _owned(tree: Expr, own: Input | None) -> Expr:
    """A bare name with the name of the input that has it, where that one comes first; so is one
    behind the name by which the text knows that input."""
    if own is None:
        return tree
    known = ("", own.called.lower())
    for node in list(tree.find_all(exp.Column)):
        if node.table.lower() in known and own.side.find(node.name) is not None:
            node.set("table", exp.to_identifier(own.side.name, quoted=True))
    return tree


def mirrored(source: ast.From, known: Known, tables: bool = False) -> ast.From:
    """A stream behind a static table, or behind last rows, and JOIN looks them up, as if it stood
    before them. tables: behind a static table alone."""
    joins = source.joins
    word = MIRRORED.get(joins[0].word.text) if joins else None
    if word is None or source.as_of is not None or not _looked_up(source, joins[0], known, tables):
        return source
    table = replace(source, joins=(), above=None)
    looked_up = replace(joins[0], word=replace(joins[0].word, text=word), right=table)
    return replace(joins[0].right, joins=(looked_up, *joins[1:]), above=source.above)


def _looked_up(source: ast.From, join: ast.Join, known: Known, tables: bool) -> bool:
    if is_last(source.window) and not tables:
        return is_now(join.right.window)
    return is_static(source, known) and not is_static(join.right, known)


def is_static(source: ast.From, known: Known) -> bool:
    name = source.source
    return isinstance(name, ast.Name) and isinstance(known.relation(name).base, StaticScan)


def _join(joining: PartialJoin, join: ast.Join, right: Input) -> None:
    type_ = join_type(join.word)
    refuse(join, type_, right)
    pair = Pair(joining.tree, Leaf(right), type_.kind, join.word)
    pair.scalar, pair.single = join.scalar, join.single
    own = right if join.nested else None
    terms = joining.terms(join.on, "ON", right, own=own) if join.on else []
    unknown = type_.kind == "anti"
    terms += [joining.member(equal, right, unknown, join.sign) for equal in join.equal]
    if type_.asof:
        match = joining.terms(join.match, "MATCH_CONDITION", right) if join.match else None
        pair.op, terms = nearest_by(pair, match, terms)
    elif right.as_of is not None:
        pair.op = version_of(pair, joining.scope(), right.as_of)
    elif right.last is not None:
        pair.op = looked_up(pair, type_, join.within)
    if right.stay is None:
        windowed(pair, join.within)
    else:
        refuse_more(pair, join.within)
    for name in join.using:
        joining.merged[name.text.lower()] = _using(joining, pair, name)
    for term in terms:
        on(pair, term)
    joining.tree = pair
    if type_.kind not in HALVES:
        joining.visible.append(right)
    joining.computed |= dict([_computed(joining, right, *each) for each in join.computed])


def _computed(joining: PartialJoin, right: Input, name: str, run: ast.Run) -> tuple[str, Expr]:
    scope = joining.scope()
    found = right.side.find(name)
    assert found is not None
    return found, scope.relation.below(scope.resolved(parsed(run), run))


def _of_right(right: Leaf, name: ast.Name) -> str:
    """The column of the right input, or of one of those of a join in brackets, by its name."""
    sides, same = right.input.sides, right.same
    found = {side: called for side in sides if (called := side.find(name.text)) is not None}
    if not found:
        names = [own for side in sides for own, _ in side.columns]
        message = f"{right.input.side.name} has no column {name.text}"
        raise QueryError(message + nearest(name.text, names), name.span, legal=", ".join(names))
    first, *others = dict.fromkeys(same.get(called, called) for called in found.values())
    if others:
        message = f"{name.text} is a column of {len(found)} inputs of this join"
        legal = " or ".join(f"ON … = {side.name}.{name.text}" for side in found)
        raise QueryError(message, name.span, legal=legal)
    return first


def _using(joining: PartialJoin, pair: Pair, name: ast.Name) -> tuple[str, Expr]:
    """The column of USING, and what it is above the join; its equality is a key."""
    run = ast.Run(name.text, name.text, name.span)
    scope = joining.scope()
    left = scope.relation.below(scope.resolved(exp.column(name.text), run))
    right = column(_of_right(pair.right, name))
    pair.keys.append((left, right, run))
    if pair.kind == "full":
        return name.text, exp.Coalesce(this=copied(left), expressions=[copied(right)])
    return name.text, right if pair.kind == "right" else left
