# ruff: noqa: E501
"""What a join cannot be: each refusal's message and the place it underlines."""

from __future__ import annotations

import pytest

from tests.sql.cases import underlined
from tests.sql.joins import mistake

FROM = "SELECT o.id FROM orders o "
ON = "ON o.id = s.id"
JOIN = f"{FROM}JOIN shipments s {ON}"
ASOF = f"{FROM}ASOF JOIN shipments s "
NESTED = "(SELECT t.id FROM orders t JOIN shipments u ON t.id = u.id)"
WINDOWED = "(SELECT id, window_start FROM TUMBLE(orders, ts, 1 MINUTE) GROUP BY id, window_start)"

REFUSED = [
    # its words
    (f"{FROM}NATURAL JOIN shipments s", "NATURAL JOIN goes by whatever names two", "NATURAL JOIN"),
    (f"{FROM}LEFT INNER JOIN shipments s {ON}", "there is no LEFT INNER JOIN", "LEFT INNER JOIN"),
    (f"{FROM}RIGHT SEMI JOIN shipments s {ON}", "RIGHT SEMI JOIN is not supported yet", "RIGHT SEMI JOIN"),
    (f"{FROM}RIGHT ASOF JOIN shipments s {ON}", "RIGHT ASOF JOIN is not supported", "RIGHT ASOF JOIN"),
    (f"{FROM}LEFT JOIN shipments s", "LEFT JOIN needs ON or USING", "LEFT JOIN"),
    (f"{FROM}CROSS JOIN shipments s {ON}", "CROSS JOIN has no condition of its own", "CROSS JOIN"),
    # its condition
    (f"{FROM}JOIN shipments s ON o.id", "a condition must be BOOLEAN, this is BIGINT", "o.id"),
    (f"{FROM}JOIN shipments s ON o.id + s.id", "a condition must be BOOLEAN, this is BIGINT", "o.id + s.id"),
    (f"{JOIN} AND COUNT(*) > 1", "an aggregate cannot stand in ON", "COUNT"),
    (f"{JOIN} AND s.id IN (SELECT 1)", "a query inside an expression is not supported yet", "SELECT"),
    (f"{FROM}JOIN shipments s ON o.product = s.id", "STRING and BIGINT are never equal", "o.product = s.id"),
    (f"{JOIN} AND s.at > o.ts AND s.at < o.ts", "no pair of this join can match", "JOIN"),
    (f"{JOIN} WHERE s.at > o.ts AND s.at < o.ts", "no pair of this join can match", "JOIN"),
    # names
    ("SELECT 1 AS a FROM orders JOIN orders ON 1 = 1", "two inputs of this join are called orders", "orders"),
    (f"{FROM}JOIN shipments s ON id = s.id", "id is a column of 2 inputs of this join", "id"),
    ("SELECT id FROM orders o CROSS JOIN shipments s", "id is a column of 2 inputs of this join", "id"),
    ("SELECT id FROM orders o FULL JOIN shipments s ON o.id = s.id", "id is a column of 2 inputs", "id"),
    (JOIN.replace("o.id FROM", "o.idd FROM"), "unknown column idd; did you mean id?", "o.idd"),
    (JOIN.replace("o.id FROM", "x.id FROM"), "no stream here is called x", "x.id"),
    (JOIN.replace("o.id FROM", "x.* FROM"), "no stream here is called x", "x.*"),
    (JOIN.replace("o.id FROM", "o.id, s.id FROM"), "two columns are called id", "s.id"),
    (f"SELECT s.id FROM orders o SEMI JOIN shipments s {ON}", "no stream here is called s", "s.id"),
    (f"{JOIN} JOIN orders p ON q.id = p.id", "no stream here is called q", "q.id"),
    (f"{FROM}JOIN shipments s ON o.id = p.id JOIN orders p ON p.id = s.id", "no stream here is called p", "p.id"),
    (f"{FROM}JOIN shipments s USING (product)", "s has no column product", "product"),
    (f"{FROM}JOIN shipments s USING (cost)", "unknown column cost", "cost"),
    (f"{FROM}JOIN nothing s {ON}", "no stream or view is called nothing", "nothing"),
    # windows
    (f"{FROM}OVER (ROWS 3 PRECEDING) JOIN shipments s [RANGE 1 MINUTE] {ON}", "one window of this join counts messages", "OVER (ROWS 3 PRECEDING)"),
    (f"{FROM}[ROWS 3] JOIN shipments s WITHIN 2 HOURS {ON}", "WITHIN is a length of time", "WITHIN 2 HOURS"),
    (f"{FROM}[ROWS 3] JOIN shipments s {ON} JOIN orders p ON p.id = o.id", "a window in ROWS joins two streams", "[ROWS 3]"),
    (f"{FROM}[PARTITION BY product ROWS 3] JOIN shipments s {ON}", "a window of a join is not parted", "product"),
    (f"{FROM}[RANGE 10 SECONDS SLIDE 5 SECONDS] JOIN shipments s {ON}", "a window of a join slides", "[RANGE 10 SECONDS SLIDE 5 SECONDS]"),
    (f"{FROM}[SESSION 1 HOUR GAP] JOIN shipments s {ON}", "a session of a join has a session key", "SESSION 1 HOUR GAP"),
    (f"{FROM}WINDOW TUMBLING (SIZE 1 HOUR) JOIN shipments s {ON}", "rows of a window are joined as a query", "WINDOW TUMBLING (SIZE 1 HOUR)"),
    (f"{FROM}JOIN shipments OVER (ORDER BY id RANGE 1 HOUR PRECEDING) s {ON}", "id is not the event time of shipments", "id"),
    (f"{FROM}JOIN shipments s WITHIN (INTERVAL '-1' HOUR, 1 HOUR) {ON}", "WITHIN takes durations of at least 0", "INTERVAL '-1' HOUR"),
    ("CREATE STREAM q (a BIGINT); SELECT o.id FROM orders o JOIN q ON o.id = q.a", "q has no event-time column", "q"),
    ("CREATE STREAM q (a BIGINT) WITH (partitions = 2); SELECT o.id FROM orders o JOIN q [ROWS 3] ON o.id = q.a", "q has 2 partitions", "[ROWS 3]"),
    # windowed queries, nested joins
    (f"SELECT x.id FROM {NESTED} x [RANGE 1 HOUR] JOIN shipments s ON x.id = s.id", "x has no event-time column", "[RANGE 1 HOUR]"),
    # ASOF and versions
    (f"{ASOF}{ON}", "ASOF JOIN needs a comparison of both event times", "ASOF JOIN"),
    (f"{ASOF}MATCH_CONDITION (o.ts = s.at) {ON}", "an ASOF join compares the two event times by >=", "o.ts = s.at"),
    (f"{ASOF}MATCH_CONDITION (o.ts >= s.at + INTERVAL '1' HOUR) {ON}", "an ASOF join compares the two event times", "o.ts >= s.at + INTERVAL '1'"),
    (f"{ASOF}MATCH_CONDITION (o.id >= s.id) {ON}", "MATCH_CONDITION is a comparison of both event times", "o.id >= s.id"),
    (f"{ASOF}MATCH_CONDITION (ts >= at AND ts > at) {ON}", "MATCH_CONDITION is one comparison", "ts >= at AND ts > at"),
    (f"{ASOF}MATCH_CONDITION (o.ts >= s.at) {ON} AND cost > 1", "an ASOF join takes the nearest row", "cost > 1"),
    (f"{ASOF}WITHIN 1 HOUR {ON} AND ts >= at", "WITHIN belongs to a join of two streams", "WITHIN 1 HOUR"),
    (f"{FROM}ASOF JOIN shipments s [RANGE 1 HOUR] MATCH_CONDITION (ts >= at) {ON}", "an ASOF join takes the nearest row, however far: no window here", "s"),
    (f"{FROM}JOIN shipments s MATCH_CONDITION (o.ts >= s.at) {ON}", "MATCH_CONDITION belongs to ASOF JOIN, not to JOIN", "o.ts >= s.at"),
    (f"{FROM}JOIN orders p ON o.id = p.id ASOF JOIN shipments s MATCH_CONDITION (o.ts >= s.at) {ON}", "o.ts may be however far behind what its row was joined with", "o.ts >= s.at"),
    (f"{FROM}FULL JOIN shipments FOR SYSTEM_TIME AS OF o.ts s {ON}", "FULL JOIN does not go with FOR SYSTEM_TIME AS OF", "FULL JOIN"),
    (f"{FROM}JOIN shipments FOR SYSTEM_TIME AS OF o.id s {ON}", "FOR SYSTEM_TIME AS OF names an event time", "o.id"),
    ("SELECT id FROM orders FOR SYSTEM_TIME AS OF ts", "FOR SYSTEM_TIME AS OF stands behind what is joined", "ts"),
    (f"SELECT o.id FROM orders FOR SYSTEM_TIME AS OF ts o JOIN shipments s {ON}", "FOR SYSTEM_TIME AS OF stands behind what is joined", "ts"),
    # static tables
    ("SELECT p.maker FROM products p", "products is a static table, and reading one by itself is not", "products"),
    ("CREATE VIEW v AS SELECT maker FROM products; SELECT * FROM v WHERE maker = 'a'", "products is a static table, and reading one by itself is not", "v"),
    ("SELECT COUNT(*) AS n FROM TUMBLE(TABLE products, DESCRIPTOR(ts), INTERVAL '1' HOUR)", "products is a static table, and reading one by itself is not", "products"),
    ("SELECT maker FROM products [ROWS 3]", "products is a static table, and reading one by itself is not", "products"),
    ("SELECT product FROM orders UNION ALL SELECT maker FROM products", "products is a static table, and reading one by itself is not", "products"),
    (f"{FROM}JOIN (SELECT product FROM products EMIT FINAL) p USING (product)", "products is a static table, and reading one by itself is not", "products"),
    (f"{FROM}JOIN (SELECT DISTINCT product FROM products) p USING (product)", "products is a static table, and reading one by itself is not", "SELECT"),
    (f"{FROM}JOIN (SELECT /*+ STATE_TTL('products' = '1 d') */ product FROM products) p USING (product)", "a static table is read once", "/*+ STATE_TTL('products' = '1 d') */"),
    ("SELECT maker FROM products p LEFT JOIN orders o USING (product)", "the static table products is looked up by", "p"),
    (f"{FROM}FULL JOIN products p USING (product)", "FULL JOIN would wait for all of the stream", "FULL JOIN"),
    (f"{FROM}ASOF JOIN products p ON o.product = p.product", "p is a static table: no row of it is before another", "ASOF JOIN"),
    (f"{FROM}JOIN products p [ROWS 3] USING (product)", "a static table has no window", "[ROWS 3]"),
    (f"{FROM}JOIN products p USING (product) EMIT LATE NEVER", "what a static table says of a row never changes", "LATE NEVER"),
    (f"{FROM}[RANGE 1 HOUR] JOIN products p USING (product)", "a static table has no time: no window here", "o"),
    (f"{FROM}JOIN products p WITHIN 1 HOUR USING (product)", "WITHIN belongs to a join of two streams", "WITHIN 1 HOUR"),
    # what is above
    (f"SELECT COUNT(*) AS n FROM {NESTED} x [ROWS 3]", "x has no event-time column", "[ROWS 3]"),
    (f"SELECT x.id FROM {NESTED} x [ROWS 3] JOIN shipments s ON x.id = s.id", "x has no event-time column", "[ROWS 3]"),
    (f"SELECT SUM(id) OVER (ORDER BY id ROWS 3 PRECEDING) AS v {JOIN[12:]}", "o.id is no event time of o_s, which carries none", "id"),
    # policies and options
    (f"{JOIN} EMIT EARLY EVERY 3 ROWS", "EARLY EVERY n ROWS counts the rows of a window", "3"),
    (f"{JOIN} JOIN orders t ON t.id = o.id RETAIN 3 ROWS", "RETAIN n ROWS keeps the newest rows, and o_s has no event time", "3"),
    (f"{JOIN} EMIT ON CLOSE TIMEOUT 1 HOUR", "TIMEOUT sends what waits while a stream is silent", "1 HOUR"),
    (f"{JOIN} EXPIRED EMIT", "EXPIRED EMIT makes a session of a row", "EXPIRED EMIT"),
    (f"{FROM}JOIN shipments s WITHIN 1 HOUR GRACE PERIOD 2 HOURS {ON} RETAIN 1 HOUR", "GRACE PERIOD and RETAIN are one thing", "1 HOUR"),
    (f"{FROM}[ROWS 3] JOIN shipments s {ON} EMIT LATE NEVER", "a window in ROWS counts messages as they come", "LATE NEVER"),
    ("SELECT /*+ JOIN_WINDOW('tiny') */ o.id" + JOIN[11:], "JOIN_WINDOW cannot be 'tiny'", "/*+ JOIN_WINDOW('tiny') */"),
    ("SELECT /*+ BROADCAST(o), JOIN_WINDOW('small') */ o.id" + JOIN[11:], "the hint /*+ BROADCAST(o) */ is not", "/*+ BROADCAST(o), JOIN_WINDOW('small') */"),
    ("SET join.window = 'tiny'", "join.window cannot be 'tiny'", "SET join.window = 'tiny'"),
    ("SELECT /*+ STATE_TTL('x' = '1 d') */ o.id" + JOIN[11:], "STATE_TTL names x, which this query does not read", "/*+ STATE_TTL('x' = '1 d') */"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "place"), REFUSED, ids=[text for text, *_ in REFUSED])
def test_refused(text: str, message: str, place: str) -> None:
    error = mistake(text)
    assert error.message.startswith(message) or message in error.message
    assert underlined(error) == place


def test_an_ambiguous_name_is_told_with_what_it_may_be() -> None:
    error = mistake("SELECT id FROM orders o CROSS JOIN shipments CROSS JOIN products")
    assert str(error).splitlines()[0] == "id is a column of 2 inputs of this join"
    assert error.legal == "o.id, shipments.id"


def test_an_unknown_column_is_told_with_those_of_its_input() -> None:
    error = mistake("SELECT s.product FROM orders o CROSS JOIN shipments s")
    assert (error.message, error.legal) == ("unknown column product", "id, order_id, cost, at")
