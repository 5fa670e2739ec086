"""The rules of CREATE, DROP and INSERT, and of their options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError, Span
from sqlwin.plan.options.connectors import PARTITIONED
from sqlwin.plan.options.spellings import put_here, spelt_here
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, called, existing_of, key_of, meta_span, named
from sqlwin.sql.syntax.statements.functions import FunctionRules
from sqlwin.sql.text import ast, prepared


@v_args(meta=True)
class DeclarationRules(FunctionRules):
    source: str

    def column(self, meta: Meta, children: Children) -> ast.ColumnDef:
        return ast.ColumnDef(named(children[0]), type=children[1])

    def computed(self, meta: Meta, children: Children) -> ast.ColumnDef:
        return ast.ColumnDef(named(children[0]), expression=children[1])

    def watermark(self, meta: Meta, children: Children) -> ast.Watermark:
        return ast.Watermark(named(children[1]), children[2])

    def position(self, meta: Meta, children: Children) -> ast.Position:
        return ast.Position(named(children[0]), named(children[1]), len(children) == 3)

    def primary_key(self, meta: Meta, children: Children) -> ast.PrimaryKey:
        return ast.PrimaryKey(next(child for child in children if isinstance(child, tuple)))

    def create_stream(self, meta: Meta, children: Children) -> ast.CreateStream:
        kind, name = [child for child in children if isinstance(child, Token)][:2]
        parts = children
        made = ast.CreateStream(
            name=named(name),
            kind="STREAM" if str(kind).upper() == "SOURCE" else str(kind).upper(),
            columns=tuple(_columns(parts)),
            watermarks=tuple(p for p in parts if isinstance(p, ast.Watermark)),
            positions=tuple(p for p in parts if isinstance(p, ast.Position)),
            options=_options(parts, reads=True)[0],
            span=named(name).span,
            keys=tuple(p for p in parts if isinstance(p, ast.PrimaryKey)),
            places=_options(parts, reads=True)[1],
            existing=existing_of(parts),
            like=next((p for p in parts if isinstance(p, ast.Like)), None),
            written=self.written(meta),
            buckets=next((p.span for p in parts if isinstance(p, ast.Buckets)), None),
        )
        if not _is_ksqldb(made.options):
            return made
        from sqlwin.sql.syntax.statements import ksql_tables  # by need

        return ksql_tables.declared(made)

    def partitioned(self, meta: Meta, children: Children) -> ast.Partitions:
        word, *columns = children
        names = tuple(c.name if isinstance(c, ast.ColumnDef) else c for c in columns)
        new = tuple(c for c in columns if isinstance(c, ast.ColumnDef))
        for each in (c for c in new if c.type is not None and c.type.original.startswith("(")):
            message = "folders have the names of columns, and of no function of them"
            raise QueryError(message, each.name.span, legal="PARTITIONED BY (day), a column")
        return ast.Partitions(names, new, named(word).span)

    def partition_name(self, meta: Meta, children: Children) -> ast.Name:
        return named(children[0])

    def buckets(self, meta: Meta, children: Children) -> ast.Buckets:
        return ast.Buckets(named(children[0]).span)

    def like_columns(self, meta: Meta, children: Children) -> ast.Like:
        return ast.Like(named(children[-1]), options=False)

    def like_table(self, meta: Meta, children: Children) -> ast.Like:
        return ast.Like(named(children[-1]), options=True)

    def or_replace(self, meta: Meta, children: Children) -> ast.Existing:
        return ast.Existing.REPLACED

    def if_not_exists(self, meta: Meta, children: Children) -> ast.Existing:
        return ast.Existing.KEPT

    def create_view(self, meta: Meta, children: Children) -> ast.CreateView:
        name = next(c for c in children if isinstance(c, Token) and c.type == "NAME")
        select = called(children[-1], _lists(children))
        return ast.CreateView(named(name), select, existing_of(children), self.written(meta))

    def create_as(self, meta: Meta, children: Children) -> ast.CreateAs:
        kind, name = (child for child in children if isinstance(child, Token))
        select, existing = called(children[-1], _lists(children)), existing_of(children)
        _refuse_layout(children)
        made = self._named_result(key_of(kind), named(name), select, _options(children), existing)
        return replace(made, written=self.written(meta))

    def names(self, meta: Meta, children: Children) -> tuple[ast.Name, ...]:
        return tuple(named(child) for child in children)

    def create_sink(self, meta: Meta, children: Children) -> ast.CreateSink | ast.CreateAs:
        name = named(next(c for c in children if isinstance(c, Token)))
        existing, options = existing_of(children), _options(children)
        select = next((c for c in children if isinstance(c, ast.Select)), None)
        if select is not None:
            result = self._named_result("SINK", name, select, options, existing)
            return replace(result, written=self.written(meta))
        columns = tuple(_columns(children))
        _refuse_layout(children, columns=True)
        return ast.CreateSink(name, columns, *options, existing, self.written(meta))

    def sink_of(self, meta: Meta, children: Children) -> ast.Select:
        """RisingWave's `CREATE SINK s FROM view`, and `AS SELECT`."""
        (read,) = children
        return read if isinstance(read, ast.Select) else _all_of(named(read))

    def _named_result(
        self,
        kind: str,
        name: ast.Name,
        select: ast.Select,
        options: tuple[ast.Options, ast.Places],
        existing: ast.Existing,
    ) -> ast.CreateAs:
        sink = ast.CreateSink(name, (), *options) if options[0] or kind == "SINK" else None
        return ast.CreateAs(kind, name, select, sink, existing)

    def statement_set(self, meta: Meta, children: Children) -> ast.EndOfSet | None:
        """Its INSERTs run together, as all of a text do."""
        return ast.EndOfSet() if key_of(children[0]) == "END" else None

    def executed(self, meta: Meta, children: Children) -> ast.Insert:
        return children[-1]  # type: ignore[no-any-return]

    def drop(self, meta: Meta, children: Children) -> ast.Drop:
        kind, *rest = children
        name = next(c for c in rest if isinstance(c, Token) and c.type == "NAME")
        word = key_of(kind).replace("SOURCE", "STREAM")
        return ast.Drop(word, named(name), if_exists=True in rest)

    def if_exists(self, meta: Meta, children: Children) -> bool:
        return True

    def insert(self, meta: Meta, children: Children) -> ast.Insert:
        sink, *more, select = children
        names = [each for each in more if isinstance(each, tuple)]
        if names:
            message = "the columns of an INSERT go by their places, and by no list of names"
            legal = f"INSERT INTO {named(sink).text} SELECT …, in the order of the sink's columns"
            raise QueryError(message, names[0][0].span, legal=legal)
        name = named(sink)
        if len(more) > len(names):
            from sqlwin.sql.syntax.hints.options import optioned  # by need

            name = optioned(name, named(more[0]), reads=False)
        return ast.Insert(name, select)

    def options(self, meta: Meta, children: Children) -> Clause:
        times = Counter(key for key, _, _ in children)
        for key in times:
            if times[key] > 1:
                raise QueryError(f"the option {key} is given twice", meta_span(meta), legal="once")
        options = tuple((key, value) for key, value, _ in children)
        places = tuple((name, at) for key, _, at in children for name in {key, spelt_here(key)})
        return Clause("WITH", (options, places), meta_span(meta))

    def sink_options(self, meta: Meta, children: Children) -> Clause:
        return self.options(meta, children[1:])

    def option(self, meta: Meta, children: Children) -> tuple[str, str, Span]:
        return children[0], children[1], meta_span(meta)

    def encoding(self, meta: Meta, children: Children) -> Clause:
        """RisingWave's FORMAT PLAIN ENCODE JSON."""
        named = str(children[-1]).lower()
        return Clause("ENCODE", ("format", named, meta_span(meta)), meta_span(meta))

    def key(self, meta: Meta, children: Children) -> str:
        return ".".join(prepared.unquoted(str(child)) for child in children)

    def value(self, meta: Meta, children: Children) -> str:
        return prepared.unquoted(str(children[0]))


