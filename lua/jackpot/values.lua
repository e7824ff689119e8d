-- Generated from crates/jackpot/src/scripts/packed.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.
-- needs: subject/packed
--
-- Under what a jackpot takes entries, in the field `terms` of its state. Entries do not change it, unless they put a
-- waiting definition in force. Versions and epochs are texts of digits, because scripts only compare them.

local TERMS_FORMAT = 1

local function check_terms(list)
  check_whole(list, 3, 8)
  check_texts(list, 9, 20)
  for _, row in ipairs(list[21]) do -- tiers
    check_texts(row, 1, 1)
    check_whole(row, 2, row[3] and 3 or 2)
  end
  for _, row in ipairs(list[22]) do -- next_tiers
    check_texts(row, 1, 1)
    check_whole(row, 2, row[3] and 3 or 2)
  end
end

local function unpack_terms(text)
  local list = unpacked(text, TERMS_FORMAT, 'terms')
  must(#list == 22 and pcall(check_terms, list) or nil, 'JP_DAMAGED terms')
  return {
    last_version = list[3],
    gen_start = list[4],
    gen_opened = list[5],
    gen_age = list[6],
    gen_looked = list[7],
    retention = list[8],
    version = list[9],
    money = list[10],
    next = list[11],
    next_money = list[12],
    currency = list[13],
    epoch = list[14],
    commitment = list[15],
    nonce = list[16],
    secret = list[17],
    history = list[18],
    gen = list[19],
    gen_version = list[20],
    tiers = list[21],
    next_tiers = list[22],
  }
end

-- What texts hold that were read: each is unpacked once. Nobody changes what is kept.
local kept_terms, count_terms = {}, 0

-- A table with the values of the text. A value that is set hides the one of the text.
local function read_terms(text)
  local of_text = kept_terms[text]
  if not of_text then
    of_text = { __index = unpack_terms(text) }
    if count_terms == MAX_KEPT then
      kept_terms, count_terms = {}, 0
    end
    kept_terms[text], count_terms = of_text, count_terms + 1
  end
  return setmetatable({}, of_text)
end

local function write_terms(values)
  return cmsgpack.pack(
    TERMS_FORMAT,
    values.last_version,
    values.gen_start,
    values.gen_opened,
    values.gen_age,
    values.gen_looked,
    values.retention,
    values.version,
    values.money,
    values.next,
    values.next_money,
    values.currency,
    values.epoch,
    values.commitment,
    values.nonce,
    values.secret,
    values.history,
    values.gen,
    values.gen_version,
    values.tiers,
    values.next_tiers
  )
end

--
-- What entries change, in the field `meters` of a jackpot's state: one row for each tier that any definition has had.

local METERS_FORMAT = 1
local METERS_FIRST, METERS_WIDTH = 5, 11 -- place of the first row in the list; fields of a row
local METERS_FIELDS = {
  'name', -- Its tier.
  'pool', -- The value that a script last wrote to the pool.
  'reserve', -- Hidden pool that pays the next seed.
  'overflow', -- Contributions beyond the cap.
  'pool_micro', -- Fraction not yet in the pool, millionths.
  'reserve_micro', -- Fraction not yet in the reserve, millionths.
  'contributed', -- Sum of contributions, whole units.
  'contributed_micro', -- Its millionths.
  'funded', -- Paid in minus taken out by operators, signed.
  'paid', -- Paid to winners.
  'wins', -- Takes of all.
}

-- The list of a subject without rows.
local function new_meters()
  return { true, METERS_FORMAT, 0, 0 }
end

-- Unpacks the text into a list: `seq` at 3, `order` at 4, then the rows.
local function read_meters(text)
  local list = unpacked(text, METERS_FORMAT, 'meters')
  local is_whole = pcall(check_whole, list, 3, 4)
  must(is_whole and (#list - 4) % 11 == 0 or nil, 'JP_DAMAGED meters')
  return list
end

-- The row that begins at this place of the list. `what`: of the error if it is damaged.
local function meters_row(list, at, what)
  must(pcall(check_whole, list, at + 1, at + 10) or nil, what)
  return {
    name = list[at],
    pool = list[at + 1],
    reserve = list[at + 2],
    overflow = list[at + 3],
    pool_micro = list[at + 4],
    reserve_micro = list[at + 5],
    contributed = list[at + 6],
    contributed_micro = list[at + 7],
    funded = list[at + 8],
    paid = list[at + 9],
    wins = list[at + 10],
  }
end

local function write_meters(values, list)
  list[3] = values.seq
  list[4] = values.order
  return cmsgpack.pack(unpack(list, 2))
end
