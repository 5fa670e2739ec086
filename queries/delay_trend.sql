-- Is a carrier getting later? Each departure, with the average delay and the number
-- of its carrier's flights over the 2 hours before it, itself included.
--
--     sqlwin run queries/delay_trend.sql
--
-- Departures arrive out of order, in January by up to 10 hours 17 minutes, in all
-- of 2013 by up to 18 hours 56. One that comes after its watermark is emitted
-- late, and revises each departure of its carrier in the 2 hours after it. The
-- day of retention loses none. Flights of one carrier and one minute are peers:
-- each counts the others.

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

SELECT flight_id, carrier, dep_ts, dep_delay,
       AVG(dep_delay) OVER recent AS avg_delay,
       COUNT(*) OVER recent AS flights
FROM flights
WINDOW recent AS (PARTITION BY carrier ORDER BY dep_ts
                  RANGE BETWEEN INTERVAL '2' HOUR PRECEDING AND CURRENT ROW)
RETAIN INTERVAL '1' DAY;
