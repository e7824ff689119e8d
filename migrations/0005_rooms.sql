-- Rooms: a third kind of streams, of what operators do to a room alone; tickets are not in the ledger. What operators did
-- is in `audit`, and the last comparison in `reconciliations`, under 'room:<id>'.

-- A room: how far its stream has been read, its state there, and who reads it. As in `jackpots`.
CREATE TABLE rooms (
  room_id TEXT PRIMARY KEY,
  n BIGINT NOT NULL,
  hash TEXT NOT NULL,
  stream_id TEXT NOT NULL,
  restores BIGINT NOT NULL,
  books TEXT NOT NULL,            -- JSON: ledger::rooms::books::Books at n
  stopped TEXT NOT NULL,
  holder TEXT NOT NULL,
  lease_token BIGINT NOT NULL,
  lease_until_ms BIGINT NOT NULL
);

-- The record of rooms, chained as that of jackpots.
CREATE TABLE room_events (
  room_id TEXT NOT NULL,
  n BIGINT NOT NULL,
  stream_id TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  type TEXT NOT NULL,
  last_sequence BIGINT NOT NULL,  -- as in the other records; 0, because nothing in a room has a number of its own
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (room_id, n)
);
