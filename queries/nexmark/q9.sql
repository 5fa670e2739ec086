-- Nexmark q9. Which bid wins each auction?
--
--     sqlwin run queries/nexmark/q9.sql
--
-- The highest one while the auction was open, of equals the first. The original keeps all
-- auctions and bids. Here a bid finds an auction that began up to an hour before it, and
-- winners go a day after they last changed.

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

SELECT /*+ STATE_TTL('A' = '1 day', 'B' = '1 day') */
       id, itemName, description, initialBid, reserve, dateTime, expires, seller, category, extra,
       auction, bidder, price, bid_dateTime, bid_extra
FROM (
  SELECT A.*, B.auction, B.bidder, B.price, B.dateTime AS bid_dateTime, B.extra AS bid_extra,
         ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.dateTime) AS place
  FROM auction AS A JOIN bid AS B
    ON A.id = B.auction
   AND B.dateTime BETWEEN A.dateTime AND A.expires
   AND B.dateTime <= A.dateTime + INTERVAL '1' HOUR
)
WHERE place <= 1
EMIT CHANGES;
