-- Shared by the scripts that put a definition (jackpot, coupon, room): the arguments of a PUT, its repeats, its
-- precondition, and the values of its event that every capability has.
--
-- Part of a script. The named values of a PUT:
--   json: definition, kept as it is
--   wanted: '' any | 'absent' only create | 'present' only change | ',3,4,' only change from one of these versions
--   read: last version that the caller has read, '' for none
--   nonce: one for this PUT and all its repeats
--   who, request_id
--   history of a subject that this call creates
-- It decides in this order: repeated_put, ended_put, then what the capability refuses. For a subject that does not
-- exist: refused_creation, then the capability's own refusals.
-- A repeat of a PUT (same nonce) answers as the first did and changes nothing, even after another PUT. A delayed PUT
-- changes nothing if another one was acknowledged meanwhile ('stale', by the last version).
-- The state's field `puts` has the last PUTs, "nonce outcome version;" each.
-- A script that changes a subject adds `puts`, the field of the state.
-- needs: subject/named subject/put_reply

local MAX_PUTS = 16 -- PUTs whose repeats are recognized: more than the operators who work on one subject at once

-- Returns the reply that refuses to create the subject, or nil. `ended`: the reply of known_state.
--   {'restoring' | 'behind', mark} | {'mismatch', '0'} the PUT wants to change a subject
local function refused_creation(put, ended)
  if ended[1] ~= 'unknown' then
    return ended
  end
  if tonumber(ARGV[1]) > 0 then
    return { 'behind', '0' }
  end
  if put.wanted ~= '' and put.wanted ~= 'absent' then
    return { 'mismatch', '0' }
  end
  return nil
end

-- Returns the reply to the PUT with this nonce (put_reply), or nil if it is not in the list `put.puts`.
local function repeated_put(state, put)
  local outcome, version = string.match(';' .. put.puts, ';' .. put.nonce .. ' (%l+) (%d+);')
  return outcome and put_reply(outcome, mark(state), { version = version })
end

-- Returns the reply that ends a change before the capability decides, or nil. `last`: the last version; `is_same`: it
-- has this definition already; `is_stale`: the caller's reading is old in another way.
--   {'same', mark, version} | {'stale', mark} | {'mismatch', mark} `wanted` does not hold
local function ended_put(state, put, last, is_same, is_stale)
  if is_same and put.wanted ~= 'absent' then
    -- Also with an unexpected version: the requested state is already there (RFC 9110, 13.1.1).
    return put_reply('same', mark(state), { version = last })
  end
  if is_stale or last ~= put.read then
    return { 'stale', mark(state) }
  end
  local allowed = put.wanted == '' or put.wanted == 'present' or find(put.wanted, ',' .. last .. ',', 1, true)
  return not allowed and { 'mismatch', mark(state) } or nil
end

-- The values of the event `define`: `own`, and those of every capability.
local function put_values(put, outcome, version, own)
  own.mode, own.version, own.json, own.nonce = outcome, version, put.json, put.nonce
  own.who, own.request_id = put.who, put.request_id
  return own
end

-- The state's field `puts` with this PUT; a full list drops its oldest.
local function remember_put(put, outcome, version)
  local puts = outcome == 'created' and '' or put.puts
  local _, count = string.gsub(puts, ';', '')
  if count >= MAX_PUTS then
    puts = string.gsub(puts, '^[^;]*;', '', 1)
  end
  return puts .. put.nonce .. ' ' .. outcome .. ' ' .. version .. ';'
end
