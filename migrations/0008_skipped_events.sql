-- Events that an operator skipped (type 'skipped'): few, and looked for when an entry's own event is not in `enter`. The
-- record has the event itself inside. In `postings` the account 'skipped' holds what such an event moved without saying
-- from where; in `audit` the action is 'skip'.
CREATE INDEX events_skipped ON events (jackpot_id, last_sequence, n) WHERE type = 'skipped';
