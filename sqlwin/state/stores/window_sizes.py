"""The sizes of a window store, checked."""

from __future__ import annotations

from datetime import timedelta

Size = int | timedelta


def instants_of(size: Size) -> int:
    return size // timedelta(microseconds=1) if isinstance(size, timedelta) else size


def check_sizes(name: str, retention: int, window_size: int, grace: int, interval: int) -> None:
    if not name:
        raise ValueError(f"a window store needs a name, got {name!r}")
    for what, size in (("retention", retention), ("window size", window_size), ("grace", grace)):
        if size < 0:
            raise ValueError(f"window store {name}: {what} cannot be negative, got {size}")
    if interval < 1:
        raise ValueError(f"window store {name}: segment interval is at least 1, got {interval}")
    for what, size in (("window size", window_size), ("grace", grace)):
        if size > retention:
            raise ValueError(
                f"window store {name}: {what} must not exceed retention,"
                f" got {what} {size} and retention {retention}"
            )
