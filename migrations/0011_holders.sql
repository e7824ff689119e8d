-- Leases belong to the instances that read streams: one row is renewed in place of one for each stream.

-- The instances that read streams of a kind, and until when. A stream of an instance without a row is free.
CREATE TABLE holders (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,             -- streams.holder; each start of an instance has another one
  until_ms BIGINT NOT NULL,       -- by the database's clock
  PRIMARY KEY (kind, name)
);
ALTER TABLE streams DROP COLUMN lease_until_ms;
