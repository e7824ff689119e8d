/** The client against a real service: each call, and each family of errors that a service can be brought to answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as client from "../src/index.js";
import { Jackpot } from "../src/index.js";
import * as support from "./support.js";
import { alwaysWins, eventually, fresh, neverWins, Redis, refusalOf, setting, wheel } from "./support.js";

const operator = support.client("OPERATE");
const game = support.client("PLAY");
const auditor = support.client("READ");

const ROOM = { capacity: 1, session_s: 60, waiting_timeout_s: 60 };

async function pool(id: string): Promise<number> {
  return (await game.getMeter(id)).meters[0]!.pool;
}

/** The call is refused with this class and code. */
async function refused<E extends client.ProblemError>(
  call: Promise<unknown>,
  kind: new (...parts: never[]) => E,
  code: string,
): Promise<E> {
  const error = await refusalOf(call);
  assert.ok(error instanceof kind, String(error));
  assert.equal(error.code, code);
  return error;
}

test("an entry is made once and read", async () => {
  const id = fresh("spring");
  const jackpot = await operator.defineJackpot(neverWins(id));
  assert.deepEqual([jackpot.id, jackpot.status, jackpot.version], [id, "open", 1]);
  const wish = { entry_id: "round-1", player_id: "p7", stake: 100 };
  const entry = await game.enter(id, wish);
  assert.deepEqual([entry.entry_id, entry.sequence, entry.outcome.prize], ["round-1", 1, "none"]);
  assert.deepEqual(await game.enter(id, wish), entry);
  assert.deepEqual(await game.getEntry(id, "round-1"), entry);
  assert.equal(await pool(id), 1);
  const withoutId = await game.enter(id, { player_id: "p7", stake: 100 });
  assert.deepEqual(await game.getEntry(id, withoutId.entry_id), withoutId);
  assert.equal(await pool(id), 2);
});

test("a cancelled round is taken back once", async () => {
  const id = fresh("cancelled");
  await operator.defineJackpot(neverWins(id));
  await game.enter(id, { entry_id: "round-1", player_id: "p7", stake: 100 });
  await game.enter(id, { entry_id: "round-2", player_id: "p7", stake: 100 });
  const wish = { reversal_id: "cancel-1", reason: "round cancelled" };
  const done = await game.reverseEntry(id, "round-1", wish);
  const part = { tier: "grand", amount: 1, amount_micro: 0, uncovered: 0, uncovered_micro: 0 };
  assert.deepEqual(done, { reversal_id: "cancel-1", entry_id: "round-1", reversed: [part] });
  assert.deepEqual(await game.reverseEntry(id, "round-1", wish), done);
  assert.equal(await pool(id), 1);
  const again = { reason: "round cancelled" };
  await refused(game.reverseEntry(id, "round-1", again), client.Conflict, "entry-reversed");
  await refused(game.reverseEntry(id, "round-3", again), client.NotFound, "entry-not-found");
});

test("all money of a tier is transferred once", async () => {
  const [old, next] = [fresh("old"), fresh("new")];
  for (const id of [old, next]) {
    await operator.defineJackpot(neverWins(id));
  }
  for (let number = 0; number < 3; number += 1) {
    await game.enter(old, { entry_id: `round-${number}`, player_id: "p7", stake: 100 });
  }
  const wish = { transfer_id: "t-1", to: next, tiers: { grand: "grand" }, reason: "end of season" };
  await refused(operator.transferJackpot(old, wish), client.Conflict, "jackpot-open");
  await operator.pauseJackpot(old, "end of season");
  const done = await operator.transferJackpot(old, wish);
  const part = { tier: "grand", to_tier: "grand", pool: 3, reserve: 0, overflow: 0, remainder_micro: 0 };
  assert.deepEqual(done, { transfer_id: "t-1", jackpot_id: old, to: next, tiers: [part], state: done.state });
  await eventually("the money is received", async () => (await pool(next)) === 3 || undefined);
  assert.equal(await pool(old), 0);
  const states = async () => (await operator.listTransfers(old)).items.map((row) => row.state);
  await eventually("it is listed", async () => (await states()).join() === "done" || undefined);
  assert.deepEqual((await operator.transferJackpot(old, wish)).tiers, [part]);
  assert.equal(await pool(next), 3);
  await refused(operator.transferJackpot(old, { ...wish, reason: "another" }), client.IdReused, "transfer-id-reused");
  await operator.transferJackpot(old, { ...wish, transfer_id: "t-2" });
  await eventually("both are listed, page by page", async () => {
    const first = await operator.listTransfers(old, { limit: 1 });
    if (first.next_cursor === null) {
      return undefined;
    }
    const rest = await operator.listTransfers(old, { limit: 1, cursor: first.next_cursor });
    assert.deepEqual([...first.items, ...rest.items].map((row) => row.transfer_id), ["t-1", "t-2"]);
    return true;
  });
  await refused(game.transferJackpot(old, wish), client.Forbidden, "forbidden");
});

