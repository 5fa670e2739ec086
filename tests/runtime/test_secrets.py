"""Secrets of connectors: looked up where they are used, shown nowhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sqlwin.cli import main
from sqlwin.errors import QueryError, RunError
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.options import connectors
from sqlwin.plan.options.option import Option
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.runtime.connectors.sinks import Files, open_sink
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.lowering.explained import explain
from sqlwin.shell.declared import Declarations
from sqlwin.sql import script
from sqlwin.sql.syntax.parsing.concrete import concrete
from sqlwin.sql.text.shown import shown
from sqlwin.system.secrets import (
    Secret,
    clear,
    hidden,
    is_secret,
    masked,
    opened,
    resolved,
    secrets_of,
)

CLEAR = "hunter2-in-clear"
COLUMNS = "(n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)"
SELECT = "INSERT INTO out SELECT COUNT(*) AS n FROM TUMBLE(s, ts, 1 HOUR)"
SCRIPT = (
    f"CREATE STREAM s {COLUMNS} WITH (connector = 'broker', 'sasl.password' = '{CLEAR}');\n"
    f"CREATE SINK out WITH (connector = 'none', 'api.key' = \"{CLEAR}\", token = {CLEAR[:7]});\n"
)


def option(name: str) -> Option:
    return Option(name, str, "any", "a secret")


@pytest.fixture(autouse=True)
def _connectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connectors that take secrets."""
    monkeypatch.setitem(connectors.STREAMS, "broker", (option("sasl.password"),))
    nowhere = (*connectors.SINKS["none"], option("api.key"), option("token"))
    monkeypatch.setitem(connectors.SINKS, "none", nowhere)


