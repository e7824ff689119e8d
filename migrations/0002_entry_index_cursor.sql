-- The index of entries by player is written less often than the events, with a cursor of its own: the last event whose
-- entries it has. What was there before has them all.
ALTER TABLE jackpots ADD COLUMN indexed_n BIGINT NOT NULL DEFAULT 0;
UPDATE jackpots SET indexed_n = n;