test("a day is reported", async () => {
  const id = fresh("reported");
  await operator.defineJackpot(neverWins(id));
  const today = () => new Date().toISOString().slice(0, 10);
  const date = today();
  for (const number of [1, 2, 3]) {
    await game.enter(id, { entry_id: `round-${number}`, player_id: "p7", stake: 100 });
  }
  const report = await auditor.getDailyReport(date, id);
  if (today() !== date) {
    return; // the entries may be of two days
  }
  const shown = report.rows.map((row) => [row.row, row.contributed]);
  const expected = [
    ["tier", 3],
    ["source", 3],
  ];
  assert.deepEqual(shown, expected);
  assert.deepEqual([report.date, report.complete], [date, false]);
  await refused(game.getDailyReport(date), client.Forbidden, "forbidden");
});

test("a play feeds several jackpots", async () => {
  const ids = [fresh("mini"), fresh("network")] as const;
  for (const id of ids) {
    await operator.defineJackpot(neverWins(id));
  }
  await operator.pauseJackpot(ids[1], "prices change");
  const wish = { entry_id: "round-1", player_id: "p7", stake: 100, currency: "EUR", client_seed: "mine" };
  const first = await game.enterSeveral([...ids], wish);
  const shown = first.items.map((item) => [item.jackpot_id, item.status, item.problem?.code]);
  assert.deepEqual(shown, [
    [ids[0], 201, undefined],
    [ids[1], 409, "jackpot-paused"],
  ]);
  await operator.resumeJackpot(ids[1], "done");
  const again = await game.enterSeveral([...ids], wish);
  assert.deepEqual(again.items.map((item) => item.status), [200, 201]);
  for (const item of again.items) {
    assert.deepEqual(item.entry, await game.getEntry(item.jackpot_id, "round-1"));
  }
  const other = await game.enterSeveral([ids[0]], { player_id: "p7", stake: 100, currency: "KRW" });
  assert.equal(other.items[0]!.problem?.code, "currency-mismatch");
  assert.deepEqual([await pool(ids[0]), await pool(ids[1])], [1, 1]);
  await refused(game.enterSeveral([ids[0], ids[0]], wish), client.InvalidRequest, "invalid-request");
});

test("a player reads the rules", async () => {
  const id = fresh("told");
  await operator.defineJackpot(neverWins(id, { min_stake: 50, max_stake: 50 }));
  const rules = await game.getRules(id);
  assert.deepEqual([rules.jackpot_id, rules.version, rules.tiers[0]!.tier], [id, 1, "grand"]);
  assert.deepEqual(rules.expected_return_ppm, { pool: 20_000, fixed: 0 });
  assert.ok(rules.fairness.includes(id) && rules.redraws.includes("drawn again"));
});

test("a batch is its entries", async () => {
  const id = fresh("batch");
  await operator.defineJackpot(alwaysWins(id));
  const entries = [0, 1, 2].map((n) => ({ player_id: `p${n}`, stake: 1 }));
  const batch = await game.enterBatch(id, entries, { batchId: "b-1" });
  const winners = batch.winners.map((winner) => winner.entry_id);
  assert.deepEqual([batch.accepted, winners], [3, ["b-1:1", "b-1:2", "b-1:3"]]);
  assert.deepEqual((await game.getEntry(id, "b-1:2")).outcome, batch.winners[1]!.outcome);
  const rows = await eventually("the index has the entry", async () => {
    const { items } = await auditor.listEntries("p2", { jackpot_id: id });
    return items.length > 0 ? items : undefined;
  });
  assert.equal(rows[0]!.entry_id, "b-1:3");
});

