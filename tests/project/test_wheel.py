"""The wheel holds all that a query needs, and works with no checkout at hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import sqlwin

REPO = Path(__file__).parents[2]
GRAMMAR = REPO / "grammar" / "sqlwin.lark"

pytestmark = pytest.mark.long

QUERY = """
CREATE STREAM orders (product STRING, value DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders.csv', format = 'csv');
SELECT window_start, product, COUNT(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)
GROUP BY window_start, window_end, product;
"""


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the backend already installed, so without the network."""
    out = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), "."),
        cwd=REPO,
    )
    (built,) = out.glob("sqlwin-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
        *("--target", str(site), str(wheel)),
        cwd=site,
    )
    return site


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and what it asks for, as pinned, alone."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=True)
    pinned = (REPO / "requirements.lock").read_text(encoding="utf-8")
    (home / "pinned.txt").write_text(
        re.sub(r"\[[\w,-]+\]", "", pinned)
    )  # pip takes no extras there
    run(
        *(str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--use-pep517"),
        *("--constraint", "pinned.txt", str(wheel)),
        cwd=home,
    )
    return home / "bin"


def python(installed: Path, code: str, *args: str) -> str:
    """Run `code` where the installed sqlwin comes before the checkout's."""
    first = f"import sys; sys.path.insert(0, {str(installed)!r})\n"
    return run(sys.executable, "-c", first + code, *args, cwd=installed)


def test_the_wheel_holds_code_grammar_types_and_licence(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"sqlwin/__init__.py", "sqlwin/py.typed", "sqlwin/grammar/sqlwin.lark"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    launcher = zipfile.ZipFile(wheel).getinfo("sqlwin/spark/workers/worker-python")
    assert launcher.external_attr >> 16 & 0o111
    assert {name.split("/")[0] for name in names} == {
        "sqlwin",
        f"sqlwin-{sqlwin.__version__}.dist-info",
    }


def test_the_wheel_holds_the_whole_grammar_folder(installed: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    assert contents(installed / "sqlwin" / "grammar") == contents(REPO / "grammar")


def test_the_installed_package_is_the_one_that_is_imported(installed: Path) -> None:
    where = python(installed, "import sqlwin; print(sqlwin.__file__)")
    assert Path(where.strip()).is_relative_to(installed)


def test_check_finds_the_grammar_in_the_wheel(installed: Path) -> None:
    (installed / "orders.csv").write_text("product,value,ts\n")
    (installed / "query.sql").write_text(QUERY)
    python(installed, "from sqlwin.cli import main\nsys.exit(main())", "check", "query.sql")


def test_a_query_runs_in_an_empty_environment(environment: Path, tmp_path: Path) -> None:
    rows = [
        "tea,1,2024-01-01T09:00:10Z",
        "tea,2,2024-01-01T10:00:10Z",
        "tea,4,2024-01-01T09:30:00Z",
    ]
    (tmp_path / "orders.csv").write_text("\n".join(["product,value,ts", *rows, ""]))
    (tmp_path / "query.sql").write_text(QUERY)
    program, here = str(environment / "sqlwin"), tmp_path / "elsewhere"
    here.mkdir()
    without = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [program, "run", "../query.sql", "--engine", "embedded", "--output", "csv"],
        cwd=here,
        env=without,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [line.split(",")[:3] for line in done.stdout.splitlines()]
    full = [["2024-01-01T09:00:00Z", "tea", "2"], ["2024-01-01T10:00:00Z", "tea", "1"]]
    assert found == [["window_start", "product", "n"], *full]
    version = "import sqlwin; print(sqlwin.__version__, sqlwin.__file__)"
    said = run(str(environment / "python"), "-c", version, cwd=here, env=without).split()
    assert said[0] == sqlwin.__version__
    assert Path(said[1]).is_relative_to(environment.parent)
