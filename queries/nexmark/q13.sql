-- Nexmark q13. On which shelf is the item of each bid?
--
--     sqlwin run queries/nexmark/q13.sql
--
-- A table beside the stream, which is read whole before it.

CREATE STREAM bid (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  dateTime TIMESTAMP,
  extra STRING,
  WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND
) WITH (
  connector = 'nexmark', table = 'bid', events = 10000, rate = 100, seed = 1,
  'out-of-orderness' = '4 seconds', 'step.events' = 1000
);

CREATE TABLE side_input (
  key BIGINT,
  value STRING
) WITH (connector = 'files', path = 'side_input.csv', format = 'csv');

SELECT B.auction, B.bidder, B.price, B.dateTime, S.value
FROM bid AS B JOIN side_input AS S ON MOD(B.auction, 100) = S.key;
