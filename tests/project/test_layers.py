import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]

# Imports every module outside spark/ with pyspark out of reach.
IMPORT_WITHOUT_PYSPARK = """
import importlib, pkgutil, sys
sys.modules["pyspark"] = None
sys.path.insert(0, sys.argv[1])
import sqlwin
SPARK = ("sqlwin.spark", "sqlwin.testing.on_spark")
for module in pkgutil.walk_packages(sqlwin.__path__, "sqlwin."):
    if module.name.startswith(SPARK) or module.name.endswith("__main__"):
        continue
    importlib.import_module(module.name)
    print(module.name)
"""


def run(*command: str, cwd: Path = REPO) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("lint-imports")
    return run(str(command), "--no-cache", cwd=checkout)


def test_no_test_is_imported_by_another() -> None:
    """What several share is in `tests/support`."""
    found = re.compile(
        r"^\s*(from|import) tests\.[\w.]*test_|^from tests[\w.]* import .*\btest_", re.M
    )
    files = [path for folder in ("tests", "bench") for path in (REPO / folder).rglob("*.py")]
    assert [path for path in files if found.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.long
def test_nothing_but_spark_needs_pyspark_to_import() -> None:
    imported = run(sys.executable, "-c", IMPORT_WITHOUT_PYSPARK, str(REPO))
    assert imported.returncode == 0, imported.stderr
    assert "sqlwin.kernels" in imported.stdout.splitlines()


# Each goes up, by another contract.
WRONG = [
    ("kernels", "sqlwin.state"),
    ("operators", "sqlwin.plan.ir.nodes"),
    ("sql", "sqlwin.state"),
    ("embedded", "sqlwin.spark"),
    ("errors", "sqlwin.windows"),
    ("plan", "lark"),
    ("runtime", "pyspark"),
]


def test_imports_that_go_up_are_found(tmp_path: Path) -> None:
    """The contracts themselves: of a copy of the package with wrong imports in it each is found."""
    copy_packages(tmp_path)
    for importer, imported in WRONG:
        folder = tmp_path / "sqlwin" / importer
        module = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        module.write_text(module.read_text() + f"\nimport {imported}\n")
    linted = lint(tmp_path)
    assert linted.returncode == 1, linted.stdout + linted.stderr
    for importer, imported in WRONG:
        assert f"sqlwin.{importer} -> {imported}" in linted.stdout


def copy_packages(to: Path) -> None:
    (to / "pyproject.toml").write_text((REPO / "pyproject.toml").read_text())
    for source in sorted((REPO / "sqlwin").rglob("*.py")):
        copy = to / source.relative_to(REPO)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source.read_text())
