-- Nexmark q6. What do a seller's last 10 auctions sell for, on average?
--
--     sqlwin run queries/nexmark/q6.sql
--
-- An auction's winning bid is the highest one while it was open, of equals the first. Each
-- is told with the average of its seller's last 10, by the time of the winning bid, itself
-- included. A higher bid retracts the one before it, and corrects the averages that it
-- was in. The original keeps all auctions and bids. Here a bid finds an auction that
-- began up to an hour before it, and winners go a day after they last changed.

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

SELECT seller, auction, dateTime,
       AVG(price) OVER (PARTITION BY seller ORDER BY dateTime ROWS 9 PRECEDING) AS avg_price
FROM (
  SELECT /*+ STATE_TTL('S' = '1 day') */ auction, seller, price, dateTime,
         ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, dateTime) AS place
  FROM (
    SELECT A.id AS auction, A.seller, B.price, B.dateTime
    FROM auction AS A JOIN bid AS B
      ON A.id = B.auction
     AND B.dateTime BETWEEN A.dateTime AND A.expires
     AND B.dateTime <= A.dateTime + INTERVAL '1' HOUR
  ) AS S
)
WHERE place <= 1
EMIT CHANGES RETAIN INTERVAL '1' DAY;
