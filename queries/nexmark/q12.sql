-- Nexmark q12. How many bids does someone make in each 10 seconds of the clock,
-- whenever they were made?
--
--     sqlwin run queries/nexmark/q12.sql
--
-- Windows over the time at which bids arrive. An answer that hangs on the clock of whoever
-- asks cannot be had again, nor corrected: so the source says when each bid arrived, and that
-- is the `dateTime` of a bid here. The column `arrived` is not one of Nexmark's own; Kafka's
-- time of appending would be another. Over bids of the usual columns, the query counts by when
-- they were made.

CREATE STREAM bid (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  arrived TIMESTAMP,
  dateTime AS arrived,
  extra STRING,
  WATERMARK FOR dateTime AS dateTime
) WITH (
  connector = 'nexmark', table = 'bid', events = 10000, rate = 100, seed = 1,
  'out-of-orderness' = '4 seconds', 'step.events' = 1000
);

SELECT bidder, COUNT(*) AS bid_count, window_start, window_end
FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end;
