-- Nexmark q11. How many bids does someone make in each session, parted by 10 seconds without one?
--
--     sqlwin run queries/nexmark/q11.sql

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

SELECT bidder, COUNT(*) AS bid_count, window_start, window_end
FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end;
