"""The libraries that draw, an extra: imported where something is drawn, and only there."""

from __future__ import annotations

from typing import Any

from sqlwin.errors import InputError

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def charting() -> Any:
    """Altair; InputError with what to install where it, or what renders it, is missing."""
    try:
        import altair
        import vl_convert  # noqa: F401  draws and bundles what Altair describes
    except ImportError as missing:
        raise InputError(
            f"pictures need {missing.name}: install the extra, pip install 'sqlwin[charts]'"
        ) from None
    return altair
