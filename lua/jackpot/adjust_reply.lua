-- Generated from crates/jackpot/src/scripts/adjust.rs. Change that file, then run `UPDATE_DOCS=1 cargo nextest run
-- --test it docs::`.

-- The adjustment is done, by this call (`ok`) or an earlier one (`same`), or waits (`held`, `waits`), or was withdrawn.
local function adjusted_reply(code, mark_text, values)
  return {
    code,
    mark_text,
    values.at_ms,
  }
end

-- `below-zero`: the meter holds less than the adjustment takes.
local function below_reply(mark_text, values)
  return {
    'below-zero',
    mark_text,
    values.held,
  }
end

-- `above-cap`: the pool would pass its cap.
local function above_reply(mark_text, values)
  return {
    'above-cap',
    mark_text,
    values.cap,
  }
end
