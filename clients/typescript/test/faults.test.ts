/** A proxy breaks calls to a real service: the same id is sent again, and counts once. */

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { type Jackpot, NoAnswer, ProblemError, ServiceFault, Unavailable, UnexpectedAnswer } from "../src/index.js";
import { client, fresh, neverWins, problem, Proxy, refusalOf, type Fault } from "./support.js";

const operator = client("OPERATE");
let proxy: Proxy;
let game: Jackpot;

before(async () => {
  proxy = await Proxy.start();
  const retry = { deadlineMs: 10_000, firstWaitMs: 20, longestWaitMs: 100 };
  game = client("PLAY", { timeoutMs: 500, retry }, proxy.url);
});
beforeEach(() => {
  proxy.faults.length = proxy.seen.length = proxy.lost.length = 0;
});
after(() => proxy.close());

/** Entries that the service has counted: each adds 1, and nobody wins. */
async function counted(id: string): Promise<number> {
  return (await operator.getMeter(id)).meters[0]!.pool;
}

const BROKEN: [string, Fault][] = [
  ["cut", "cut"],
  ["dropped", "drop-reply"],
  ["held", "hold-reply"],
  ["503", problem(503, "store-unavailable", "1")],
  ["429", problem(429, "rate-limited", "1")],
];
for (const [name, fault] of BROKEN) {
  test(`a call that is broken (${name}) is repeated with its id and counts once`, async () => {
    const id = fresh("broken");
    await operator.defineJackpot(neverWins(id));
    proxy.faults.push(fault, fault);
    const began = performance.now();
    const entry = await game.enter(id, { player_id: "p7", stake: 100 });
    assert.deepEqual(
      proxy.seen.map((seen) => (JSON.parse(seen.body) as { entry_id: string }).entry_id),
      Array(3).fill(entry.entry_id),
    );
    assert.equal(new Set(proxy.seen.map((seen) => seen.body)).size, 1);
    assert.deepEqual([entry.sequence, await counted(id)], [1, 1]);
    if (fault === "drop-reply" || fault === "hold-reply") {
      assert.deepEqual(proxy.lost, [201, 200], "the service did it at the first try, and repeated its answer");
    }
    if (typeof fault === "object") {
      assert.ok(performance.now() - began >= 2_000, "Retry-After is obeyed");
    }
  });
}

test("a play is repeated until no jackpot is away", async () => {
  const id = fresh("play");
  await operator.defineJackpot(neverWins(id));
  const away: unknown = JSON.parse(problem(503, "store-unavailable").body!);
  const items = [{ jackpot_id: id, status: 503, problem: away }];
  const headers = { "Content-Type": "application/json" };
  proxy.faults.push("drop-reply", { status: 200, headers, body: JSON.stringify({ entry_id: "round-1", items }) });
  const play = await game.enterSeveral([id], { player_id: "p7", stake: 100, currency: "EUR" });
  assert.equal(new Set(proxy.seen.map((seen) => seen.body)).size, 1);
  assert.deepEqual([proxy.seen.length, play.items[0]!.status, proxy.lost], [3, 200, [200]]);
  assert.equal(await counted(id), 1);
});

test("other calls keep their ids too", async () => {
  const [id, coupon] = [fresh("others"), fresh("cup")];
  await operator.defineJackpot(neverWins(id));
  await operator.defineCoupon(coupon, { name: "A free coffee", stock: 5, per_user: 5 });
  const broken = client("OPERATE", {}, proxy.url);
  proxy.faults.push("drop-reply");
  assert.equal((await game.enterBatch(id, Array(10).fill({ player_id: "p7", stake: 1 }))).accepted, 10);
  proxy.faults.push("drop-reply");
  assert.equal((await game.issueCoupon(coupon, { user_id: "u-1" })).sequence, 1);
  proxy.faults.push("drop-reply");
  await broken.adjustJackpot(id, { tier: "grand", meter: "pool", amount: 5, reason: "opening" });
  assert.deepEqual([proxy.seen.length, proxy.lost], [6, [201, 201, 201]]);
  for (const n of [0, 2, 4]) {
    assert.equal(proxy.seen[n]!.body, proxy.seen[n + 1]!.body);
  }
  assert.deepEqual([await counted(id), (await operator.getCoupon(coupon)).issued], [15, 1]);
});

