WITH parted AS (SELECT *, string_split(url, '/') AS parts FROM bid)
SELECT auction, bidder, price, channel, parts[4] AS dir1, parts[5] AS dir2, parts[6] AS dir3
FROM parted