test("a definition changes only from the version that was read", async () => {
  const id = fresh("change");
  await operator.defineJackpot(neverWins(id));
  const { version } = await operator.getJackpot(id);
  const changed = await operator.defineJackpot(neverWins(id, { name: "Other" }), { ifVersion: version });
  assert.deepEqual([changed.name, changed.version], ["Other", 2]);
  assert.equal((await operator.getDefinition(id, 1)).name, "Wheel");
  const again = operator.defineJackpot(neverWins(id), { ifVersion: version });
  await refused(again, client.Conflict, "precondition-failed");
});

test("a receipt is verified and a forged one is not", async () => {
  const id = fresh("receipts");
  await operator.defineJackpot(alwaysWins(id));
  const { outcome } = await game.enter(id, { entry_id: "round-1", player_id: "p7", stake: 100 });
  const receipt = await auditor.getReceipt(outcome.payout_id!, { waitMs: 20_000 });
  assert.deepEqual([receipt.amount, receipt.entry_id, receipt.player_id], [1, "round-1", "p7"]);
  assert.deepEqual((await auditor.listPayouts({ jackpot_id: id })).items, [receipt]);
  assert.deepEqual(await auditor.verifyReceipt(receipt), receipt);
  await assert.rejects(auditor.verifyReceipt({ ...receipt, amount: 1_000_000 }), client.VerificationError);
  await assert.rejects(auditor.verifyReceipt({ ...receipt, player_id: "p8" }), client.VerificationError);
  assert.equal((await auditor.getLedgerHead(id)).jackpot_id, id);
  const missing = auditor.getReceipt("00".repeat(16), { waitMs: 200 });
  await refused(missing, client.NotFound, "payout-not-found");
  const kept = support.client("READ", { trustedKeys: await operator.getKeys() });
  assert.deepEqual(await kept.getReceipt(receipt.payout_id), receipt);
  const strict = support.client("READ", { trustedKeys: { keys: [] } });
  await assert.rejects(strict.getReceipt(receipt.payout_id), client.VerificationError);
});

