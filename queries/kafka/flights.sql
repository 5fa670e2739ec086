-- Flights out of New York from a topic, and two tables of PostgreSQL that are kept true while they
-- land: departures of each hour, and each aircraft's days of flying.
--
--     make kafka-demo
--
-- starts the servers, sends the flights, kills this run twice, and compares. On servers of yours:
--
--     sqlwin run queries/kafka/flights.sql --engine embedded --follow --checkpoint state
--       --param servers=localhost:9092 --param url=postgresql://me@localhost:5432/flights
--
-- EARLY ON UPDATE: a table has every flight of the batches that are done, also of hours that are
-- not over. LATE ON UPDATE: a flight that is reported late changes it in the same batch.
-- max.records: a run that was away catches up in several batches.

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
) WITH (connector = 'kafka', servers = :servers, topic = 'flights', 'max.records' = 1500);

CREATE SINK departures_per_hour WITH (
  connector = 'postgres', url = :url, table = 'departures_per_hour', create = 'true',
  unique = 'origin, window_start'
);

-- No unique columns: some flights have no tailnum, so a row is identified by row_key.
CREATE SINK aircraft_days WITH (
  connector = 'postgres', url = :url, table = 'aircraft_days', create = 'true'
);

INSERT INTO departures_per_hour
SELECT origin, window_start, window_end,
       COUNT(*) AS departures,
       AVG(dep_delay) AS avg_delay,
       MAX(dep_delay) AS max_delay
FROM TUMBLE(TABLE flights, DESCRIPTOR(dep_ts), INTERVAL '1' HOUR)
GROUP BY origin, window_start, window_end
EMIT EARLY ON UPDATE ON CLOSE LATE ON UPDATE
RETAIN INTERVAL '1' DAY;

INSERT INTO aircraft_days
SELECT tailnum, window_start, window_end,
       COUNT(*) AS flights,
       SUM(distance) AS miles
FROM SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(dep_ts), INTERVAL '6' HOUR)
GROUP BY tailnum, window_start, window_end
EMIT EARLY ON UPDATE ON CLOSE LATE ON UPDATE
RETAIN INTERVAL '1' DAY;
