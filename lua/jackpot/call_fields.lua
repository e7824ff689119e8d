-- Generated from crates/core/src/jackpot/call.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.

-- The fields of an event `enter` from which an entry of the call can be read.
local CALL_FIELDS = {
  'epoch',
  'version',
  'first',
  'count',
  'block',
  'skip',
  'amounts',
  'runs',
  'applied',
  'batch',
  'split',
}
