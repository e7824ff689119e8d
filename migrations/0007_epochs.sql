-- What an epoch was opened with, beside its commitment: public like it. And its seed, from when it is published on: from
-- then on nobody needs the secret that it was derived from.
ALTER TABLE epochs ADD COLUMN nonce TEXT NOT NULL DEFAULT '';      -- 32 hexadecimal digits
ALTER TABLE epochs ADD COLUMN secret_id TEXT NOT NULL DEFAULT '';  -- 16 hexadecimal digits
ALTER TABLE epochs ADD COLUMN seed TEXT NOT NULL DEFAULT '';       -- 64 hexadecimal digits, '' before it is published
CREATE INDEX epochs_unpublished ON epochs (jackpot_id, epoch) WHERE seed = '';

-- The history in which a payout was paid: 16 hexadecimal digits, other ones after each restore.
ALTER TABLE payouts ADD COLUMN history TEXT NOT NULL DEFAULT '';
