SELECT DISTINCT p.id, p.name, to_timestamp(epoch_us(p.dateTime) // 10000000 * 10) AS window_start
FROM person p JOIN auction a
  ON p.id = a.seller AND epoch_us(p.dateTime) // 10000000 = epoch_us(a.dateTime) // 10000000
