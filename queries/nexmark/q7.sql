-- Nexmark q7. What are the highest bids of each 10 seconds?
--
--     sqlwin run queries/nexmark/q7.sql
--
-- The highest price of a window is joined with the bids that have it, of which there may be
-- several. A window's rows have the time at which it ends, less a microsecond.

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

SELECT B.auction, B.bidder, B.price, B.dateTime, B.extra
FROM bid AS B JOIN (
  SELECT window_time, MAX(price) AS price
  FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end, window_time
) AS H
  ON B.price = H.price
 AND B.dateTime > H.window_time - INTERVAL '10' SECOND AND B.dateTime <= H.window_time;
