local TERMS_FORMAT, METERS_FORMAT = 1, 1
local METERS_ROWS, METERS_WIDTH = 5, 11

local function check_terms(v)
  check_whole(v, 3, 8)
  for i = 9, 20 do
    if #v[i] < 0 then
      error('no text')
    end
  end
  for i = 21, 22 do
    for _, row in ipairs(v[i]) do
      check_whole(row, 2, row[3] and 3 or 2)
    end
  end
end

local function read_terms(text)
  local v = unpacked(text, TERMS_FORMAT, 'terms')
  must(#v == 22 and pcall(check_terms, v) or nil, 'JP_DAMAGED terms')
  return {
    last_version = v[3],
    gen_start = v[4],
    gen_opened = v[5],
    gen_age = v[6],
    gen_looked = v[7],
    retention = v[8],
    version = v[9],
    money = v[10],
    next = v[11],
    next_money = v[12],
    currency = v[13],
    epoch = v[14],
    commitment = v[15],
    nonce = v[16],
    secret = v[17],
    history = v[18],
    gen = v[19],
    gen_version = v[20],
    tiers = v[21],
    next_tiers = v[22],
  }
end

local function write_terms(terms)
  return cmsgpack.pack(
    TERMS_FORMAT,
    terms.last_version,
    terms.gen_start,
    terms.gen_opened,
    terms.gen_age,
    terms.gen_looked,
    terms.retention,
    terms.version,
    terms.money,
    terms.next,
    terms.next_money,
    terms.currency,
    terms.epoch,
    terms.commitment,
    terms.nonce,
    terms.secret,
    terms.history,
    terms.gen,
    terms.gen_version,
    terms.tiers,
    terms.next_tiers
  )
end

local function read_meters(text)
  local v = unpacked(text, METERS_FORMAT, 'meters')
  must((#v - METERS_ROWS + 1) % METERS_WIDTH == 0 and pcall(check_whole, v, 3, 4) or nil, 'JP_DAMAGED meters')
  return v
end

local function write_meters(state, v)
  v[3], v[4] = state.seq, state.order
  return cmsgpack.pack(unpack(v, 2))
end

local function no_meters()
  return { true, METERS_FORMAT, 0, 0 }
end
