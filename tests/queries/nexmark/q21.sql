SELECT auction, bidder, price, channel, channel_id
FROM (
  SELECT *, coalesce(
    CAST(list_position(['apple', 'google', 'facebook', 'baidu'], lower(channel)) - 1 AS VARCHAR),
    nullif(string_split(url, '&channel_id=')[2], '')
  ) AS channel_id
  FROM bid
)
WHERE channel_id IS NOT NULL
