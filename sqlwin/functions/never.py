"""Functions of Spark that the table will not have, and why."""

from __future__ import annotations

_KEYS = "keys do not belong in the text of a query; encrypt before or behind it"
NEVER: dict[str, str] = {
    "aes_encrypt": _KEYS,
    "aes_decrypt": _KEYS,
    "try_aes_decrypt": _KEYS,
    "sentences": "where words and sentences end differs from one Java to another",
    "randstr": "what it gives is left to chance",
}