def unbucketed(span: Span) -> QueryError:
    message = "what is written has no buckets, on which its readers would count"
    legal = "PARTITIONED BY (day), for folders; unique = 'id', for the key of Kafka's records"
    return QueryError(message, span, legal=legal)


def _refuse_layout(children: Children, columns: bool = False) -> None:
    """Of what is written; columns: whether PARTITIONED BY may declare some."""
    for each in children:
        if isinstance(each, ast.Buckets):
            raise unbucketed(each.span)
        if isinstance(each, ast.Partitions) and each.columns and not columns:
            message = "the columns of a query have their types"
            raise QueryError(message, each.columns[0].name.span, legal="PARTITIONED BY (day)")


def _columns(children: Children) -> Iterator[ast.ColumnDef]:
    """Those of PARTITIONED BY last, where they are declared there."""
    yield from (c for c in children if isinstance(c, ast.ColumnDef))
    yield from (c for p in children if isinstance(p, ast.Partitions) for c in p.columns)


def _is_ksqldb(options: ast.Options) -> bool:
    return any(name.lower() == "kafka_topic" for name, _ in options)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _lists(children: Children) -> list[tuple[ast.Name, ...]]:
    return [child for child in children if isinstance(child, tuple)]


def _all_of(name: ast.Name) -> ast.Select:
    return ast.Select((ast.Run("*", "*", name.span),), ast.From(name), name.span)


def _options(children: Children, reads: bool = False) -> tuple[ast.Options, ast.Places]:
    """Of WITH, and the format behind it, as they are called here. reads: of a source."""
    by_word = {c.word: c.value for c in children if isinstance(c, Clause)}
    given, places = by_word.get("WITH", ((), ()))
    options = tuple(sorted(put_here(dict(given), reads).items()))
    for partitions in (c for c in children if isinstance(c, ast.Partitions)):
        if PARTITIONED in dict(options):
            raise QueryError("the partitions are given twice", partitions.span, legal="once")
        texts = ", ".join(_quoted(name.text) for name in partitions.names)
        options = tuple(sorted((*options, (PARTITIONED, texts))))
        places = (*places, (PARTITIONED, partitions.span))
    if _is_ksqldb(options) and not reads:
        from sqlwin.sql.syntax.statements import ksql_tables  # by need

        options = ksql_tables.put_here(options)
    if "ENCODE" not in by_word:
        return options, places
    name, value, span = by_word["ENCODE"]
    if name in dict(options):
        raise QueryError("the format is given twice", span, legal="once")
    return tuple(sorted((*options, (name, value)))), (*places, (name, span))
