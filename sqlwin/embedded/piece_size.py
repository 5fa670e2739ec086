"""How much of a file one batch reads.

A file is a batch, unless SET says how many bytes are one. Where somebody watches the results
arrive, the files there are now are cut into some twenty batches, so that the corrections of late
rows are seen; large files into more.

>>> piece_size(None, 2_000, watched=True), piece_size(None, 7, watched=True)
(100, 1)
>>> piece_size(None, 2_000, watched=False) is None, piece_size(50, 2_000, watched=True)
(True, 50)
"""

from __future__ import annotations

BATCHES, MOST = 20, 64 << 20


def piece_size(wanted: int | None, total: int, watched: bool) -> int | None:
    """Bytes; None: whole files. total: of the files there are."""
    if wanted is not None or not watched:
        return wanted
    return min(max(1, total // BATCHES), MOST)
