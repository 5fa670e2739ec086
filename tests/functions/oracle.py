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
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.functions.canonical import Json, decoded, shape
from tests.functions.matrix import Case
from tests.functions.values import COLUMNS, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CATALYST = "org.apache.spark.sql.catalyst"
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.ui.enabled": "false",
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
    """Spark over the columns of `values`."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._frame: Any = spark.createDataFrame(table())
        self._frame.createOrReplaceTempView("input")
        self._jvm: Any = spark._jvm
        self._plan = self._frame._jdf.queryExecution().analyzed()
        self._names = [column.name for column in COLUMNS]

    @cached_property
    def _evaluator(self) -> Any:
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        loader = self._jvm.Thread.currentThread().getContextClassLoader()
        compiler.setParentClassLoader(loader)
        compiler.cook(Path(__file__).with_name("Evaluator.java").read_text("utf-8"))
        rows = self._frame._jdf.queryExecution().executedPlan().executeCollect()
        (made,) = compiler.getClassLoader().loadClass("Evaluator").getConstructors()
        given = self.spark.sparkContext._gateway.new_array(self._jvm.Object, 2)  # type: ignore[union-attr]
        given[0], given[1] = rows, self._frame._jdf.schema()
        return made.newInstance(given)

    def answer(self, case: Case) -> Answer:
        """Of one case; never raises for what Spark says of the expression."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        failures = (PySparkException, Py4JJavaError)
        try:
            execution = self.spark.sql(f"SELECT {case.text} AS x FROM input")._jdf.queryExecution()
            type_ = self._only(execution.analyzed()).dataType()
        except failures as refusal:
            return Answer("", refused=self._reason(refusal))
        try:
            plan = execution.optimizedPlan()
            return Answer(type_.simpleString(), self._rows(case, plan, type_))
        except failures as failure:  # constants that raise, before there is a row
            raised = {"!": self._reason(failure)}
            return Answer(type_.simpleString(), (raised,) * len(case.picks))

    def _rows(self, case: Case, plan: Any, type_: Any) -> tuple[Json, ...]:
        columns = ",".join(str(self._names.index(name)) for name in case.columns)
        picks = ",".join(str(at) for pick in case.picks for at in pick)
        text = self._evaluator.evaluate(plan, type_, columns, picks)
        form = shape(json.loads(type_.json()))
        return tuple(decoded(each, form) for each in json.loads(text))

    def _only(self, plan: Any) -> Any:
        return plan.expressions().head()

    def _reason(self, failure: Any) -> str:
        """Spark's error class."""
        if hasattr(failure, "getCondition"):
            return str(failure.getCondition() or type(failure).__name__)
        return str(self._evaluator.reason(failure.java_exception))


@contextmanager
def session() -> Iterator[SparkSession]:
    from sqlwin.spark.session import local_session

    logging.getLogger("SQLQueryContextLogger").disabled = True  # a page for each error
    yield local_session(1, SETTINGS)