test("lists come in pages", async () => {
  const id = fresh("pages");
  await operator.defineJackpot(alwaysWins(id));
  await game.enterBatch(id, Array(5).fill({ player_id: "p", stake: 1 }));
  await eventually("the ledger has all payouts", async () => {
    return (await auditor.listPayouts({ jackpot_id: id })).items.length === 5 || undefined;
  });
  const orders: number[] = [];
  let cursor: string | null = null;
  do {
    const page: client.Page<client.Receipt> = await auditor.listPayouts({ jackpot_id: id, limit: 2, ...(cursor && { cursor }) });
    orders.push(...page.items.map((receipt) => receipt.claim_order));
    cursor = page.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(orders, [5, 4, 3, 2, 1]);
});

test("coupons are issued once, refused and voided", async () => {
  const id = fresh("coffee");
  assert.equal((await operator.defineCoupon(id, { name: "A free coffee", stock: 1, per_user: 1 })).remaining, 1);
  const issued = await game.issueCoupon(id, { user_id: "u-1", request_id: "r-1" });
  assert.equal(issued.result, "issued");
  assert.deepEqual(await game.issueCoupon(id, { user_id: "u-1", request_id: "r-1" }), issued);
  const again = game.issueCoupon(id, { user_id: "u-1", request_id: "r-2" });
  const twice = await refused(again, client.CouponRefused, "already-issued");
  assert.equal((twice.document["issue"] as client.Schemas["IssueBody"]).request_id, "r-1");
  await refused(game.issueCoupon(id, { user_id: "u-3", request_id: "r-3" }), client.CouponRefused, "out-of-stock");
  assert.equal((await game.getIssue(id, "r-3")).result, "out-of-stock");
  assert.equal((await operator.voidIssue(id, "r-1")).result, "voided");
  const queued = await game.issueCoupon(id, { user_id: "u-4", request_id: "r-4" }, { queue: true });
  assert.ok(["queued", "issued"].includes(queued.result));
  await eventually("the queue serves the request", async () => {
    return (await game.getIssue(id, "r-4")).result === "issued" || undefined;
  });
  assert.equal((await operator.getCoupon(id)).issued, 2);
});

test("a room gives passes that can be checked", async () => {
  const [room, id] = [fresh("lobby"), fresh("vip")];
  await operator.defineRoom(room, ROOM as client.Schemas["RoomDefinition"]);
  await operator.defineJackpot(neverWins(id, { room }));
  const [ann, bob] = [await game.joinRoom(room, "ann"), await game.joinRoom(room, "bob")];
  assert.deepEqual([ann.status, bob.status, bob.position], ["admitted", "waiting", 1]);
  assert.equal((await game.checkPass(room, "ann", ann.pass!)).ticket, ann.ticket);
  await assert.rejects(game.checkPass(room, "bob", ann.pass!), client.VerificationError);
  const entered = await game.enter(id, { player_id: "ann", stake: 1 }, { roomPass: ann.pass! });
  assert.equal(entered.sequence, 1);
  for (const options of [{}, { roomPass: ann.pass! }]) {
    await refused(game.enter(id, { player_id: "bob", stake: 1 }, options), client.PassRefused, "pass-required");
  }
  await refused(game.renewTicket(room, bob.ticket), client.Conflict, "not-admitted");
  assert.equal((await game.renewTicket(room, ann.ticket)).status, "admitted");
  assert.equal((await game.leaveRoom(room, ann.ticket)).status, "left");
  await eventually("the next user is admitted", async () => {
    return (await game.getTicket(room, bob.ticket)).status === "admitted" || undefined;
  });
  assert.equal((await operator.getRoom(room)).admitted, 2);
  assert.equal((await new Jackpot(setting("JACKPOT_TEST_URL")).getRoomStatus(room)).capacity, 1);
});

test("a join token opens the waiting page", async () => {
  const room = fresh("page");
  const definition = { ...ROOM, return_origins: ["https://shop.example"] };
  await operator.defineRoom(room, definition as client.Schemas["RoomDefinition"]);
  const token = await game.createJoinToken(room, "ann", "https://shop.example/play");
  assert.equal(token.url, `/rooms/${room}/wait?token=${token.token}`);
});

test("a stopped jackpot says so", async () => {
  const id = fresh("stop");
  await operator.defineJackpot(neverWins(id));
  assert.equal((await operator.pauseJackpot(id, "prices change")).status, "paused");
  const play = { player_id: "p7", stake: 1 };
  const paused = await refused(game.enter(id, play), client.SubjectStopped, "jackpot-paused");
  assert.match(paused.detail, /prices change/);
  assert.equal((await operator.resumeJackpot(id, "done")).status, "open");
  const opening = { tier: "grand", meter: "pool", amount: 500, reason: "opening" } as const;
  assert.equal((await operator.adjustJackpot(id, opening)).amount, 500);
  assert.equal(await pool(id), 500);
  const move = { tier: "grand", from: "pool", to: "reserve", amount: 100, reason: "next seed" } as const;
  await operator.adjustJackpot(id, move);
  assert.equal(await pool(id), 400);
  assert.equal((await operator.closeJackpot(id, "season over")).status, "closed");
  await refused(game.enter(id, play), client.SubjectStopped, "jackpot-closed");
});

test("a jackpot whose pool was changed by hand is suspended", async () => {
  const id = fresh("hand");
  await operator.defineJackpot(neverWins(id));
  const entry = await game.enter(id, { entry_id: "round-1", player_id: "p7", stake: 1 });
  await new Redis().set(`jp:{${id}}:pool:grand`, 1_000_000);
  const next = game.enter(id, { entry_id: "round-2", player_id: "p7", stake: 1 });
  const suspended = await refused(next, client.SubjectSuspended, "jackpot-suspended");
  assert.equal(suspended.tries, 1);
  assert.deepEqual(await game.enter(id, { entry_id: "round-1", player_id: "p7", stake: 1 }), entry);
});

test("each refusal has its class", async () => {
  const id = fresh("refusals");
  await operator.defineJackpot(neverWins(id));
  const bad = game.enter(id, { entry_id: "*", player_id: "*", stake: -1 });
  const wrong = await refused(bad, client.InvalidRequest, "invalid-request");
  assert.deepEqual(wrong.fields.map((field) => field.field).toSorted(), ["entry_id", "player_id", "stake"]);
  assert.ok(wrong.requestId !== null && wrong.tries === 1);
  const misspelt = { ...neverWins(id), min_payuot: 1 } as client.Schemas["JackpotDefinition"];
  const unknown = await refused(operator.defineJackpot(misspelt), client.InvalidRequest, "invalid-request");
  assert.equal(unknown.fields[0]!.field, "min_payuot");
  await game.enter(id, { entry_id: "round-1", player_id: "p7", stake: 1 });
  const reused = game.enter(id, { entry_id: "round-1", player_id: "p8", stake: 1 });
  await refused(reused, client.IdReused, "entry-id-reused");
  await refused(game.enter(fresh("none"), { player_id: "p", stake: 1 }), client.NotFound, "jackpot-not-found");
  await refused(game.defineJackpot(neverWins(id)), client.Forbidden, "forbidden");
  for (const options of [{}, { key: "no-key-of-ours" }]) {
    const stranger = new Jackpot(setting("JACKPOT_TEST_URL"), options);
    await refused(stranger.enter(id, { player_id: "p", stake: 1 }), client.Unauthorized, "unauthorized");
  }
});

test("a user who comes and goes is limited", async () => {
  const room = fresh("busy");
  await operator.defineRoom(room, ROOM as client.Schemas["RoomDefinition"]);
  const once = support.client("PLAY", { retry: null });
  const comeAndGo = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1) {
      await once.leaveRoom(room, (await once.joinRoom(room, "ann")).ticket);
    }
  };
  const limited = await refused(comeAndGo(), client.RateLimited, "rate-limited");
  assert.ok(limited.status === 429 && limited.retryAfter! >= 1 && limited.retryAfter! <= 10);
});

