SELECT category, avg(final) AS final
FROM (
  SELECT a.category, max(b.price) AS final
  FROM auction a JOIN bid b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires
  GROUP BY a.id, a.category
)
GROUP BY category
