"""Options as they are given, checked against those of their connector.

>>> check("stream orders", {"connector": "kafak"}, STREAMS)
Traceback (most recent call last):
sqlwin.errors.QueryError: stream orders has an unknown connector 'kafak'; did you mean kafka?
  legal: duckdb, files, kafka, nexmark, postgres, sqlite
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlwin.errors import QueryError, Span
from sqlwin.names import nearest
from sqlwin.plan.options import kafka_options, ttl_options
from sqlwin.plan.options.connectors import (
    CALLER,
    RELOAD_OPTION,
    SHARED,
    STREAMS,
    TTL_OPTIONS,
    Connectors,
    connector_of,
)


def check(
    what: str,
    given: Mapping[str, str],
    known: Connectors,
    span: Span | None = None,
    written: Mapping[str, str] | None = None,
    places: Mapping[str, Span] = MappingProxyType({}),
) -> None:
    """QueryError for a connector or option that is not known, or cannot be so.

    written: the options as the script has them, for messages, where `given` are looked up.
    span, places: of the declaration, and of each option that has its own.
    """
    as_written = given if written is None else written
    connector = connector_of(given, known)
    if connector not in known or (given.get("connector") == CALLER and known is STREAMS):
        from sqlwin.plan.options import elsewhere  # by need

        names = sorted(set(known) - ({CALLER} if known is STREAMS else set()))
        others = elsewhere.CONNECTORS if known is STREAMS else elsewhere.SINK_CONNECTORS
        near = nearest(connector, names, others)
        message = f"{what} has an unknown connector {connector!r}{near}"
        raise QueryError(message, places.get("connector", span), legal=", ".join(names))
    options = {option.name: option for option in known[connector]}
    ttl_options.options(given if known is STREAMS else {}, span)
    for name, text in given.items():
        if name != "connector" and not _by_prefix(name, connector, known):
            at = places.get(name, span)
            _known(what, name, connector, known, at)
            options[name].check(what, text, at, as_written[name])


def _by_prefix(name: str, connector: str, known: Connectors) -> bool:
    """Whether it is one of many: a state TTL's, or a setting of Kafka's client."""
    if connector == "kafka" and name.startswith(kafka_options.CLIENT):
        return name.removeprefix(kafka_options.CLIENT) not in kafka_options.OURS
    return known is STREAMS and name.startswith(ttl_options.STATE)


def check_whole(
    what: str,
    given: Mapping[str, str],
    known: Connectors,
    written: Mapping[str, str] | None = None,
) -> None:
    """As `check`, of what is to be opened: QueryError where a needed option is missing, too."""
    check(what, given, known, written=written)
    for option in known[connector_of(given, known)]:
        if option.needed and not given.get(option.name):
            raise QueryError(f"{what} needs an option {option.name!r}", legal=option.legal)


def _known(what: str, name: str, connector: str, known: Connectors, span: Span | None) -> None:
    legal = [option.name for option in known[connector] if option not in TTL_OPTIONS]
    if name in legal:
        return
    named = [option.name for option in known[connector] if option not in (*SHARED, RELOAD_OPTION)]
    own = ", ".join(["connector", *named])
    others = [each for each, options in known.items() if name in [o.name for o in options]]
    if others:
        of = " and ".join(repr(each) for each in others if each != CALLER)
        message = f"{what} has an option {name!r}, which is of the connector {of}"
        raise QueryError(message, span, legal=own)
    anywhere = [option.name for options in known.values() for option in options]
    from sqlwin.plan.options import elsewhere  # by need

    words = elsewhere.OPTIONS if known is STREAMS else elsewhere.SINK_OPTIONS
    near = nearest(name, ["connector", *legal], words) or nearest(name, anywhere)
    raise QueryError(f"{what} has an unknown option {name!r}{near}", span, legal=own)
