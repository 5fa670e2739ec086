-- How late does a carrier run just now? Each departure, with the median delay of its
-- carrier's last 10 departures, itself included; ties go by flight_id.
--
--     sqlwin run queries/last_ten.sql
--
-- The last 10 are rows, not hours, so a late departure revises the 9 that follow
-- it, however long they took: of a carrier with a flight a day, more than a week of
-- them. A median needs the values themselves, which the message store keeps. The
-- flight_id is an OFFSET, so that it settles ties, and a file that is read twice
-- changes nothing.

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
  WATERMARK FOR dep_ts AS dep_ts - INTERVAL '6' HOUR,
  OFFSET flight_id
) WITH (connector = 'files', path = 'data/flights/*.jsonl', format = 'json');

SELECT flight_id, carrier, dep_ts,
       MEDIAN(dep_delay) OVER (PARTITION BY carrier ORDER BY dep_ts ROWS 9 PRECEDING)
         AS median_delay
FROM flights
RETAIN INTERVAL '1' DAY;
