"""A checkpoint on Spark as a file, from one, and in other buckets, offline."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sqlwin.cli import main
from sqlwin.embedded.checkpoint import moves as embedded
from sqlwin.embedded.run import run as run_embedded
from sqlwin.errors import InputError, RunError, StateError
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.files.lock import locked
from sqlwin.spark.checkpoint.exporting import export_checkpoint
from sqlwin.spark.checkpoint.folder import Folder
from sqlwin.spark.checkpoint.importing import import_checkpoint
from sqlwin.spark.checkpoint.imports import note
from sqlwin.spark.checkpoint.repartitioning import repartition
from sqlwin.spark.run import run
from tests.support.runtime.moves import Moved, question

SOME = ("session", "chain", "asof_ttl")
REST = ("tumble", "range", "top", "lived", "outer", "rows", "ranks", "tuples", "totals")
MOVED = (*SOME, *REST, "join", "asof", "join_ttl", "outer_ttl")


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("names", "offset"), [(SOME, False), (MOVED, True)])
def test_there_and_back_and_in_other_buckets(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...], offset: bool
) -> None:
    """In process, 3 buckets on Spark, 2 buckets on 2 partitions, and in process again: nothing is
    lost and nothing is there twice."""
    moved = Moved(tmp_path, [question(name, "early", offset) for name in names])
    moved.land()
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "one"))
    embedded.export_checkpoint(tmp_path / "one", tmp_path / "first")
    shutil.rmtree(tmp_path / "one")
    import_checkpoint(spark, tmp_path / "first", tmp_path / "two", buckets=3, partitions=2)
    moved.land()
    run(moved.script, RunOptions(tmp_path, tmp_path / "two"), spark)
    before = repartition(spark, tmp_path / "two", 2)
    assert before == tmp_path / "two.before"
    shutil.rmtree(before)
    moved.land()
    run(moved.script, RunOptions(tmp_path, tmp_path / "two"), spark)
    export_checkpoint(spark, tmp_path / "two", tmp_path / "second")
    shutil.rmtree(tmp_path / "two")
    embedded.import_checkpoint(tmp_path / "second", tmp_path / "three")
    moved.land()
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "three", drain=True))
    moved.check()


@pytest.mark.spark
def test_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    moved = Moved(tmp_path, [question("tumble"), question("totals")])
    moved.land()
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "one"))
    embedded.export_checkpoint(tmp_path / "one", tmp_path / "x")
    with pytest.raises(InputError, match="is there already; an import makes a new folder"):
        import_checkpoint(spark, tmp_path / "x", tmp_path / "one")
    note(Folder(str(tmp_path / "two" / "sqlwin")), 3, done=False)
    with pytest.raises(StateError, match=r"the import into .*/two did not end: delete that folder"):
        run(moved.script, RunOptions(tmp_path, tmp_path / "two"), spark)
    shutil.rmtree(tmp_path / "two")
    import_checkpoint(spark, tmp_path / "x", tmp_path / "two")
    (tmp_path / "two" / "spark" / "offsets" / "1").write_text("begun")
    with pytest.raises(InputError, match="batch 3 has begun and is not committed, so sinks may"):
        export_checkpoint(spark, tmp_path / "two", tmp_path / "y")
    (tmp_path / "two" / "spark" / "offsets" / "1").unlink()
    shutil.rmtree(tmp_path / "two" / "sqlwin" / "listing")
    with pytest.raises(InputError, match="of a query over DataFrames, the positions of whose"):
        export_checkpoint(spark, tmp_path / "two", tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_queries_that_have_read_to_different_places(tmp_path: Path, spark: SparkSession) -> None:
    moved = Moved(tmp_path, [question("tumble"), question("totals")])
    moved.land()
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "one"))
    moved.land()
    stops = iter([False, True])
    options = RunOptions(tmp_path, tmp_path / "one", stop=lambda: next(stops))
    run_embedded(moved.script, options)  # the first query's batch alone
    embedded.export_checkpoint(tmp_path / "one", tmp_path / "x")
    with pytest.raises(InputError, match="the queries have read s to different places"):
        import_checkpoint(spark, tmp_path / "x", tmp_path / "two")
    with pytest.raises(InputError, match="has 1 bucket and 1 partition at least"):
        import_checkpoint(spark, tmp_path / "x", tmp_path / "two", buckets=0)
    embedded.import_checkpoint(tmp_path / "x", tmp_path / "two")
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "two", drain=True))
    moved.check()


def test_the_commands(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = Moved(tmp_path, [question("tumble")])
    moved.land()
    run_embedded(moved.script, RunOptions(tmp_path, tmp_path / "one"))
    one, two, file = (str(tmp_path / name) for name in ("one", "two", "x"))
    assert main(["state", one, "--export", file]) == 0
    assert main(["state", two, "--import", file, "--buckets", "3"]) == 0
    assert main(["state", two, "--repartition", "2"]) == 0
    assert "two.before" in capsys.readouterr().err
    assert main(["state", two, "--status", "--format", "csv"]) == 0
    assert "cut,buckets,2" in capsys.readouterr().out
    assert main(["state", one, "--repartition", "2"]) == 2
    assert "no buckets" in capsys.readouterr().err
    assert main(["state", two, "--export", file, "--status"]) == 2
    assert "stands alone" in capsys.readouterr().err
    assert main(["state", two, "--buckets", "2"]) == 2
    assert "--buckets goes with --import" in capsys.readouterr().err


def test_locked(tmp_path: Path, spark: SparkSession) -> None:
    with (
        locked(tmp_path / "one" / "sqlwin"),
        pytest.raises(RunError, match="another process runs on the checkpoint"),
    ):
        export_checkpoint(spark, tmp_path / "one", tmp_path / "y")
