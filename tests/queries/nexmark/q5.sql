WITH placed AS (
  SELECT auction, unnest(range(5)) AS back, epoch_us(dateTime) // 2000000 AS slice FROM bid
), counted AS (
  SELECT auction, slice - back AS first, count(*) AS num FROM placed GROUP BY ALL
)
SELECT auction, num,
       to_timestamp(first * 2) AS window_start,
       to_timestamp(first * 2 + 10) AS window_end
FROM counted
QUALIFY num = max(num) OVER (PARTITION BY first)
