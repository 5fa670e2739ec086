"""A broker that asks who its clients are, in clear and over TLS; secrets come from a file or the
environment."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sqlwin.errors import RunError
from tests.support import kafka
from tests.support.kafka import Broker, free_port
from tests.support.runtime.topics import HOSTS, order, ran

pytestmark = pytest.mark.long

PASSWORD = "hunter2"
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SETTINGS = """
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},\\
  SASL_PLAINTEXT://127.0.0.1:{sasl},SASL_SSL://127.0.0.1:{tls}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},\\
  SASL_PLAINTEXT://127.0.0.1:{sasl},SASL_SSL://127.0.0.1:{tls}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,\\
  SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={login} user_shop="{password}";
listener.name.sasl_ssl.plain.sasl.jaas.config={login} user_shop="{password}";
ssl.keystore.type=PEM
ssl.keystore.location={home}/server.pem
"""


@dataclass
class Secured:
    """ports: by protocol. certificate: of the broker, which signs itself."""

    broker: Broker
    ports: dict[str, int]
    certificate: Path


@pytest.fixture(scope="module")
def secured() -> Iterator[Secured]:
    ports = {"SASL_PLAINTEXT": free_port(), "SASL_SSL": free_port()}

    def more(home: Path, port: int, controller: int) -> str:
        _certify(home)
        return SETTINGS.format(
            home=home,
            port=port,
            controller=controller,
            sasl=ports["SASL_PLAINTEXT"],
            tls=ports["SASL_SSL"],
            login=LOGIN,
            password=PASSWORD,
        )

    with kafka.running(more) as broker:
        yield Secured(broker, ports, broker.home / "certificate.pem")


def _certify(home: Path) -> None:
    key, certificate = home / "key.pem", home / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    (home / "server.pem").write_text(key.read_text() + certificate.read_text())


QUERY = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '127.0.0.1:{port}', topic = '{topic}', wait = '5 seconds', {login}
);
CREATE SINK out WITH (
  connector = 'kafka', servers = '127.0.0.1:{port}', topic = '{topic}_out', changelog = 'append',
  wait = '5 seconds', {login}
);
INSERT INTO out SELECT n FROM orders
"""


def query(secured: Secured, protocol: str, topic: str, password: str) -> str:
    login = {
        "security.protocol": protocol,
        "sasl.mechanism": "PLAIN",
        "sasl.username": "shop",
        "sasl.password": password,
        "ssl.ca.location": str(secured.certificate),
    }
    if protocol == "SASL_PLAINTEXT":
        del login["ssl.ca.location"]
    options = ", ".join(f"'kafka.{name}' = '{value}'" for name, value in login.items())
    return QUERY.format(port=secured.ports[protocol], topic=topic, login=options)


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_broker_that_requires_authentication(
    secured: Secured, tmp_path: Path, protocol: str, host: str
) -> None:
    topic = secured.broker.topic(f"{protocol}_{host}".lower())
    secured.broker.topic(f"{topic}_out")
    secured.broker.send(topic, order(0, 5))
    (tmp_path / "password").write_text(PASSWORD)
    ran(query(secured, protocol, topic, f"${{file:{tmp_path}/password}}"), tmp_path, host)
    (found,) = secured.broker.read(f"{topic}_out")
    assert json.loads(found.value()) == {"n": 5}


def test_a_password_from_the_environment(
    secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    topic = secured.broker.topic("by_environment")
    secured.broker.topic(f"{topic}_out")
    secured.broker.send(topic, order(0, 5))
    summary = ran(query(secured, "SASL_SSL", topic, "${env:SHOP_PASSWORD}"), tmp_path)
    assert summary.read == 1


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_wrong_password_is_said_and_not_shown(
    secured: Secured, tmp_path: Path, protocol: str
) -> None:
    topic, began = secured.broker.topic(f"wrong_{protocol}".lower()), time.monotonic()
    with pytest.raises(RunError) as refusal:
        ran(query(secured, protocol, topic, "hunter3").replace("5 s", "60 s"), tmp_path)
    message = str(refusal.value)
    assert f"cannot read topic {topic}: " in message
    assert "Authentication failed" in message
    assert "hunter3" not in message
    assert time.monotonic() - began < 30  # it is not waited for


def test_a_sink_says_so_too(secured: Secured, tmp_path: Path) -> None:
    topic = secured.broker.topic("wrong_of_sink")
    secured.broker.send(topic, order(0, 5))
    text = query(secured, "SASL_PLAINTEXT", topic, "hunter3")
    source, found, sink = text.partition("CREATE SINK")
    port = secured.ports["SASL_PLAINTEXT"]
    source = source.replace(f"127.0.0.1:{port}", secured.broker.address)
    source = source.replace("SASL_PLAINTEXT", "PLAINTEXT")
    with pytest.raises(RunError, match=r"cannot write to topic .*Authentication failed"):
        ran(source + found + sink, tmp_path)


def test_an_unknown_certificate_is_said(secured: Secured, tmp_path: Path) -> None:
    topic = secured.broker.topic("unknown_certificate")
    _certify(tmp_path)
    other = Secured(secured.broker, secured.ports, tmp_path / "certificate.pem")
    with pytest.raises(RunError, match=f"cannot read topic {topic}: .*certificate verify failed"):
        ran(query(other, "SASL_SSL", topic, PASSWORD), tmp_path)
