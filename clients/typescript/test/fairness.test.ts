/** Draws against the published vectors, and forged draws, without a service. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { fromHex } from "../src/bytes.js";
import { checkDraw, rankOf, readSeed, ticket } from "../src/fairness.js";
import { SeedNotPublished, VerificationError, type Entry, type Schemas } from "../src/index.js";
import { POOL } from "./support.js";

const SEED = "4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3";
const COMMITMENT = "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258";
const EPOCH: Schemas["EpochBody"] = {
  epoch: 1,
  nonce: "00112233445566778899aabbccddeeff",
  secret_id: "abc44bcf0634a438",
  commitment: COMMITMENT,
  opened_at: "2026-11-21T06:00:00.123Z",
  seed: SEED,
};
// entry-1 draws 716135, 277424 and 702353: rank 2, rank 1, rank 2.
const DEFINITION = {
  id: "spring",
  version: 3,
  odds: {
    total: 1_000_000,
    ranks: [
      { rank: 2, weight: 450_000, prize: POOL },
      { rank: 1, weight: 300_000, prize: POOL },
    ],
  },
  max_redraws: 2,
} as Schemas["DefinitionOfVersion"];

type Attempt = [rank: number, result: Schemas["AttemptBody"]["result"]];

function entry(rank: number, ...attempts: Attempt[]): Entry {
  const drawn = attempts.map(([rank, result], attempt) => ({ attempt, rank, result }));
  return {
    entry_id: "entry-1",
    jackpot_id: "spring",
    player_id: "p7",
    sequence: 1,
    contributions: [],
    outcome: { rank, prize: rank > 0 ? "pool" : "none" },
    draw: { epoch: 1, commitment: COMMITMENT, definition_version: 3, by: "service", attempts: drawn },
  };
}

function refusal(reason: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof VerificationError && reason.test(error.message);
}

test("tickets are the published vectors", async () => {
  const seed = await readSeed(fromHex(SEED));
  for (const [entryId, expected] of [
    ["entry-1", [716135, 277424, 702353]],
    ["round-8812-p7", [243771, 232156, 657822]],
    ["b1:17", [34818, 668171, 638355]],
  ] as const) {
    for (const [attempt, number] of expected.entries()) {
      assert.equal(await ticket(seed, { jackpotId: "spring", entryId, attempt }, 1_000_000), number);
    }
  }
});

test("every total is drawn below", async () => {
  const seed = await readSeed(fromHex(SEED));
  for (const total of [1, 2, 3, 2 ** 32 - 1, 2 ** 32]) {
    for (let n = 0; n < 50; n += 1) {
      assert.ok((await ticket(seed, { jackpotId: "spring", entryId: `e${n}`, attempt: 0 }, total)) < total);
    }
  }
});

test("words beyond the last whole run are rejected", async () => {
  // Such a total is beyond what the service allows. It rejects every second word, and so some whole blocks of four.
  const seed = await readSeed(fromHex(SEED));
  const total = 2 ** 63 + 2 ** 12;
  const rejected: number[] = [];
  for (let n = 0; n < 200; n += 1) {
    const words = Array.from({ length: 9 }, (_, block) => {
      const message = `draw\nspring\ne${n}\n0\n${block}`;
      return createHmac("sha256", Buffer.from(SEED, "hex")).update(message).digest();
    }).flatMap((digest) => [0, 8, 16, 24].map((place) => digest.readBigUInt64BE(place)));
    const first = words.findIndex((word) => word < BigInt(total));
    const drawn = await ticket(seed, { jackpotId: "spring", entryId: `e${n}`, attempt: 0 }, total);
    assert.equal(drawn, Number(words[first]));
    rejected.push(first);
  }
  assert.ok(Math.min(...rejected) === 0 && Math.max(...rejected) >= 4);
});

test("ranks are walked in ascending order", () => {
  const ranks = [
    { rank: 5, weight: 2, prize: POOL },
    { rank: 1, weight: 3, prize: POOL },
    { rank: 2, weight: 0, prize: POOL },
  ];
  const drawn = Array.from({ length: 10 }, (_, number) => rankOf(number, { total: 10, ranks }));
  assert.deepEqual(drawn, [1, 1, 1, 5, 5, 0, 0, 0, 0, 0]);
});

test("odds by stake count as often as the stake holds them", () => {
  const ranks = [
    { rank: 2, weight: 3, prize: POOL },
    { rank: 1, weight: 1, prize: POOL },
  ];
  const odds = { total: 10, per_stake: 50, ranks };
  const drawn = (stake: number) => Array.from({ length: 10 }, (_, number) => rankOf(number, odds, stake));
  assert.deepEqual(drawn(49), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(drawn(99), [1, 2, 2, 2, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(drawn(100), [1, 1, 2, 2, 2, 2, 2, 2, 0, 0]);
  assert.throws(() => rankOf(0, odds), refusal(/give the stake/));
});

test("the stake takes part where the odds are by stake", async () => {
  // Half the weights count twice from a stake of 20 on: the draws of the table above.
  const ranks = [
    { rank: 2, weight: 225_000, prize: POOL },
    { rank: 1, weight: 150_000, prize: POOL },
  ];
  const byStake = { ...DEFINITION, odds: { total: 1_000_000, per_stake: 10, ranks } };
  const right = entry(1, [2, "retry"], [1, "paid"]);
  await checkDraw(right, byStake, EPOCH, null, 29);
  for (const stake of [9, 10, 19]) {
    await assert.rejects(checkDraw(right, byStake, EPOCH, null, stake), refusal(/draws rank/));
  }
});

test("right draws are right", async () => {
  await checkDraw(entry(2, [2, "paid"]), DEFINITION, EPOCH);
  await checkDraw(entry(1, [2, "retry"], [1, "paid"]), DEFINITION, EPOCH);
  await checkDraw(entry(0, [2, "retry"], [1, "out-of-stock"], [2, "retry"]), DEFINITION, EPOCH);
});

test("a forged draw is named", async () => {
  for (const [forged, reason] of [
    [entry(1, [1, "paid"]), /draws rank 2/],
    [entry(0, [0, "none"]), /draws rank 2/],
    [entry(1, [2, "paid"]), /not the outcome/],
    [entry(0, [2, "none"]), /can't end as none/],
    [entry(0, [2, "retry"]), /before its last redraw/],
    [entry(1, [2, "retry"], [1, "retry"], [2, "retry"]), /before its last redraw/],
    [entry(2, [2, "retry"], [1, "retry"], [2, "paid"]), /can't end as paid/],
    [entry(0, [2, "retry"], [1, "retry"], [2, "not-open"]), /for another reason/],
    [entry(1, [2, "retry"], [1, "retry"], [2, "retry"], [1, "paid"]), /one too many/],
    [entry(2, [2, "paid"], [1, "paid"]), /not the outcome/],
    [entry(2), /before its last redraw/],
  ] as const) {
    await assert.rejects(checkDraw(forged, DEFINITION, EPOCH), refusal(reason), String(reason));
  }
});

test("a draw belongs to its seed, definition and entry", async () => {
  const right = entry(2, [2, "paid"]);
  for (const [document, definition, epoch, clientSeed, reason] of [
    [{ ...right, entry_id: "round-8812-p7" }, DEFINITION, EPOCH, null, /draws rank 1/],
    [right, { ...DEFINITION, version: 4 }, EPOCH, null, /another definition/],
    [right, { ...DEFINITION, id: "autumn" }, EPOCH, null, /another definition/],
    [right, DEFINITION, { ...EPOCH, epoch: 2 }, null, /another epoch/],
    [right, DEFINITION, { ...EPOCH, commitment: "00".repeat(32) }, null, /another epoch/],
    [right, DEFINITION, { ...EPOCH, seed: "00".repeat(32) }, null, /not the one of the commitment/],
    [right, DEFINITION, { ...EPOCH, seed: "no seed" }, null, /not hexadecimal/],
    [right, DEFINITION, EPOCH, "mine", /draws rank/],
  ] as const) {
    await assert.rejects(checkDraw(document, definition, epoch, clientSeed), refusal(reason), String(reason));
  }
});

test("a draw that no odds made is no draw of the service", async () => {
  const { draw } = entry(0);
  const must_hit = { tier: "grand", cycle: 4, by: "amount" as const, trigger: 7071 };
  const hit = { ...entry(0), draw: { ...draw, must_hit } };
  await assert.rejects(checkDraw(hit, DEFINITION, EPOCH), refusal(/hit cycle 4/));
  const external = { ...entry(2, [2, "paid"]), draw: { ...draw, by: "external" } } as Entry;
  await assert.rejects(checkDraw(external, DEFINITION, EPOCH), refusal(/made by external/));
});

test("an open epoch can be checked later", async () => {
  const open = { ...EPOCH, seed: null };
  await assert.rejects(checkDraw(entry(2, [2, "paid"]), DEFINITION, open), SeedNotPublished);
});
