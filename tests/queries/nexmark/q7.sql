SELECT auction, bidder, price, dateTime, extra
FROM bid
QUALIFY price = max(price) OVER (PARTITION BY epoch_us(dateTime) // 10000000)
