-- When does an aircraft fly, and how far? Each aircraft's days of flying as sessions: its
-- departures go on as one until it has not left for six hours.
--
--     sqlwin run queries/aircraft_days.sql
--
-- A session ends with a pause, not at midnight, so each is as long as the aircraft's own
-- day. A late departure may join two days in one: both are retracted then, and the
-- longer one is told. Some flights have no tailnum; they are those of one aircraft, NULL.

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

SELECT tailnum, window_start, window_end,
       COUNT(*) AS flights,
       SUM(distance) AS miles
FROM SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(dep_ts), INTERVAL '6' HOUR)
GROUP BY tailnum, window_start, window_end
RETAIN INTERVAL '1' DAY;
