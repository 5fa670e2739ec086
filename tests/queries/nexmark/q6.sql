WITH winners AS (
  SELECT a.seller, a.id AS auction, b.price, b.dateTime
  FROM auction a JOIN bid b ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
  QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime) = 1
)
SELECT seller, auction, dateTime,
       avg(price) OVER (
         PARTITION BY seller ORDER BY dateTime ROWS BETWEEN 9 PRECEDING AND CURRENT ROW
       ) AS avg_price
FROM winners
