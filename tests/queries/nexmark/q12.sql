WITH placed AS (SELECT bidder, epoch_us(arrived) // 10000000 AS slice FROM bid)
SELECT bidder, count(*) AS bid_count,
       to_timestamp(slice * 10) AS window_start, to_timestamp(slice * 10 + 10) AS window_end
FROM placed
GROUP BY bidder, slice
