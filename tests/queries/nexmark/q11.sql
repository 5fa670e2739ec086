WITH marked AS (
  SELECT bidder, dateTime,
         coalesce(dateTime - lag(dateTime) OVER one > INTERVAL 10 SECOND, true) AS begins
  FROM bid
  WINDOW one AS (PARTITION BY bidder ORDER BY dateTime)
), numbered AS (
  SELECT bidder, dateTime,
         sum(begins::INT) OVER (PARTITION BY bidder ORDER BY dateTime) AS session
  FROM marked
)
SELECT bidder, count(*) AS bid_count,
       min(dateTime) AS window_start, max(dateTime) + INTERVAL 10 SECOND AS window_end
FROM numbered
GROUP BY bidder, session
