/** A thousand draws of the service, recomputed from the seed that it published. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { checkDraw } from "../src/fairness.js";
import { SeedNotPublished, type Entry, type Schemas } from "../src/index.js";
import { all, client, eventually, fresh, POOL, wheel } from "./support.js";

const DRAWS = 1_000;
const CONCURRENT = 16;
// More than the coupon's stock, so that some get none and some ask for a second one.
const PLAYERS = 40;

/** Every second player brings a seed. */
function seed(n: number): string | null {
  return n % 2 === 1 ? `mine-${n}` : null;
}

test("a thousand draws follow from the published seed", async () => {
  const [id, coupon] = [fresh("draws"), fresh("cup")];
  const [operator, game] = [client("OPERATE"), client("PLAY")];
  await operator.defineCoupon(coupon, { name: "A free coffee", stock: 20, per_user: 1 });
  const ranks = [
    { rank: 1, weight: 100, prize: POOL },
    { rank: 2, weight: 100, prize: { coupon: { coupon_id: coupon } } },
    { rank: 3, weight: 200, prize: { fixed: { tier: "grand", amount: 2 } } },
  ];
  await operator.defineJackpot(wheel(id, { odds: { total: 1_000, ranks }, max_redraws: 3 }));
  const numbers = Array.from({ length: DRAWS }, (_, n) => n);
  const entries = await all(numbers, CONCURRENT, (n): Promise<Entry> => {
    return game.enter(id, { entry_id: `e-${n}`, player_id: `p${n % PLAYERS}`, stake: 1, client_seed: seed(n) });
  });
  await assert.rejects(operator.checkDraw(id, "e-0"), SeedNotPublished);
  await operator.rotateEpoch(id, "check");
  const epoch = await eventually("the seed is published", async (): Promise<Schemas["EpochBody"] | undefined> => {
    const first = (await operator.getFairness(id)).epochs[0];
    return typeof first?.seed === "string" ? first : undefined;
  });
  const definition = await operator.getDefinition(id, 1);
  for (const [n, entry] of entries.entries()) {
    await checkDraw(entry, definition, epoch, seed(n));
  }
  const results = new Set(entries.flatMap((entry) => entry.draw.attempts.map((attempt) => attempt.result)));
  for (const result of ["paid", "issued", "none", "retry", "out-of-stock", "already-issued"] as const) {
    assert.ok(results.has(result), `${result} is not among ${[...results].join(", ")}`);
  }
  // Under another client seed many an outcome would be the same by chance.
  const others = await Promise.allSettled(entries.map((entry) => checkDraw(entry, definition, epoch, "another")));
  assert.ok(others.filter((other) => other.status === "rejected").length > DRAWS / 4);
  assert.deepEqual(await operator.checkDraw(id, "e-1", { clientSeed: seed(1) }), entries[1]);
});
