"""What Spark says of an expression: its type, and for each row a value or an error.

Spark analyses and optimises `SELECT <expression>` over the columns, as it does for any query; the
one rule left out computes what stands over literal rows while it plans, and so hides per-row
errors. The expression is then compiled by Spark's code generator and called row by row within
the JVM, `Evaluator.java`, so that a row that raises does not end the others. About 50 ms each.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tests.functions.canonical import Json, decoded, shape
from tests.functions.matrix import Case
from tests.functions.values import table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CATALYST = "org.apache.spark.sql.catalyst"
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.optimizer.excludedRules": ",".join(
        f"{_CATALYST}.optimizer.{rule}"
        for rule in ("ConvertToLocalRelation", "PropagateEmptyRelation")
    ),
}


@dataclass(frozen=True)
class Answer:
    """type: Spark's simple name; empty where the expression is refused, and why."""

    type: str
    rows: tuple[Json, ...] = ()
    refused: str = ""


class Oracle:
    """Spark over the columns of `values`, or those of another table."""

    def __init__(self, spark: SparkSession, rows: pa.Table | None = None) -> None:
        from pyspark.sql.pandas.types import from_arrow_schema

        self.spark = spark
        self.rows = table() if rows is None else rows
        # a time without a zone is a TIMESTAMP_NTZ, as it is here
        types = from_arrow_schema(self.rows.schema, prefer_timestamp_ntz=True)
        self._frame: Any = spark.createDataFrame(self.rows, types)
        self.shown()
        self._jvm: Any = spark._jvm
        self._names = self.rows.column_names
        self._last: tuple[str, tuple[Any, str]] = "", (None, "")

    def shown(self) -> None:
        """What `input` means is this table, until another one is shown."""
        self._frame.createOrReplaceTempView("input")

    def is_scalar(self, text: str) -> bool:
        """Whether it is one value of each row; also what Spark refuses."""
        execution, refused = self._analysed(text)
        if execution is None:
            return not refused.startswith(("UNRESOLVED_COLUMN", "UNSUPPORTED_GEN"))
        plan = execution.analyzed()
        if plan.nodeName() != "Project" or plan.expressions().size() != 1:
            return False
        only = plan.expressions().head()
        over_rows = plan.children().head().nodeName() == "SubqueryAlias"
        return bool(over_rows and only.deterministic() and "subquery#" not in only.toString())

    def _analysed(self, text: str) -> tuple[Any, str]:
        """Spark's execution of it, or why there is none."""
        if text != self._last[0]:
            try:
                frame = self.spark.sql(f"SELECT {text} AS x FROM input")
                self._last = text, (frame._jdf.queryExecution(), "")
            except failures() as refusal:
                self._last = text, (None, self._reason(refusal))
        return self._last[1]

    @cached_property
    def _evaluator(self) -> Any:
        rows = self._frame._jdf.queryExecution().executedPlan().executeCollect()
        given = self.spark.sparkContext._gateway.new_array(self._jvm.Object, 2)  # type: ignore[union-attr]
        given[0], given[1] = rows, self._frame._jdf.schema()
        return _constructor(self._jvm).newInstance(given)

    def answer(self, case: Case) -> Answer:
        """Of one case; never raises for what Spark says of the expression."""
        execution, refused = self._analysed(case.text)
        if execution is None:
            return Answer("", refused=refused)
        type_ = execution.analyzed().expressions().head().dataType()
        try:
            rows = self._rows(case, execution.optimizedPlan(), type_)
        except failures() as failure:  # constants that raise, before there is a row
            rows = ({"!": self._reason(failure)},) * len(case.picks)
        return Answer(type_.simpleString(), rows)

    def _rows(self, case: Case, plan: Any, type_: Any) -> tuple[Json, ...]:
        columns = ",".join(str(self._names.index(name)) for name in case.columns)
        picks = ",".join(str(at) for pick in case.picks for at in pick)
        text = self._evaluator.evaluate(plan, type_, columns, picks)
        form = shape(json.loads(type_.json()))
        return tuple(decoded(each, form) for each in json.loads(text))

    def _reason(self, failure: Any) -> str:
        """Spark's error class."""
        if hasattr(failure, "getCondition"):
            return str(failure.getCondition() or type(failure).__name__)
        return str(self._evaluator.reason(failure.java_exception))


@cache
def failures() -> tuple[type[Exception], ...]:
    """What Spark raises here: what PySpark knows, and the rest. An error of py4j itself is none."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


@cache
def _constructor(jvm: Any) -> Any:
    """Of the evaluator; made once, for py4j takes classes of one name for one class."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
    compiler.cook(Path(__file__).with_name("Evaluator.java").read_text("utf-8"))
    (made,) = compiler.getClassLoader().loadClass("Evaluator").getConstructors()
    return made


def configured(spark: SparkSession) -> SparkSession:
    """A session beside it."""
    made = spark.newSession()
    for name, value in SETTINGS.items():
        made.conf.set(name, value)
    logging.getLogger("SQLQueryContextLogger").disabled = True  # a page for each error
    return made


@contextmanager
def session() -> Iterator[SparkSession]:
    """With the settings that answers are recorded with; the active one, until the end."""
    from sqlwin.spark.session.local import activated, local_session

    beside = local_session(1)
    try:
        yield activated(configured(beside))
    finally:
        activated(beside)
