-- Nexmark q5. Which auctions have had the most bids of the last 10 seconds, every 2 seconds?
--
--     sqlwin run queries/nexmark/q5.sql
--
-- The bids of each auction in a window, beside the most that any has in it. Auctions with
-- as many bids are all told.

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

WITH counted AS (
  SELECT auction, window_start, window_end, COUNT(*) AS num
  FROM HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
  GROUP BY auction, window_start, window_end
), highest AS (
  SELECT window_start, window_end, MAX(num) AS num
  FROM counted
  GROUP BY window_start, window_end
)
SELECT C.auction, C.num, C.window_start, C.window_end
FROM counted AS C JOIN highest AS H
  ON C.window_start = H.window_start AND C.window_end = H.window_end AND C.num >= H.num;
