// The draw of an entry and the trigger of a cycle, recomputed: docs/explanation/fairness.md. It shares no code with the
// service. Each function returns what it used, so that a page can show every step.
"use strict";

const JackpotDraw = (() => {
  const WORD_BYTES = 8;
  const WORDS = 2n ** 64n;

  const utf8 = (text) => new TextEncoder().encode(text);
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => Number.parseInt(pair, 16));

  const sha256 = async (seed) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(seed))));
  const keyOf = (seed) =>
    crypto.subtle.importKey("raw", bytes(seed), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

  // Words from here on are rejected: they would favour small numbers.
  const firstRejected = (total) => (WORDS / BigInt(total)) * BigInt(total);

  function message({ jackpot, entry, clientSeed }, attempt, block) {
    const text = `draw\n${jackpot}\n${entry}\n${attempt}\n${block}`;
    return clientSeed ? `${text}\n${clientSeed}` : text;
  }

  // The four words of a block: big-endian, in order.
  const wordsOf = (digest) =>
    [0, 1, 2, 3].map((index) => BigInt(`0x${digest.slice(2 * WORD_BYTES * index, 2 * WORD_BYTES * (index + 1))}`));

  // How many tickets each rank has, in ascending rank: from `from`, before `to`.
  function ranges({ ranks, per_stake: perStake }, stake) {
    const times = perStake ? Math.floor(stake / perStake) : 1;
    let to = 0;
    return [...ranks].sort((one, other) => one.rank - other.rank).map(({ rank, weight }) => {
      const from = to;
      to += weight * times;
      return { rank, from, to };
    });
  }

  // A number below `total`, uniform: the blocks of these messages, and the remainder of the first accepted word.
  async function uniform(key, total, messageOf) {
    const bound = firstRejected(total);
    const blocks = [];
    for (let block = 0; ; block += 1) {
      const text = messageOf(block);
      const hmac = hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8(text))));
      const words = wordsOf(hmac);
      const index = words.findIndex((word) => word < bound);
      blocks.push({ message: text, hmac, words: words.map(String), rejected: index < 0 ? words.length : index });
      if (index >= 0) {
        return {
          blocks,
          bound: String(bound),
          word: String(words[index]),
          wordHex: hmac.slice(2 * WORD_BYTES * index, 2 * WORD_BYTES * (index + 1)),
          // Below 2^53, as every total is.
          rest: Number(words[index] % BigInt(total)),
        };
      }
    }
  }

  // One attempt: its blocks, the first accepted word, the ticket, the rank (0: nothing).
  async function attempt(key, draw, number) {
    const { odds } = draw;
    const { rest: ticket, ...found } = await uniform(key, odds.total, (block) => message(draw, number, block));
    const row = ranges(odds, draw.stake).find(({ to }) => ticket < to);
    return { attempt: number, ...found, ticket, rank: row ? row.rank : 0 };
  }

  // The trigger of a cycle by `amount` or `time`: `first` and what is drawn below `count`.
  async function trigger(seed, kind, first, count) {
    const { rest, ...found } = await uniform(await keyOf(seed), count, (block) => `${kind}\n${block}`);
    return { kind, count, ...found, index: rest, trigger: first + rest };
  }

  // The triggers of a cycle, as /fairness shows it: the amount in minor units and the second since 1970, each where it has
  // one.
  async function triggers(cycle) {
    const all = {};
    if (cycle.high !== null) all.amount = await trigger(cycle.seed, "amount", cycle.low + 1, cycle.high - cycle.low);
    if (cycle.deadline_at !== null) {
      const from = Date.parse(cycle.from_at) / 1000;
      all.time = await trigger(cycle.seed, "time", from + 1, Date.parse(cycle.deadline_at) / 1000 - from);
    }
    return all;
  }

  // All attempts that the entry can come to: up to the first that draws nothing, or the last redraw.
  async function attempts(seed, draw) {
    const key = await keyOf(seed);
    const all = [];
    for (let number = 0; number <= draw.maxRedraws; number += 1) {
      all.push(await attempt(key, draw, number));
      if (all[number].rank === 0) break;
    }
    return all;
  }

  // Which attempt must have decided if the entry ended with this rank (0: no prize). All ranks before it were refused, and
  // a refused rank stays refused. `null`: the seed can't lead to it.
  function deciding(all, rank) {
    const refused = new Set();
    for (const one of all) {
      if (one.rank === rank && !refused.has(rank)) return { attempt: one.attempt, refused: [...refused] };
      refused.add(one.rank);
    }
    const spent = rank === 0 && all.length > 0 && all[all.length - 1].rank !== 0;
    return spent ? { attempt: all.length - 1, refused: [...refused], spent } : null;
  }

  return { sha256, keyOf, firstRejected, message, wordsOf, ranges, attempt, attempts, deciding, trigger, triggers };
})();