test("other answers are not repeated", async () => {
  const page = { "Content-Type": "text/html" };
  for (const [answer, kind] of [
    [problem(500, "internal", "1"), ServiceFault],
    [problem(429, "rate-limited"), ProblemError],
    [problem(408, "request-timeout"), ProblemError],
    [{ status: 502, headers: page, body: "<html>bad gateway" }, UnexpectedAnswer],
    [{ status: 504 }, UnexpectedAnswer],
    [{ status: 307, headers: { Location: `${proxy.url}/elsewhere` } }, UnexpectedAnswer],
    [{ status: 200, headers: page, body: "<html>log in" }, UnexpectedAnswer],
  ] as const) {
    proxy.seen.length = 0;
    proxy.faults.push(answer);
    await assert.rejects(game.enter("spring", { player_id: "p7", stake: 100 }), kind, String(answer.status));
    assert.equal(proxy.seen.length, 1, String(answer.status));
  }
});

test("a call without an id is sent once", async () => {
  const id = fresh("rotate");
  await operator.defineJackpot(neverWins(id));
  proxy.faults.push("drop-reply");
  await assert.rejects(client("OPERATE", {}, proxy.url).rotateEpoch(id, "check"), NoAnswer);
  assert.deepEqual([proxy.seen.length, (await operator.getFairness(id)).epochs.length], [1, 2]);
});

test("one deadline holds for all tries", async () => {
  const retry = { deadlineMs: 1_000, firstWaitMs: 50, longestWaitMs: 100 };
  const play = { player_id: "p7", stake: 100 };
  proxy.faults.push(...Array<Fault>(1_000).fill(problem(503, "store-unavailable")));
  let began = performance.now();
  const refused = await refusalOf(client("PLAY", { retry }, proxy.url).enter("spring", play));
  // The last try may have too little time left for the proxy's answer.
  assert.ok(refused instanceof Unavailable || refused instanceof NoAnswer, String(refused));
  assert.ok(performance.now() - began < 2_000 && refused.tries === proxy.seen.length && refused.tries > 5);
  proxy.faults.splice(0, Infinity, "hold-reply", "hold-reply");
  began = performance.now();
  const late = client("PLAY", { retry, timeoutMs: 30_000 }, proxy.url);
  await assert.rejects(late.enter("spring", play), NoAnswer);
  assert.ok(performance.now() - began < 2_000, "a try ends at the deadline, also when its own time-out is longer");
});

test("nobody there is no answer", async () => {
  const alone = client("PLAY", { retry: { deadlineMs: 300 } }, "http://127.0.0.1:1");
  const error = await refusalOf(alone.enter("spring", { player_id: "p7", stake: 100 }));
  assert.ok(error instanceof NoAnswer && error.tries > 1 && error.cause !== undefined);
});

test("two hundred entries through a bad network count two hundred", async () => {
  const id = fresh("storm");
  await operator.defineJackpot(neverWins(id));
  const kinds: Fault[] = ["cut", "drop-reply", { status: 503 }];
  proxy.faults.push(...Array.from({ length: 150 }, (_, n) => kinds[n % kinds.length]!));
  // Long beside what a busy machine needs: only the faults above may break a try.
  const retry = { deadlineMs: 240_000, firstWaitMs: 10, longestWaitMs: 100 };
  const storm = client("PLAY", { timeoutMs: 120_000, retry }, proxy.url);
  const plays = Array.from({ length: 200 }, (_, n) => storm.enter(id, { player_id: `p${n}`, stake: 100 }));
  const sequences = (await Promise.all(plays)).map((entry) => entry.sequence);
  assert.equal(new Set(sequences).size, 200);
  assert.deepEqual([await counted(id), proxy.seen.length], [200, 350]);
});
