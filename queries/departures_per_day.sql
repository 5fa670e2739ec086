-- How many flights leave each New York airport on each day, as the clocks there have it?
--
--     sqlwin run queries/departures_per_day.sql
--
-- A day of New York begins at 5:00 UTC in January (4:00 in summer), so a flight that leaves
-- at 9 in the evening counts on the day that is printed on its ticket. Over the year the day
-- on which clocks are put forward has 23 hours, and the one on which they are put back 25.

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
       SUM(distance) AS miles,
       MEDIAN(dep_delay) AS usual_delay
FROM TUMBLE(TABLE flights, DESCRIPTOR(dep_ts), INTERVAL '1' DAY, 'America/New_York')
GROUP BY origin, window_start, window_end
RETAIN INTERVAL '1' DAY;
