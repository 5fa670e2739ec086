-- Nexmark q10. What is the log of all bids, by day and minute?
--
--     sqlwin run queries/nexmark/q10.sql
--
-- The original writes a folder a minute. To have files, declare where they go and begin the
-- query with INSERT INTO bid_log:
-- 
--     CREATE SINK bid_log WITH (connector = 'files', path = 'bid_log', format = 'csv');

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

SELECT auction, bidder, price, dateTime, extra,
       DATE_FORMAT(dateTime, 'yyyy-MM-dd') AS dt, DATE_FORMAT(dateTime, 'HH:mm') AS hm
FROM bid;
