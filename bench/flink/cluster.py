"""A JVM with Flink in it, driven by py4j; each job has a cluster of its own in that JVM.

It ends when this process does. What it says goes to a file, whose end explains a JVM that failed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from bench.flink.tables import HEAP

OPENED = (
    *("java.lang", "java.lang.reflect", "java.net", "java.nio", "java.text", "java.time"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
)
"""Packages that Flink reaches into by reflection, as its own scripts open them."""


class TooLong(Exception):
    """A job was not through in its time. It is left running: end the JVM."""


@dataclass(frozen=True)
class Cluster:
    """tables: a TableEnvironment of Flink's."""

    jvm: Any
    tables: Any

    def tell(self, statement: str) -> None:
        self.tables.executeSql(statement)

    def job(self, statement: str, limit: float) -> float:
        """Seconds that the job took by Flink's clock: not its planning, nor its cluster's start."""
        seconds = self.jvm.java.util.concurrent.TimeUnit.SECONDS
        running = self.tables.executeSql(statement).getJobClient().get().getJobExecutionResult()
        try:
            return float(running.get(int(limit), seconds).getNetRuntime()) / 1_000
        except Py4JJavaError as failure:
            if "TimeoutException" in failure.java_exception.toString():
                raise TooLong from None
            raise


@contextmanager
def cluster(jars: Sequence[Path], settings: dict[str, str], log: Path) -> Iterator[Cluster]:
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED]
    with log.open("w", encoding="utf-8") as words:
        port, token = launch_gateway(
            classpath=os.pathsep.join(map(str, jars)),
            javaopts=[f"-Xmx{HEAP}", *opened],
            java_path=_java(),
            die_on_exit=True,
            enable_auth=True,
            redirect_stdout=words,
            redirect_stderr=words,
        )
        gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_field=True)
        )
        yield Cluster(gateway.jvm, _tables(gateway.jvm, settings))


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else "java"


def _tables(jvm: Any, settings: dict[str, str]) -> Any:
    flink = jvm.org.apache.flink
    configuration = flink.configuration.Configuration()
    for name, value in settings.items():
        configuration.setString(name, value)
    streaming = flink.table.api.EnvironmentSettings.newInstance().inStreamingMode()
    return flink.table.api.TableEnvironment.create(
        streaming.withConfiguration(configuration).build()
    )
