-- Nexmark q18. What is the last bid of each bidder for each auction?
--
--     sqlwin run queries/nexmark/q18.sql
--
-- A bid goes a day after it was the last one.

CREATE STREAM bid (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  dateTime TIMESTAMP,
  extra STRING,
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH (
  connector = 'nexmark', table = 'bid', events = 10000, rate = 100, seed = 1,
  'out-of-orderness' = '4 seconds', 'step.events' = 1000
);

SELECT /*+ STATE_TTL('bid' = '1 day') */ auction, bidder, price, channel, url, dateTime, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) AS place
  FROM bid
)
WHERE place <= 1
EMIT CHANGES;
