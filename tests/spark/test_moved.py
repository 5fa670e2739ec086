"""A checkpoint of Spark in another folder names the schemas of its state by that folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from sqlwin.spark.moved import _sums, in_place
from tests.support.state.checkpoint_fixtures import FOLDER

MADE = FOLDER / "checkpoint_v5_spark" / "state" / "spark"
CHECKSUM = Path("state") / "0" / "_metadata" / "v2" / ".0.crc"
PLACE = Path("state") / "0" / "_metadata" / "v2" / "0"


def schemas(spark: Path) -> list[str]:
    head, body = (spark / PLACE).read_text().split("\n")
    assert head == "v2"
    (store,) = json.loads(body)["stateStoreInfo"]
    return list(store["stateSchemaFilePaths"])


def test_moved_twice(tmp_path: Path) -> None:
    """Also into a folder with a quote and a blank in its name."""
    here = shutil.copytree(MADE, tmp_path / "a")
    (old,) = schemas(here)
    assert old.startswith("file:/checkpoints/orders/")
    for name in ("a", 'b "c"'):
        here = here.rename(tmp_path / name)
        in_place(here)
        (now,) = schemas(here)
        assert now.startswith(f"file:{tmp_path / name}/")
        assert Path(now.removeprefix("file:")).is_file()
        assert (here / CHECKSUM).read_bytes() == _sums((here / PLACE).read_bytes())
    rest = (here / PLACE).read_text().replace(json.dumps(now), json.dumps(old))
    assert rest == (MADE / PLACE).read_text()


def test_what_is_in_place_is_left(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    in_place(here)
    before = (here / PLACE).stat()
    in_place(here)
    assert (here / PLACE).stat() == before


def test_what_is_no_file_here_is_left(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    (old,) = schemas(here)
    for other in (
        "file:/checkpoints/x/_stateSchema/default/1_gone",
        old.replace("file:", "s3a://b"),
    ):
        text = (here / PLACE).read_text()
        (here / PLACE).write_text(text.replace(schemas(here)[0], other))
        in_place(here)
        assert schemas(here) == [other]


def test_what_is_damaged_is_left_for_spark_to_refuse(tmp_path: Path) -> None:
    here = shutil.copytree(MADE, tmp_path / "a")
    damaged = (here / PLACE).read_bytes().replace(b"default", b"\xffefault")
    (here / CHECKSUM).write_bytes(_sums((here / PLACE).read_bytes()))
    (here / PLACE).write_bytes(damaged)
    in_place(here)
    assert (here / PLACE).read_bytes() == damaged


def test_the_checksum_is_that_of_hadoop() -> None:
    offsets = MADE / "offsets"
    assert (offsets / ".0.crc").read_bytes() == _sums((offsets / "0").read_bytes())


def test_there_may_be_no_state_yet(tmp_path: Path) -> None:
    in_place(tmp_path / "spark")
