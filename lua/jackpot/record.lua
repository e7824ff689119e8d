-- Shared by the scripts that look for the record of an entry.
--
-- Part of a script, after `in_run`. An entry that was taken in a run has a short record, which names the record of
-- its call. Replies have both, with one space between them.
-- needs: in_run

-- A record as replies have it. Without the call's record it is unreadable.
local function whole_record(text, key)
  local in_run = read_in_run(text)
  return in_run and text .. ' ' .. (redis.call('HGET', key, in_run.call) or '') or text
end
