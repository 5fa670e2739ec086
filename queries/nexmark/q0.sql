-- Nexmark q0. What goes in comes out: each bid as it is.
--
--     sqlwin run queries/nexmark/q0.sql

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

SELECT auction, bidder, price, dateTime, extra
FROM bid;
