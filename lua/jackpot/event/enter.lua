-- Generated from src/jackpot/ledger/event.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run --test it
-- docs::`.
--
-- Part of a script. Appends the event `enter`: One call took entries: entries that came one by one and were combined,
-- or a batch.
-- `values` has a text for each field:
--   epoch: The epoch under which the entries were drawn.
--   version: The definition under which the first entry was drawn.
--   first: Sequence of the first entry; the others follow.
--   count: How many entries the call took.
--   block: One entry a line, `*` for no seed. Of a batch without the id: the entry of line `i` is `{batch}:{i}`.
--   skip: Lines of the block, from 1, that this call did not take: taken before, or refused; nothing for a batch.
--   amounts: What an entry adds, by stake. `*` in place of the stake: the contribution is fixed. Between two
--     definitions (`split`): `|`.
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
--   meters: The change of each meter.
--   applied: Version of the definition that came into force with the event.

local function append_enter(key, state, at, values)
  local more = {}
  if values.batch then
    more[#more + 1], more[#more + 2] = 'batch', values.batch
  end
  if values.split then
    more[#more + 1], more[#more + 2] = 'split', values.split
  end
  if values.record then
    more[#more + 1], more[#more + 2] = 'record', values.record
  end
  redis.call(
    'XADD',
    key,
    next_event(state),
    'n',
    num(state.n),
    'at',
    num(at),
    'type',
    'enter',
    'history',
    state.history,
    'epoch',
    values.epoch,
    'version',
    values.version,
    'first',
    values.first,
    'count',
    values.count,
    'block',
    values.block,
    'skip',
    values.skip,
    'amounts',
    values.amounts,
    'runs',
    values.runs,
    'claims',
    values.claims,
    'call',
    values.call,
    'meters',
    values.meters,
    'applied',
    values.applied,
    unpack(more)
  )
end
