-- Since when a key signs no more; NULL while it does, or as far as is known. Passes of rooms that say to be made later are
-- refused: who has stolen an old key makes no new ones.
ALTER TABLE signing_keys ADD COLUMN retired_ms BIGINT;
