"""Goldens that pytest collects, in a project of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = """\
title: a sum
--- query
CREATE STREAM s (n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);
SELECT SUM(n) AS total FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start
--- feed s
n | ts
1 | 2024-01-01T09:00:00Z
2 | 2024-01-01T09:01:00Z
--- expect
op | emit | revision | total
+I | full | 0        | 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nsqlwin_goldens = *.golden\n")
    (tmp_path / "sum.golden").write_text(GOLDEN)
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_goldens_are_collected_run_and_written(project: Path) -> None:
    (project / "other.golden").write_text(GOLDEN.replace("| 1\n", "| 7\n").replace("a sum", "off"))
    ran = run(project)
    assert "1 failed, 1 passed" in ran.stdout
    assert "! +I | full | 0        | 7 -> 1" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "2 passed" in run(project, "--sqlwin-update").stdout
    assert "2 passed" in run(project).stdout


def test_without_the_setting_nothing_is_collected_and_nothing_imported(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "test_light.py").write_text(
        "import sys\ndef test_light():\n    assert 'sqlwin.plan' not in sys.modules\n"
        "    assert 'polars' not in sys.modules\n"
    )
    assert "1 passed" in run(project).stdout


@pytest.mark.spark(processes=True)
@pytest.mark.long
def test_on_spark(project: Path) -> None:
    assert "2 passed" in run(project, "--sqlwin-engine", "both").stdout