@pytest.mark.parametrize(
    "name",
    [
        *("password", "sasl.password", "ssl.key.password", "secret", "aws.secret_access_key"),
        *("aws.access-key", "token", "properties.sasl.jaas.config", "credentials", "api_key"),
        *("private_key", "PASSWD", "db.pwd", "encryption.key", "passphrase"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["path", "format", "connector", "topic", "keyspace", "delimiter", "partitions"]
)
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_no_secret_is_shown() -> None:
    bound = script(SCRIPT + "SHOW STREAMS; DESCRIBE s; EXPLAIN " + SELECT + ";" + SELECT)
    shown = [*answers(bound, explain), repr(bound), str(bound), *map(repr, bound.queries)]
    assert bound.source_text is not None
    shown.append(bound.source_text.dump())
    assert not [text for text in shown if CLEAR in text or CLEAR[:7] in text]


def test_a_secret_is_there_for_who_needs_it() -> None:
    (query,) = script(SCRIPT + SELECT).queries
    assert query.sink is not None
    options = dict(query.sink.options)
    assert options["connector"] == "none"
    assert clear(options["api.key"]) == CLEAR
    assert isinstance(options["api.key"], Secret)


def test_another_secret_is_the_same_query() -> None:
    old, new = (script(text + SELECT) for text in (SCRIPT, SCRIPT.replace(CLEAR, "another")))
    assert fingerprint(*old.queries) == fingerprint(*new.queries)
    assert old.source_text is not None
    kept = SourceText.load(old.source_text.dump())
    assert fingerprint(*script(kept.text).queries) == fingerprint(*old.queries)


def test_a_secret_of_a_hint_is_not_kept() -> None:
    hint = f"out /*+ OPTIONS('api.key' = '{CLEAR}-too') */"
    bound = script(SCRIPT + SELECT.replace("out", hint))
    assert bound.source_text is not None
    assert CLEAR not in bound.source_text.dump()
    (query,) = script(SourceText.load(bound.source_text.dump()).text).queries
    assert fingerprint(query) == fingerprint(*bound.queries)


def test_a_secret_given_as_a_parameter_is_not_kept() -> None:
    text = SCRIPT.replace(f"'{CLEAR}'", ":pw") + SELECT.replace("COUNT(*)", "COUNT(:one)")
    bound = script(text, params={"pw": CLEAR, "one": "1"})
    assert bound.source_text is not None
    dumped = bound.source_text.dump()
    assert CLEAR not in dumped
    kept = SourceText.load(dumped)
    assert kept.params == (("one", "1"),)
    assert fingerprint(*script(kept.text, params=dict(kept.params)).queries) == fingerprint(
        *bound.queries
    )


@pytest.mark.parametrize(
    "mistake",
    [
        "CREATE SINK o WITH (path = 1 2, password = 'hunter2-in-clear');",
        "CREATE SINK o WITH (changelog = 'x', password = 'hunter2-in-clear');",
        "CREATE SINK o WITH (password = 'hunter2-in-clear' 'hunter2-in-clear');",
        "CREATE SINK o (n NOTHING) WITH (password = 'hunter2-in-clear');",
        "CREATE STREAM t (n BIGINT, n INT) WITH (token = 'hunter2-in-clear', partitions = 'x');",
        "CREATE SINK o WITH (path = 'x', password = \u2018hunter2-in-clear\u2019)",
        "CREATE SINK o WITH (path = \u201cx\u201d, password = 'hunter2-in-clear')",
        "CREATE SINK o WITH (path = :path, password = 'hunter2-in-clear')",
        "CREATE SINK o WITH path = 'x', password = 'hunter2-in-clear'",
        "CREATE SINK o OPTIONS (path = 'x', password = 'hunter2-in-clear')",
        "CREATE SINK o WITH /* of the database */ (password = 'hunter2-in-clear') AND",
        "CREATE SINK o WITH (path = 'x', pasword = 'hunter2-in-clear')",
        "CREATE SINK o WITH (path = 'x', pasword = 'hunter2-in-clear' 'hunter2-in-clear')",
        "CREATE SINK o WITH (path = 'x', password 'hunter2-in-clear')",
        "CREATE SINK o WITH (path = 'x', 'password' : 'hunter2-in-clear')",
        "CREATE SINK o WITH (path = 'x' password = 'hunter2-in-clear')",
        "CREATE SINK o WITH (password = N'hunter2-in-clear')",
        "CREATE SINK o WITH (password = 'never, hunter2-in-clear",
        "CREATE SINK o WITH (path = 'x', kafka.ssl.key.pem = 'hunter2-in-clear')",
        "SET password = 'hunter2-in-clear'",
    ],
)
def test_mistakes_show_no_secret(mistake: str) -> None:
    def refused(call: Callable[[str], object]) -> str:
        with pytest.raises(QueryError) as raised:
            call(mistake)
        return f"{raised.value} {raised.value!r} {raised.value.text}"

    assert CLEAR not in refused(script)
    assert CLEAR not in refused(Declarations().bind)
    with suppress(QueryError):
        concrete(mistake)
        return
    assert CLEAR not in refused(concrete)


def test_a_mistake_shows_what_is_no_secret() -> None:
    """Where it stands, on however many lines the secret is."""
    text = "CREATE SINK o WITH (password = 'a\nlong one', path = 'here', format = 'jsno');"
    with pytest.raises(QueryError) as refused:
        script(text)
    assert str(refused.value).splitlines()[1:4] == [
        "  at line 2, column 27",
        "  | ********', path = 'here', format = 'jsno');",
        "  |                           ^^^^^^^^^^^^^^^",
    ]
    with pytest.raises(QueryError, match="no value was given for :pw") as refused:
        script("CREATE SINK o WITH (password = :pw)")
    assert "password = :pw)" in str(refused.value)
    text = "CREATE STREAM s (n INT, b AS CAST(n AS TIMESTAMP WITH TIME ZONE) AND token = 'x');"
    assert shown(text + "SELECT n FROM s WHERE key = 'x'").endswith("key = 'x'")


@pytest.mark.parametrize("value", ["r'hunter2'", 'R"hunter2"', "'hunter2\nand more'"])
@pytest.mark.parametrize("between", [" ", " /* c */ ", " -- c\n"])
def test_a_masked_text_is_read_again(value: str, between: str) -> None:
    text = f"CREATE SINK out WITH{between}(connector = 'none', token = {value}, changelog = append)"
    again = masked(text)
    assert "hunter2" not in again
    assert [len(line) for line in again.split("\n")] == [len(line) for line in text.split("\n")]
    script(again)


def test_only_options_are_masked() -> None:
    text = "SELECT n FROM s WHERE token = 'abc' AND password = 'x' -- WITH (password = 'y')"
    assert masked(text) == text
    text = "CREATE SINK s WITH (user = 'u', `password` = 'a''b', path = '${env:X}')"
    assert masked(text) == text.replace("'a''b'", "'***' ")
    assert masked(masked(text)) == masked(text)
    reference = "CREATE SINK s WITH (password = '${env:PW}')"
    assert masked(reference) == reference
    assert secrets_of(reference) == []


# --- references ---------------------------------------------------------------------------


def test_references_are_looked_up_when_a_sink_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "name").write_text("there\n")
    text = (
        f"CREATE STREAM s {COLUMNS} WITH (path = '${{env:IN}}/*.jsonl');"
        f"CREATE SINK out WITH (connector = 'files', path = '${{file:{tmp_path}/name}}');" + SELECT
    )
    bound = script(text)
    before = fingerprint(*bound.queries)
    (query,) = bound.queries
    with pytest.raises(RunError, match="has no variable IN"):
        source_of(_stream(bound))
    monkeypatch.setenv("IN", str(tmp_path))
    assert fingerprint(*script(text).queries) == before
    assert source_of(_stream(bound)).splits(tmp_path) == []
    sink = open_sink(query.sink, tmp_path, print)
    assert isinstance(sink, Files)
    assert sink.folder == tmp_path / "there"


SECRETS = ["${env:PW}", "${env:PW} and more"]
READS = f"CREATE STREAM s {COLUMNS} WITH (path = 's.csv', format = 'csv');"


@pytest.mark.parametrize("reference", SECRETS)
@pytest.mark.parametrize(
    "text",
    [
        READS.replace("'csv')", "'@')") + "SELECT n FROM s",
        READS.replace("'csv')", "'csv', delimiter = '@')") + "SELECT n FROM s",
        READS.replace("'csv')", "'csv', header = '@')") + "SELECT n FROM s",
        f"CREATE STREAM s {COLUMNS} WITH (connector = 'nexmark', rate = '@'); SELECT n FROM s",
        READS + "CREATE SINK out WITH (connector = 'files', path = 'o', format = '@');" + SELECT,
    ],
)
def test_a_looked_up_value_that_cannot_be_is_refused_by_its_reference(
    text: str,
    reference: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PW", CLEAR)
    (tmp_path / "s.csv").write_text("n,ts\n1,2024-01-01T09:00:00Z\n")
    path = tmp_path / "q.sql"
    path.write_text(text.replace("@", reference))
    assert main(["run", str(path), "--engine", "embedded"]) == 2
    message = capsys.readouterr().err
    assert reference in message
    assert CLEAR not in message


def test_a_sink_whose_path_is_looked_up_and_empty_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NOWHERE", "")
    text = READS + "CREATE SINK out WITH (connector = 'files', path = '${env:NOWHERE}');" + SELECT
    (query,) = script(text).queries
    with pytest.raises(QueryError, match="sink out needs an option 'path'"):
        open_sink(query.sink, tmp_path, print)


def _stream(bound):  # type: ignore[no-untyped-def]
    (query,) = bound.queries
    node = query.plan
    while not hasattr(node, "stream"):
        node = node.input
    return node.stream


def test_what_cannot_be_looked_up_is_named_and_shows_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"the environment has no variable NO_SUCH, which \$"):
        resolved("${env:NO_SUCH}")
    with pytest.raises(RunError, match="cannot be read: FileNotFoundError"):
        resolved(f"${{file:{tmp_path}/none}}")
    assert resolved("${other:x} $env {env:A}") == "${other:x} $env {env:A}"


def test_check_looks_nothing_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "q.sql"
    path.write_text(
        f"CREATE STREAM s {COLUMNS} WITH (path = '${{env:NO_SUCH}}/x');"
        "CREATE SINK out WITH (connector = 'files', path = '${env:NO_SUCH}');" + SELECT
    )
    assert main(["check", str(path)]) == 0
    assert main(["run", str(path), "--engine", "embedded"]) == 1
    assert "has no variable NO_SUCH" in capsys.readouterr().err


def test_a_run_leaves_no_secret_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a connector that has a password: none has one yet, so `files` gets one here."""
    files = (*connectors.STREAMS["files"], option("password"), option("token"))
    monkeypatch.setitem(connectors.STREAMS, "files", files)
    monkeypatch.setenv("TOKEN", "hunter3-of-the-environment")
    (tmp_path / "s.jsonl").write_text('{"n": 1, "ts": "2024-01-01T09:00:00Z"}\n')
    path = tmp_path / "q.sql"
    path.write_text(
        f"CREATE STREAM s {COLUMNS} WITH (path = 's.jsonl', password = '{CLEAR}',"
        " token = '${env:TOKEN}'); CREATE SINK out WITH (connector = 'files', path = 'out');"
        + SELECT
    )
    run = ["run", str(path), "--engine", "embedded", "--checkpoint", str(tmp_path / "state")]
    assert main(run) == 0
    path.write_text(path.read_text().replace(CLEAR, "rotated"))
    assert main(run) == 0
    assert main(["state", str(tmp_path / "state"), "--format", "json"]) == 0
    assert main(["explain", str(path)]) == 0
    shown = "".join(capsys.readouterr())
    left = [file for file in tmp_path.rglob("*") if file.is_file() and file != path]
    held = b"".join(file.read_bytes() for file in left) + b"".join(map(_blobs, left))
    for secret in (CLEAR, "hunter3", "rotated"):
        assert secret not in shown
        assert secret.encode() not in held


def _blobs(path: Path) -> bytes:
    """What a file of state holds, however it lays it out."""
    if not path.read_bytes().startswith(b"SQLite format 3"):
        return b""
    with sqlite3.connect(path) as db:
        return "\n".join(db.iterdump()).encode()


def test_hidden_values_are_sent_as_they_are() -> None:
    """To workers, that is; JSON for instance has them in clear."""
    ((_, value),) = hidden((("token", CLEAR),))
    assert json.loads(json.dumps(value)) == CLEAR
    assert value == CLEAR


@pytest.mark.parametrize(
    ("url", "hides"),
    [
        ("postgresql://me:hunter2@host/db", True),
        ("postgresql://host/db?user=me&password=hunter2", True),
        ("postgresql://me:${env:SECRET}@host/db", False),
        ("postgresql://me@host:5432/db", False),
        ("redis://:hunter2@host", True),
    ],
)
def test_a_password_within_a_url(url: str, hides: bool) -> None:
    ((_, value),) = hidden((("url", url),))
    assert isinstance(value, Secret) == hides
    assert "hunter2" not in masked(f"CREATE SINK s WITH (url = '{url}')")


def test_a_url_with_a_password_that_was_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    ((_, value),) = opened((("url", "postgresql://me:${env:SECRET}@host/db"),))
    assert "hunter2" not in f"{value}"
    assert clear(value) == "postgresql://me:hunter2@host/db"
