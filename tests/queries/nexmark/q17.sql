SELECT auction, strftime(dateTime, '%Y-%m-%d') AS day,
       count(*) AS total_bids,
       count_if(price < 10000) AS rank1_bids,
       count_if(price >= 10000 AND price < 1000000) AS rank2_bids,
       count_if(price >= 1000000) AS rank3_bids,
       min(price) AS min_price, max(price) AS max_price,
       avg(price) AS avg_price, sum(price)::BIGINT AS sum_price
FROM bid
GROUP BY auction, day
