"""A session of Spark Connect is refused where sinks and checkpoint would be in its server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlwin.spark
from sqlwin.errors import InputError
from sqlwin.spark.dataframes.query import SparkQuery
from sqlwin.sql import script

TEXT = "CREATE STREAM s (n INT); SELECT n FROM s"
CALLS: dict[str, Callable[[Any], Any]] = {
    "to()": lambda query: query.to(lambda rows, batch: None),
    "run()": lambda query: query.run(None, Path("state")),
    "start()": lambda query: query.start(None, Path("state")),
}


def session() -> Any:
    """Known by its class alone: what is refused comes to no server."""
    return type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()


@pytest.mark.parametrize("what", CALLS)
def test_what_writes_by_itself_is_refused(what: str) -> None:
    query = SparkQuery(session(), script(TEXT), {}, 10.0)
    with pytest.raises(InputError) as refusal:
        CALLS[what](query)
    assert str(refusal.value).startswith(f"{what} is not for a session of Spark Connect")
    assert "legal are results() and errors(), or a classic session" in str(refusal.value)


def test_a_script_is_refused() -> None:
    with pytest.raises(InputError, match="a script is not for a session of Spark Connect"):
        sqlwin.spark.query(session(), TEXT)
