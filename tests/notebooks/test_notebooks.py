"""The notebooks of the docs run from the top, and are kept without what they show."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from traitlets import default

REPO = Path(__file__).parents[2]
NOTEBOOKS = sorted((REPO / "docs" / "notebooks").glob("*.ipynb"))


class WithoutPorts(AsyncKernelManager):
    """Files instead of ports."""

    @default("transport")
    def _transport(self) -> str:
        return "ipc"


def read(notebook: Path) -> nbformat.NotebookNode:
    return nbformat.read(notebook, as_version=4)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_has_no_output(notebook: Path) -> None:
    nbformat.validate(read(notebook))
    for cell in read(notebook).cells:
        assert cell.cell_type != "code" or (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel of this Python."""
    for folder in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(folder, str(tmp_path))
    client = NotebookClient(read(notebook), timeout=300, kernel_manager_class=WithoutPorts)
    ran = client.execute()
    shown = [output for cell in ran.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.output_type == "error"]
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert any("+U" in page for page in pages)
    assert any("<b>Operator:</b>" in page for page in pages)
