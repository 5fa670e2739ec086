"""The main promise: last revisions are the answer of a batch over all rows, by DuckDB.

Whatever the order of arrival, the cut into batches, the messages that come twice, the
restarts and the policies. In tests: DuckDB gets every message once.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.properties.deliveries import Delivery, deliveries
from tests.properties.duck import assert_answer, batch_answer
from tests.properties.hosts import Host, answering_hosts, reference
from tests.properties.promise import streamed
from tests.properties.queries import nested, questions
from tests.properties.question import Question

Case = tuple[Question, Delivery]
ANSWERS = (questions().flatmap(deliveries), answering_hosts())
NESTED = (nested().flatmap(deliveries), answering_hosts())
OF_REFERENCE = (questions().flatmap(deliveries), st.just(reference))


def answers(case: Case, host: Host) -> None:
    question, delivery = case
    assert_answer(question, batch_answer(question, delivery), streamed(question, delivery, host))
