-- For tests: lets time pass for one room. It subtracts the time from every time that Redis keeps of the room.
--
-- KEYS  the eleven of the room (lua/room/state.lua)
-- ARGV  1 ms  2 '1': nobody stepped the room meanwhile, as when Redis or all instances are away

local by = tonumber(ARGV[1])

local function less(text)
  return string.format('%d', text - by)
end

for _, field in ipairs({ 'opens', 'hold', 'opens_at', 'passes_until', 'grace', 'clock', ARGV[2] == '1' and 'stepped' or nil }) do
  local text = redis.call('HGET', KEYS[1], field)
  if text ~= '' and text ~= '0' then
    redis.call('HSET', KEYS[1], field, less(text))
  end
end
local tickets = redis.call('HGETALL', KEYS[2])
for i = 1, #tickets, 2 do
  local text = tickets[i + 1]
  local head, times, user = string.match(text, '^(w %d+ )(%d+)( %S+)$')
  if not head then
    head, times, user = string.match(text, '^(%l )([%d ]+)( %S+)$')
  end
  if head then
    redis.call('HSET', KEYS[2], tickets[i], head .. string.gsub(times, '%d+', less) .. user)
  end
end
local users = redis.call('HGETALL', KEYS[3])
for i = 1, #users, 2 do
  redis.call('HSET', KEYS[3], users[i], (string.gsub(users[i + 1], ' %d+$', function(text)
    return ' ' .. less(text)
  end)))
end
for _, key in ipairs({ KEYS[5], KEYS[6], KEYS[7] }) do
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    redis.call('ZINCRBY', key, -by, member)
  end
end
local revoked = redis.call('ZRANGE', KEYS[8], 0, -1, 'WITHSCORES')
for i = 1, #revoked, 2 do
  redis.call('ZREM', KEYS[8], revoked[i])
  redis.call('ZADD', KEYS[8], revoked[i + 1], (string.gsub(revoked[i], ' %d+', function(text)
    return ' ' .. less(text)
  end)))
end
for i, text in ipairs(redis.call('LRANGE', KEYS[9], 0, -1)) do
  redis.call('LSET', KEYS[9], i - 1, less(text))
end
