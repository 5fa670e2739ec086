"""Options as Flink and RisingWave spell them, put as they are here: a declaration runs as pasted.

What means the same under another name is renamed, and what is so anyway is left out. Whatever else
differs stays as it is, and is refused with what is written here (`elsewhere`).

>>> put_here({"connector": "filesystem", "path": "orders", "format": "csv"}, reads=True)
{'connector': 'files', 'path': 'orders', 'format': 'csv', 'header': 'false'}
>>> put_here({"connector": "kafka", "properties.bootstrap.servers": "a:9092",
...           "properties.group.id": "g", "scan.startup.mode": "latest-offset"})
{'connector': 'kafka', 'servers': 'a:9092', 'start': 'latest'}
>>> put_here({"scan.startup.mode": "group-offsets"})
{'scan.startup.mode': 'group-offsets'}
"""

from __future__ import annotations

from collections.abc import Mapping

_CONNECTORS = {"filesystem": "files", "print": "console", "blackhole": "none"}
_NAMES = {
    "properties.bootstrap.servers": "servers",
    "properties.bootstrap.server": "servers",
    "value.format": "format",
    "csv.field-delimiter": "delimiter",
    "table-name": "table",
}
_STARTS = {f"{end}{word}": end for end in ("earliest", "latest") for word in ("", "-offset")}
_START = "scan.startup.mode"
_SO_ANYWAY = {
    "properties.group.id": None,  # a checkpoint keeps the position
    "csv.ignore-parse-errors": "true",  # such rows go to the error stream
    "json.ignore-parse-errors": "true",
    "json.fail-on-missing-field": "false",
}
"""Names with the value that is so anyway; None: any."""


def spelt_here(name: str) -> str:
    """The option that has this name elsewhere; the name itself where there is none."""
    return "start" if name == _START else _NAMES.get(name, name)


def put_here(given: Mapping[str, str], reads: bool = False) -> dict[str, str]:
    """The options of a source (`reads`) or of a sink. Two that become one are left, and refused as
    they are."""
    names = [spelt_here(name) for name in given]
    made = {}
    for name, text in given.items():
        if _is_so_anyway(name, text):
            continue
        known, value = _option(name, text)
        twice = names.count(known) > 1
        made[name if twice else known] = text if twice else value
    if reads and given.get("connector") == "filesystem" and made.get("format") == "csv":
        made.setdefault("header", "false")  # Flink's CSV has none
    return made


def _is_so_anyway(name: str, text: str) -> bool:
    return name in _SO_ANYWAY and _SO_ANYWAY[name] in (None, text.lower())


def _option(name: str, text: str) -> tuple[str, str]:
    if name == "connector":
        return name, _CONNECTORS.get(text, text)
    if name == _START:
        return ("start", _STARTS[text]) if text in _STARTS else (name, text)
    return _NAMES.get(name, name), text
