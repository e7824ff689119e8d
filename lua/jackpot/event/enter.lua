-- Generated from crates/jackpot/src/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test
-- it docs::`.
--
-- Part of a script. Appends the event `enter`: One call took entries: entries that came one by one and were combined,
-- or a batch.
-- `values` has a text for each field:
--   epoch: The epoch under which the entries were drawn.
--   version: The definition under which the first entry was drawn.
--   first: Sequence of the first entry; the others follow.
--   count: How many entries the call took.
--   block: One entry a line: its id, then what was sent. Of a batch without the id: the entry of line `i` is
--     `{batch}:{i}`.
--   skip: Lines of the block, from 1, that this call did not take: taken before, or refused; nothing for a batch.
--   amounts: What an entry adds, by stake. `*` in place of the stake: the contribution is fixed. `@source` after it: of
--     a source with a contribution of its own. Between two definitions (`split`): `|`.
--   runs: Where runs begin: at the first entry, and after each paid entry. What each tier holds before that entry. The
--     first taken entry has index 1.
--   batch: Its id. Only for a batch.
--   split: Index, from 1, of the first entry drawn under the definition in `applied`, if that came into force within
--     the batch. Only for a batch.
--   claims: Claims of the entries that drew a prize: all attempts of a batch's entries, only the first of a single
--     entry.
--   record: The record of the batch (`lua/jackpot/batch.lua`). Only for a batch.
--   call: 1 when single entries without a prize share one record of the call, which Redis keeps beside the records of
--     entries.
--   hits: The entries that hit a pool by its rule. Only where an entry hit.
--   over: The records of early cancels of this generation that its records replaced. Only where an entry came after a
--     cancel that is not for its source.
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.
--   cycles: The cycles that ended and began with it. Only where a cycle may have changed.

local function append_enter(key, state, at, values)
  local id, n = next_event(state)
  local at_text = num(at)
  local text = '4:type5:enter'
    .. '1:n'
    .. (sizes[#n] or size(#n))
    .. n
    .. '2:at'
    .. (sizes[#at_text] or size(#at_text))
    .. at_text
    .. '7:history'
    .. (sizes[#state.history] or size(#state.history))
    .. state.history
    .. '5:epoch'
    .. (sizes[#values.epoch] or size(#values.epoch))
    .. values.epoch
    .. '7:version'
    .. (sizes[#values.version] or size(#values.version))
    .. values.version
    .. '5:first'
    .. (sizes[#values.first] or size(#values.first))
    .. values.first
    .. '5:count'
    .. (sizes[#values.count] or size(#values.count))
    .. values.count
    .. '5:block'
    .. (sizes[#values.block] or size(#values.block))
    .. values.block
    .. '4:skip'
    .. (sizes[#values.skip] or size(#values.skip))
    .. values.skip
    .. '7:amounts'
    .. (sizes[#values.amounts] or size(#values.amounts))
    .. values.amounts
    .. '4:runs'
    .. (sizes[#values.runs] or size(#values.runs))
    .. values.runs
    .. '6:claims'
    .. (sizes[#values.claims] or size(#values.claims))
    .. values.claims
    .. '4:call'
    .. (sizes[#values.call] or size(#values.call))
    .. values.call
    .. '6:meters'
    .. (sizes[#values.meters] or size(#values.meters))
    .. values.meters
    .. '7:applied'
    .. (sizes[#values.applied] or size(#values.applied))
    .. values.applied
  if values.batch then
    text = text .. '5:batch' .. (sizes[#values.batch] or size(#values.batch)) .. values.batch
  end
  if values.split then
    text = text .. '5:split' .. (sizes[#values.split] or size(#values.split)) .. values.split
  end
  if values.record then
    text = text .. '6:record' .. (sizes[#values.record] or size(#values.record)) .. values.record
  end
  if values.hits then
    text = text .. '4:hits' .. (sizes[#values.hits] or size(#values.hits)) .. values.hits
  end
  if values.over then
    text = text .. '4:over' .. (sizes[#values.over] or size(#values.over)) .. values.over
  end
  if values.cycles then
    text = text .. '6:cycles' .. (sizes[#values.cycles] or size(#values.cycles)) .. values.cycles
  end
  redis.call('XADD', key, id, 'e', text)
end