test("a frozen store is unavailable, and the entry counts once when it is back", async () => {
  const id = fresh("frozen");
  await operator.defineJackpot(neverWins(id));
  await game.enter(id, { entry_id: "round-0", player_id: "p7", stake: 1 });
  const patient = support.client("PLAY", { timeoutMs: 20_000, retry: { deadlineMs: 40_000, longestWaitMs: 500 } });
  const hasty = support.client("PLAY", { timeoutMs: 20_000, retry: null });
  let waiting: Promise<client.Entry> | undefined;
  await new Redis().frozen(async () => {
    waiting = patient.enter(id, { entry_id: "round-1", player_id: "p7", stake: 1 });
    const call = hasty.enter(id, { entry_id: "round-2", player_id: "p7", stake: 1 });
    const error = await refused(call, client.Unavailable, "store-unavailable");
    assert.equal(error.retryAfter, 1);
  });
  assert.equal((await waiting)!.entry_id, "round-1");
  await game.enter(id, { entry_id: "round-2", player_id: "p7", stake: 1 });
  assert.equal(await pool(id), 3);
});

test("no key is needed for what is public", async () => {
  const id = fresh("public");
  await operator.defineJackpot(wheel(id));
  const player = new Jackpot(setting("JACKPOT_TEST_URL"));
  assert.equal((await player.getMeter(id)).meters[0]!.pool, 0);
  assert.equal((await player.getFairness(id)).epochs[0]!.seed ?? null, null);
  assert.equal((await player.getDefinition(id, 1)).odds.total, 100);
  assert.ok((await player.getKeys()).keys.length > 0);
});

test("any other call has the types of the description", async () => {
  const health = await new Jackpot(setting("JACKPOT_TEST_URL")).call("get", "/healthz", {});
  assert.equal(health.status, "ok");
  const rows = await operator.call("get", "/v1/audit", { query: { limit: 1 } });
  assert.ok(rows.items.length <= 1);
});
