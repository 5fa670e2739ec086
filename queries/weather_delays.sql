-- Does weather make flights late? Each departure with the weather at its origin, as of the
-- last reading before it, and with its aircraft.
--
--     sqlwin run queries/weather_delays.sql
--
-- Two joins, one after the other. ASOF takes the newest reading at the origin whose hour is
-- not after the departure; weather_ts says which. What it gives is a stream again, and each of
-- its rows finds its aircraft in a table, which is read whole at the start. That table does
-- not know the aircraft of 16 % of the departures, nearly all of two carriers that report
-- numbers of their own: LEFT keeps them.
--
-- A departure is emitted once flights and weather have both gone past it, so that its reading is
-- there, or at once if that has been. Readings that come late correct the departures after
-- them, for the day of retention.

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

CREATE STREAM weather (
  origin STRING,
  ts TIMESTAMP,
  temp DOUBLE,
  wind_speed DOUBLE,
  precip DOUBLE,
  visib DOUBLE,
  WATERMARK FOR ts AS ts
) WITH (connector = 'files', path = 'data/weather/*.jsonl', format = 'json');

CREATE TABLE planes (
  tailnum STRING,
  year INT,
  manufacturer STRING,
  model STRING,
  engines INT,
  seats INT
) WITH (connector = 'files', path = 'data/planes.csv', format = 'csv');

SELECT F.flight_id, F.origin, F.dep_ts, F.dep_delay,
       W.ts AS weather_ts, W.visib, W.wind_speed, W.precip,
       P.manufacturer, P.seats
FROM flights AS F
LEFT ASOF JOIN weather AS W MATCH_CONDITION (F.dep_ts >= W.ts) ON F.origin = W.origin
LEFT JOIN planes AS P ON F.tailnum = P.tailnum
RETAIN INTERVAL '1' DAY;
