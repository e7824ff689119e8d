-- Run by wrk. Every request is an entry with a new id, over the jackpots in turn. When the route is `issues`, it is a
-- new user's request for a unit of a coupon. When it is `plays`, it is one play that feeds all of the jackpots.
-- From the environment: BENCH_TAG (4 hexadecimal digits, differs between loads), BENCH_KEY, BENCH_JACKPOTS (their
-- number), BENCH_ROUTE (last part of the path). Prints `BENCH ` and one line of JSON: requests, seconds, errors, and
-- latencies in microseconds.

local threads = 0
local route = os.getenv('BENCH_ROUTE')
local body = '{"entry_id":"7b0c3a52-%s-%04d-8000-%012d","player_id":"p%07d","stake":100,"client_seed":null}'
local where = '/v1/jackpots/bench-'
if route == 'issues' then
  body = '{"request_id":"7b0c3a52-%s-%04d-8000-%012d","user_id":"u-%s-%d-%d"}'
  where = '/v1/coupons/bench-'
end

if route == 'plays' then
  local ids = {}
  for jackpot = 0, tonumber(os.getenv('BENCH_JACKPOTS')) - 1 do
    ids[#ids + 1] = '"bench-' .. jackpot .. '"'
  end
  body = '{"entry_id":"7b0c3a52-%s-%04d-8000-%012d","player_id":"p%07d","stake":100,"currency":"KRW",'
    .. '"client_seed":null,"jackpots":['
    .. table.concat(ids, ',')
    .. ']}'
end

function setup(thread)
  thread:set('number', threads)
  threads = threads + 1
end

-- The body of a thread's request with this number. The tag makes ids and users differ between loads.
local function body_of(n)
  if route == 'issues' then
    return string.format(body, tag, number, n, tag, number, n + 1e9)
  end
  return string.format(body, tag, number, n, n % 1000000)
end

-- Once in each thread.
function init()
  tag, count, heads = os.getenv('BENCH_TAG'), 0, {}
  jackpots = tonumber(os.getenv('BENCH_JACKPOTS'))
  local rest = ' HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer '
    .. os.getenv('BENCH_KEY')
    .. '\r\nContent-Type: application/json\r\nContent-Length: '
    .. #body_of(0)
    .. '\r\n\r\n'
  for jackpot = 0, jackpots - 1 do
    heads[jackpot] = 'POST ' .. (route == 'plays' and '/v1/entries' or where .. jackpot .. '/' .. route) .. rest
  end
end

function request()
  count = count + 1
  return heads[count % jackpots] .. body_of(count)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(
    string.format(
      'BENCH {"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d,"p50_us":%.0f,"p99_us":%.0f}\n',
      summary.requests,
      summary.duration / 1e6,
      errors.status,
      errors.connect + errors.read + errors.write + errors.timeout,
      latency:percentile(50),
      latency:percentile(99)
    )
  )
end
