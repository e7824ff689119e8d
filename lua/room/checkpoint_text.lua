-- Generated from crates/room/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- What Redis held.
--   status version capacity session_ms waiting_timeout_ms rate opens_ms passes_until_ms commitment collected_sha256

local function checkpoint_text(
  status,
  version,
  capacity,
  session_ms,
  waiting_timeout_ms,
  rate,
  opens_ms,
  passes_until_ms,
  commitment,
  collected_sha256
)
  return status
    .. ' '
    .. version
    .. ' '
    .. capacity
    .. ' '
    .. session_ms
    .. ' '
    .. waiting_timeout_ms
    .. ' '
    .. rate
    .. ' '
    .. opens_ms
    .. ' '
    .. passes_until_ms
    .. ' '
    .. commitment
    .. ' '
    .. collected_sha256
end
