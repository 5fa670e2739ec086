"""SQL text to bound plans: the whole front end behind one function.

>>> text = '''
... CREATE STREAM orders (product STRING, value DOUBLE, ts TIMESTAMP,
...                       WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
... SELECT product, window_start, SUM(value) AS total
... FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
... GROUP BY product, window_start, window_end;
... '''
>>> (query,) = script(text).queries
>>> [column.name for column in query.plan.schema]
['product', 'window_start', 'total']
"""

from sqlwin.sql.bind import declared, reads, script

__all__ = ["declared", "reads", "script"]
