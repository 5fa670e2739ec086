-- Nexmark q4. What do the auctions of a category sell for, on average?
--
--     sqlwin run queries/nexmark/q4.sql
--
-- An auction sells for the highest bid while it was open. It changes with each bid that
-- is higher, and the average of its category with it. The original keeps all auctions
-- and bids. Here a bid finds an auction that began up to an hour before it, and prices and
-- averages go a day after they last changed.

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

SELECT category, AVG(final) AS final
FROM (
  SELECT /*+ STATE_TTL('S' = '1 day') */ category, MAX(price) AS final
  FROM (
    SELECT A.id, A.category, B.price
    FROM auction AS A JOIN bid AS B
      ON A.id = B.auction
     AND B.dateTime BETWEEN A.dateTime AND A.expires
     AND B.dateTime <= A.dateTime + INTERVAL '1' HOUR
  ) AS S
  GROUP BY id, category
)
GROUP BY category
EMIT CHANGES;
