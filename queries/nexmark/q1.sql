-- Nexmark q1. What is each bid in euros?
--
--     sqlwin run queries/nexmark/q1.sql
--
-- Prices are in cents; a dollar is 0.908 euros, as it ever was here.

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

SELECT auction, bidder, 0.908 * price AS price, dateTime, extra
FROM bid;
