/** Errors and repeats, without a service: a world in which the test answers, and time passes as it says. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Caller, type World } from "../src/caller.js";
import { FAMILIES, problem } from "../src/errors.js";
import * as errors from "../src/errors.js";
import { Jackpot } from "../src/index.js";
import { DEFAULT_RETRY, waitMs, type Retry } from "../src/retry.js";
import { DESCRIPTION, refusalOf } from "./support.js";

type Reply = Response | Error;

const REQUEST = { method: "POST", target: "/v1/x", headers: new Headers(), body: '{"entry_id":"e"}', repeatable: true };

/** Each reply once, the last one for ever. Each try takes `tryMs`. */
class Play implements World {
  time = 0;
  readonly waits: number[] = [];
  readonly sent: { body: unknown; at: number }[] = [];

  constructor(
    private readonly replies: (() => Reply)[],
    private readonly luck = 1,
    private readonly tryMs = 0,
  ) {}

  readonly now = (): number => this.time;
  readonly chance = (): number => this.luck;
  readonly sleep = (ms: number): Promise<void> => {
    this.waits.push(ms);
    this.time += ms;
    return Promise.resolve();
  };
  readonly fetch: typeof fetch = (_, init) => {
    this.sent.push({ body: init?.body, at: this.time });
    this.time += this.tryMs;
    const reply = this.replies[Math.min(this.sent.length, this.replies.length) - 1]!();
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  };

  ask(retry: Retry | null = DEFAULT_RETRY, repeatable = true): Promise<unknown> {
    return new Caller("http://x", 10_000, retry, this).ask({ ...REQUEST, repeatable });
  }
}

const lost = (): Reply => new TypeError("fetch failed");
const done = (): Reply => Response.json({ done: true });
const canned = (status: number, body: string | null, headers: Record<string, string> = {}) => (): Reply =>
  new Response(body, { status, headers });
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  canned(status, JSON.stringify({ code, detail: "d", errors: [] }), headers);

test("each code of the description has a family", () => {
  assert.deepEqual(Object.keys(FAMILIES).sort(), DESCRIPTION.components.schemas.ProblemCode.enum.toSorted());
});

test("a problem says what the service said", () => {
  const document = {
    code: "invalid-request",
    title: "The request has wrong content",
    detail: "stake: must be 0 to 5",
    errors: [{ field: "stake", message: "must be 0 to 5" }],
  };
  const error = problem({ status: 422, retryAfter: null, requestId: "r-1" }, document);
  assert.ok(error instanceof errors.InvalidRequest && error instanceof errors.JackpotError);
  assert.deepEqual([error.code, error.status, error.detail], ["invalid-request", 422, "stake: must be 0 to 5"]);
  assert.deepEqual(error.fields, document.errors);
  assert.deepEqual([error.requestId, error.retryAfter, error.name], ["r-1", null, "InvalidRequest"]);
});

test("a code of a later service has the family of its status", () => {
  for (const [status, family] of [
    [409, errors.Conflict],
    [412, errors.Conflict],
    [418, errors.InvalidRequest],
    [429, errors.RateLimited],
    [500, errors.ServiceFault],
    [503, errors.Unavailable],
  ] as const) {
    const error = problem({ status, retryAfter: null, requestId: null }, { code: "of-tomorrow" });
    assert.equal(error.constructor, family, String(status));
  }
  const odd = problem({ status: 404, retryAfter: null, requestId: null }, { code: "constructor" });
  assert.equal(odd.constructor, errors.NotFound);
});

test("a repeat has the same body", async () => {
  const replies = [lost, refusal(503, "store-unavailable"), refusal(429, "rate-limited", { "Retry-After": "1" }), done];
  const play = new Play(replies);
  assert.deepEqual(await play.ask(), { done: true });
  assert.deepEqual(
    play.sent.map((sent) => sent.body),
    Array(4).fill(REQUEST.body),
  );
});

test("waits double up to the longest and are cut by chance", async () => {
  const retry = { deadlineMs: 1_000_000, firstWaitMs: 100, longestWaitMs: 1_000 };
  for (const luck of [1, 0.25, 0]) {
    const play = new Play([lost, lost, lost, lost, lost, lost, done], luck);
    await play.ask(retry);
    assert.deepEqual(
      play.waits,
      [100, 200, 400, 800, 1_000, 1_000].map((most) => most * luck),
    );
  }
  assert.equal(waitMs(retry, 10_000, null, 1), 1_000);
});

test("Retry-After is the least wait, in seconds or as a date", async () => {
  const play = new Play([refusal(503, "store-unavailable", { "Retry-After": "3" }), done], 0.5);
  await play.ask();
  assert.deepEqual(play.waits, [3_050]);
  const past = new Play([refusal(429, "rate-limited", { "Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT" }), done], 0);
  await past.ask();
  assert.deepEqual(past.waits, [0]);
});

test("the last error comes when the deadline leaves no time", async () => {
  const play = new Play([refusal(503, "store-unavailable", { "Retry-After": "4" })], 1, 1_000);
  const error = await refusalOf(play.ask());
  assert.ok(error instanceof errors.Unavailable && play.time <= 30_000);
  assert.deepEqual([error.tries, error.retryAfter], [6, 4]);
  // A wait beyond the deadline is not begun.
  const limited = new Play([refusal(429, "rate-limited", { "Retry-After": "60" })]);
  await assert.rejects(limited.ask(), errors.RateLimited);
  assert.deepEqual([limited.time, limited.sent.length], [0, 1]);
});

test("no other answer is repeated", async () => {
  for (const reply of [
    refusal(400, "invalid-json"),
    refusal(401, "unauthorized"),
    refusal(408, "request-timeout"),
    refusal(409, "jackpot-paused"),
    refusal(422, "entry-id-reused"),
    refusal(429, "rate-limited"),
    refusal(500, "internal", { "Retry-After": "1" }),
    refusal(503, "stopped", { "Retry-After": "10" }),
    canned(502, "<html>bad gateway", { "Retry-After": "1" }),
    canned(504, ""),
    canned(302, null),
    canned(200, "<html>log in"),
  ]) {
    const play = new Play([reply, done]);
    const error = await refusalOf(play.ask());
    assert.ok(error instanceof errors.ProblemError || error instanceof errors.UnexpectedAnswer);
    assert.deepEqual([error.status, play.sent.length], [(reply() as Response).status, 1]);
  }
});

test("a page of a load balancer is repeated by its status", async () => {
  const play = new Play([canned(503, "<html>"), done]);
  assert.deepEqual(await play.ask(), { done: true });
});

test("a call without an id, or without a policy, is sent once", async () => {
  const rotate = new Play([lost, done]);
  await assert.rejects(rotate.ask(DEFAULT_RETRY, false), errors.NoAnswer);
  const once = new Play([refusal(503, "store-unavailable"), done]);
  await assert.rejects(once.ask(null), errors.Unavailable);
  assert.deepEqual([rotate.sent.length, once.sent.length], [1, 1]);
});

test("an id that would change the path is refused", async () => {
  const jackpot = new Jackpot("http://127.0.0.1:1");
  for (const wrong of ["", ".", ".."]) {
    await assert.rejects(jackpot.getEntry("spring", wrong), TypeError);
  }
});

test("a wrong address is refused at once", () => {
  assert.throws(() => new Jackpot("jackpot.example"), TypeError);
});
