-- How many flights leave each New York airport in each hour, and how late are they?
--
--     sqlwin run queries/departures_per_hour.sql
--
-- Flights are reported when they land, so a departure may lie hours behind others
-- that left after it: half of January by more than 1.5 hours, 1 in 276 by more
-- than 6, the worst by 10 hours 17 minutes. With 6 hours of delay nearly every
-- hour is whole when it is emitted full; the few that come later revise it. The
-- day of retention is wide enough for all of 2013 (the worst: 18 hours 56).
--
-- Flights that never left have no dep_ts: they go to the error stream.

-- On Spark two files or so a batch, as a feed would bring them, so that revisions show.
SET 'batch.bytes' = 1500000;

CREATE STREAM flights (
  flight_id BIGINT,
  carrier STRING,
  flight INT,
  tailnum STRING,
  origin STRING,
  dest STRING,
  dep_ts TIMESTAMP,
  arr_ts TIMESTAMP,
  dep_delay INT,
  arr_delay INT,
  distance INT,
  WATERMARK FOR dep_ts AS dep_ts - INTERVAL '6' HOUR
) WITH (connector = 'files', path = 'data/flights/*.jsonl', format = 'json');

SELECT origin, window_start, window_end,
       COUNT(*) AS departures,
       AVG(dep_delay) AS avg_delay,
       MAX(dep_delay) AS max_delay
FROM TUMBLE(TABLE flights, DESCRIPTOR(dep_ts), INTERVAL '1' HOUR)
GROUP BY origin, window_start, window_end
RETAIN INTERVAL '1' DAY;
