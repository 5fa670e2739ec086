-- Nexmark q8. Who is new and opens an auction within the same 10 seconds?
--
--     sqlwin run queries/nexmark/q8.sql

CREATE STREAM person (
  id BIGINT,
  name STRING,
  emailAddress STRING,
  creditCard STRING,
  city STRING,
  state STRING,
  dateTime TIMESTAMP,
  extra STRING,
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH (
  connector = 'nexmark', table = 'person', events = 10000, rate = 100, seed = 1,
  'out-of-orderness' = '4 seconds', 'step.events' = 1000
);

CREATE STREAM auction (
  id BIGINT,
  itemName STRING,
  description STRING,
  initialBid BIGINT,
  reserve BIGINT,
  dateTime TIMESTAMP,
  expires TIMESTAMP,
  seller BIGINT,
  category BIGINT,
  extra STRING,
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH (
  connector = 'nexmark', table = 'auction', events = 10000, rate = 100, seed = 1,
  'out-of-orderness' = '4 seconds', 'step.events' = 1000
);

SELECT P.id, P.name, P.window_start
FROM (
  SELECT id, name, window_start, window_end
  FROM TUMBLE(TABLE person, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY id, name, window_start, window_end
) AS P JOIN (
  SELECT seller, window_start, window_end
  FROM TUMBLE(TABLE auction, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY seller, window_start, window_end
) AS A
  ON P.id = A.seller AND P.window_start = A.window_start AND P.window_end = A.window_end;
