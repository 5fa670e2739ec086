-- When are the runways busiest? Departures of the hour from each New York airport,
-- evaluated every 15 minutes, so that a rush across the full hour is seen.
--
--     sqlwin run queries/busy_runways.sql
--
-- Departures arrive out of order, in January by up to 10 hours 17 minutes, in all
-- of 2013 by up to 18 hours 56: the 6 hours of delay take in nearly all, and the
-- day of retention the rest, each of which revises the four windows that hold it.

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

SELECT origin, window_start, window_end, COUNT(*) AS departures
FROM HOP(TABLE flights, DESCRIPTOR(dep_ts), INTERVAL '15' MINUTE, INTERVAL '1' HOUR)
GROUP BY origin, window_start, window_end
RETAIN INTERVAL '1' DAY;
