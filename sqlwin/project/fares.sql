-- Rides and fares of every zone, five minutes at a time.
--
--   sqlwin run fares.sql --engine embedded    what it emits
--   sqlwin test                               whether fares.golden still holds
--   sqlwin explain fares.sql                  the plan: windows, state, when results come

CREATE STREAM rides (
  zone STRING,
  fare DOUBLE,
  ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE -- rides come up to a minute out of order
) WITH (connector = 'files', path = 'rides.csv', format = 'csv');

SELECT zone, window_start, COUNT(*) AS rides, SUM(fare) AS fares
FROM TUMBLE(TABLE rides, DESCRIPTOR(ts), INTERVAL '5' MINUTE)
GROUP BY zone, window_start, window_end
EMIT LATE ON UPDATE -- a ride that comes later corrects its five minutes
RETAIN INTERVAL '1' HOUR; -- for an hour
