/** The client of the Jackpot service. */

import { Caller, THIS_WORLD } from "./caller.js";
import { NotFound, UnexpectedAnswer, VerificationError } from "./errors.js";
import * as fairness from "./fairness.js";
import type { components, paths } from "./generated/openapi.js";
import * as receipts from "./receipts.js";
import type { Head, JwkSet, Keys, Pass, Receipt } from "./receipts.js";
import { DEFAULT_RETRY, type Retry } from "./retry.js";

export type Schemas = components["schemas"];

type Method = "get" | "put" | "post" | "delete";
/** The operations of the description. */
type Operation<P extends keyof paths, M extends Method> = paths[P][M];
type Parameters<O> = O extends { parameters: infer A } ? Pick<A, keyof A & ("path" | "query" | "header")> : unknown;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? { body: B } : unknown;
type Success<R> = R[keyof R & (200 | 201 | 202)];
type Answer<O> = O extends { responses: infer R }
  ? Success<R> extends { content: { "application/json": infer A } }
    ? A
    : never
  : never;

/** What a call sends beside its path, by the description. */
export type Parts<P extends keyof paths, M extends Method> = Parameters<Operation<P, M>> & Body<Operation<P, M>>;

export interface Options {
  /** An API key of the service. Public calls need none. Never give a key to a browser. */
  readonly key?: string;
  /** For one try, to the end of its answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /** null: every request is sent once. */
  readonly retry?: Partial<Retry> | null;
  /** Keys that the caller has kept. Without them, receipts are verified with the keys that the service publishes. */
  readonly trustedKeys?: JwkSet;
}

/** A page of a list. Send `next_cursor` as `cursor` for the next one; null at the end. */
export interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
}

/** Makes members optional. */
type Optional<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

export type Entry = Schemas["Entry"];
/** Without an `entry_id` the call makes a UUID before its first try. */
export type EntryWish = Optional<Schemas["EntryBody"], "entry_id">;
/** A play of several jackpots, which are named beside it. */
export type PlayWish = Omit<Optional<Schemas["PlayBody"], "entry_id">, "jackpots">;
export type IssueWish = Optional<Schemas["IssueWish"], "request_id">;
export type ReversalWish = Optional<Schemas["ReversalBody"], "reversal_id">;
export type TransferWish = Optional<Schemas["TransferBody"], "transfer_id">;
export type AdjustmentWish = Optional<Schemas["AdjustmentBody"], "adjustment_id">;

const UNAVAILABLE = 503;
const DEFAULT_TIMEOUT_MS = 10_000;
/** How often a receipt is asked for that the ledger does not have yet. */
const LOOK_EVERY_MS = 100;

/**
 * A client. Each call that does something takes the id of what it does, and sends the same id and the same body until
 * it is answered. An id that must survive a crash of the caller has to be stored by the caller before the call.
 */
export class Jackpot {
  readonly #caller: Caller;
  readonly #key: string | undefined;
  readonly #trusted: JwkSet | undefined;
  #known: Keys = new Map();

  constructor(url: string, options: Options = {}) {
    const retry = options.retry === null ? null : { ...DEFAULT_RETRY, ...options.retry };
    const base = new URL(url).href.replace(/\/+$/, "");
    this.#caller = new Caller(base, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, retry, THIS_WORLD);
    this.#key = options.key;
    this.#trusted = options.trustedKeys;
  }

  /** Any call of the API that answers JSON, by its path and method in the description. */
  async call<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    parts: Parts<P, M>,
    repeatable = true,
    isWhole: (answer: Answer<Operation<P, M>>) => boolean = () => true,
  ): Promise<Answer<Operation<P, M>>> {
    const given = parts as { path?: object; query?: object; header?: object; body?: unknown };
    const headers = new Headers({ Accept: "application/json" });
    for (const [name, value] of present(given.header)) {
      headers.set(name, value);
    }
    if (this.#key !== undefined) {
      headers.set("Authorization", `Bearer ${this.#key}`);
    }
    const body = given.body === undefined ? null : JSON.stringify(given.body);
    if (body !== null) {
      headers.set("Content-Type", "application/json");
    }
    const ids = new Map(present(given.path));
    const query = new URLSearchParams(present(given.query)).toString();
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, ids.get(name)));
    return (await this.#caller.ask({
      method: method.toUpperCase(),
      target: query === "" ? target : `${target}?${query}`,
      headers,
      body,
      repeatable,
      isWhole: (document) => isWhole(document as Answer<Operation<P, M>>),
    })) as Answer<Operation<P, M>>;
  }

  // --- entries ---

  /** One play of one player: contributes once, is drawn once and has one outcome. `stake` is in minor units. */
  enter(jackpotId: string, wish: EntryWish, options: { roomPass?: string } = {}): Promise<Entry> {
    const body = { ...wish, entry_id: wish.entry_id ?? crypto.randomUUID() };
    const header = { "X-Room-Pass": options.roomPass };
    return this.call("post", "/v1/jackpots/{id}/entries", { path: { id: jackpotId }, header, body });
  }

  /**
   * One play that feeds 1 to 16 jackpots: exactly an entry of each, with this id.
   *
   * `items` are in the order of the jackpots. An item has `entry`, or `problem` if its jackpot refused; that is not
   * thrown. The call is repeated until no item is 503, or its time is over: look at the items.
   */
  enterSeveral(
    jackpotIds: string[],
    wish: PlayWish,
    options: { roomPasses?: string[] } = {},
  ): Promise<Schemas["PlayAnswer"]> {
    const body = { ...wish, entry_id: wish.entry_id ?? crypto.randomUUID(), jackpots: jackpotIds };
    const passes = options.roomPasses ?? [];
    const header = { "X-Room-Pass": passes.length === 0 ? undefined : passes.join(", ") };
    const isWhole = (play: Schemas["PlayAnswer"]) => play.items.every((item) => item.status !== UNAVAILABLE);
    return this.call("post", "/v1/entries", { header, body }, true, isWhole);
  }

  /** 1 to 10,000 entries, all or none. The entry at index i, from 1, has the id `{batch_id}:{i}`. */
  enterBatch(
    jackpotId: string,
    entries: Schemas["BatchEntry"][],
    options: { batchId?: string } = {},
  ): Promise<Schemas["BatchAnswer"]> {
    const body = { batch_id: options.batchId ?? crypto.randomUUID(), entries };
    return this.call("post", "/v1/jackpots/{id}/entry-batches", { path: { id: jackpotId }, body });
  }

  /** An entry with the body of its first answer. */
  getEntry(jackpotId: string, entryId: string): Promise<Entry> {
    const path = { id: jackpotId, entry_id: entryId };
    return this.call("get", "/v1/jackpots/{id}/entries/{entry_id}", { path });
  }

  /** Takes the contribution of an entry back, because its round was cancelled. Once for each entry. */
  reverseEntry(jackpotId: string, entryId: string, wish: ReversalWish): Promise<Schemas["Reversal"]> {
    const path = { id: jackpotId, entry_id: entryId };
    const body = { ...wish, reversal_id: wish.reversal_id ?? crypto.randomUUID() };
    return this.call("post", "/v1/jackpots/{id}/entries/{entry_id}/reverse", { path, body });
  }

  /** Entries of a player, the newest first. */
  async listEntries(
    playerId: string,
    query: Omit<Parts<"/v1/entries", "get">["query"], "player_id"> = {},
  ): Promise<Page<Schemas["EntryRow"]>> {
    return page(await this.call("get", "/v1/entries", { query: { player_id: playerId, ...query } }));
  }

  // --- jackpots ---

  /**
   * Creates or changes a jackpot. With `ifVersion` only if its definition has this version (else `Conflict`).
   *
   * If the answer to a change with `ifVersion` is lost, the repeat may be a `Conflict` with the caller's own change:
   * read the jackpot.
   */
  defineJackpot(
    definition: Schemas["JackpotDefinition"],
    options: { ifVersion?: number } = {},
  ): Promise<Schemas["Jackpot"]> {
    const header = { "If-Match": tag(options.ifVersion) };
    return this.call("put", "/v1/jackpots/{id}", { path: { id: definition.id }, header, body: definition });
  }

  /** A jackpot with its definition, status and meters. */
  getJackpot(jackpotId: string): Promise<Schemas["Jackpot"]> {
    return this.call("get", "/v1/jackpots/{id}", { path: { id: jackpotId } });
  }

  /** The pool of each tier. */
  getMeter(jackpotId: string): Promise<Schemas["MeterNow"]> {
    return this.call("get", "/v1/jackpots/{id}/meter", { path: { id: jackpotId } });
  }

  /** The odds and rules of a version of the definition. */
  getDefinition(jackpotId: string, version: number): Promise<Schemas["DefinitionOfVersion"]> {
    return this.call("get", "/v1/jackpots/{id}/definitions/{version}", { path: { id: jackpotId, version } });
  }

  /** What a player must be told, by the definition in force: numbers, and English sentences beside them. */
  getRules(jackpotId: string): Promise<Schemas["RulesBody"]> {
    return this.call("get", "/v1/jackpots/{id}/rules", { path: { id: jackpotId } });
  }

  /** Stops entries. Puts a waiting definition in force, unless it is to go on waiting. */
  pauseJackpot(jackpotId: string, reason: string, keepWaiting = false): Promise<Schemas["Jackpot"]> {
    const body = { reason, keep_waiting: keepWaiting };
    return this.call("post", "/v1/jackpots/{id}/pause", { path: { id: jackpotId }, body });
  }

  /** Takes entries again. */
  resumeJackpot(jackpotId: string, reason: string): Promise<Schemas["Jackpot"]> {
    return this.call("post", "/v1/jackpots/{id}/resume", { path: { id: jackpotId }, body: { reason } });
  }

  /** Stops entries for good. */
  closeJackpot(jackpotId: string, reason: string): Promise<Schemas["Jackpot"]> {
    return this.call("post", "/v1/jackpots/{id}/close", { path: { id: jackpotId }, body: { reason } });
  }

  /** Adds to a meter of a tier, takes from it with a negative amount, or moves money between meters. */
  adjustJackpot(jackpotId: string, wish: AdjustmentWish): Promise<Schemas["Adjustment"]> {
    const body = { ...wish, adjustment_id: wish.adjustment_id ?? crypto.randomUUID() };
    return this.call("post", "/v1/jackpots/{id}/adjustments", { path: { id: jackpotId }, body });
  }

  /**
   * Moves all money of tiers of a paused or closed jackpot to another one, once for each id.
   *
   * The answer may say `in-transit`: the service ends the transfer then, and `listTransfers` shows when.
   */
  transferJackpot(jackpotId: string, wish: TransferWish): Promise<Schemas["TransferRow"]> {
    const body = { ...wish, transfer_id: wish.transfer_id ?? crypto.randomUUID() };
    return this.call("post", "/v1/jackpots/{id}/transfers", { path: { id: jackpotId }, body });
  }

  /** The transfers that a jackpot gave, the oldest first. */
  async listTransfers(
    jackpotId: string,
    query: NonNullable<Parts<"/v1/jackpots/{id}/transfers", "get">["query"]> = {},
  ): Promise<Page<Schemas["TransferRow"]>> {
    return page(await this.call("get", "/v1/jackpots/{id}/transfers", { path: { id: jackpotId }, query }));
  }

  // --- payouts and signatures ---

  /**
   * The receipt of a payout, its signature verified.
   *
   * The ledger has a payout moments after its claim: `waitMs` is how long to ask for one that is not there yet.
   */
  async getReceipt(payoutId: string, options: { waitMs?: number } = {}): Promise<Receipt> {
    const until = this.#caller.now() + (options.waitMs ?? 0);
    for (;;) {
      try {
        return await this.verifyReceipt(
          await this.call("get", "/v1/payouts/{payout_id}/receipt", { path: { payout_id: payoutId } }),
        );
      } catch (error) {
        const comes = error instanceof NotFound && error.code === "payout-not-found";
        if (!comes || this.#caller.now() >= until) {
          throw error;
        }
      }
      await this.#caller.sleep(LOOK_EVERY_MS);
    }
  }

  /** Payouts, the newest first, each signature verified. */
  async listPayouts(query: NonNullable<Parts<"/v1/payouts", "get">["query"]> = {}): Promise<Page<Receipt>> {
    const found = page(await this.call("get", "/v1/payouts", { query }));
    const items: Receipt[] = [];
    for (const item of found.items) {
      items.push(await this.verifyReceipt(item));
    }
    return { items, next_cursor: found.next_cursor };
  }

  /** The figures of a day (`2026-11-21`) of each tier and source, of one jackpot or of all that the key may see. */
  getDailyReport(date: string, jackpotId?: string): Promise<Schemas["DailyReport"]> {
    const query = jackpotId === undefined ? { date } : { date, jackpot_id: jackpotId };
    return this.call("get", "/v1/reports/daily", { query });
  }

  /** The signed end of a jackpot's chain of events, its signature verified. */
  async getLedgerHead(jackpotId: string): Promise<Head> {
    const head = await this.call("get", "/v1/jackpots/{id}/ledger/head", { path: { id: jackpotId } });
    return receipts.verifyHead(head, await this.#keysWith(head.key_id));
  }

  /** The public keys of receipts, heads and passes. Keep them from a time when they were trusted. */
  getKeys(): Promise<JwkSet> {
    return this.call("get", "/v1/keys", {});
  }

  /** A stored receipt, its signature verified. */
  async verifyReceipt(document: object): Promise<Receipt> {
    const kid = "key_id" in document ? document.key_id : undefined;
    return receipts.verifyReceipt(document, await this.#keysWith(kid));
  }

  // --- fairness ---

  /** All epochs, oldest first: nonces, commitments, and the seeds of those that are closed. */
  async getFairness(jackpotId: string): Promise<Schemas["Fairness"]> {
    const path = { id: jackpotId };
    const whole = await this.call("get", "/v1/jackpots/{id}/fairness", { path });
    for (let cursor = whole.next_cursor; typeof cursor === "string"; cursor = whole.next_cursor) {
      const next = await this.call("get", "/v1/jackpots/{id}/fairness", { path, query: { cursor } });
      whole.epochs.push(...next.epochs);
      whole.cycles.push(...next.cycles);
      whole.next_cursor = next.next_cursor ?? null;
    }
    return whole;
  }

  /** An entry whose draw was recomputed from the published seed of its epoch and the odds of its definition. */
  async checkDraw(
    jackpotId: string,
    entryId: string,
    options: { clientSeed?: string | null; stake?: number | null } = {},
  ): Promise<Entry> {
    const entry = await this.getEntry(jackpotId, entryId);
    const known = await this.getFairness(jackpotId);
    const definition = await this.getDefinition(jackpotId, entry.draw.definition_version);
    const epoch = known.epochs.find((found) => found.epoch === entry.draw.epoch);
    if (epoch === undefined) {
      throw new VerificationError(`the service does not list epoch ${entry.draw.epoch}`);
    }
    await fairness.checkDraw(entry, definition, epoch, options.clientSeed, options.stake);
    return entry;
  }

  /**
   * Closes the open epoch, so that its seed is published. Sent once: a repeat would close the next epoch too.
   *
   * With `cycles` it also ends open must-hit cycles without a take.
   */
  rotateEpoch(jackpotId: string, reason: string, options: { cycles?: boolean } = {}): Promise<Schemas["Fairness"]> {
    const path = { id: jackpotId };
    return this.call("post", "/v1/jackpots/{id}/fairness/rotate", { path, body: { reason, ...options } }, false);
  }

  // --- coupons ---

  /** Creates or changes a coupon. `ifVersion` as in `defineJackpot`. */
  defineCoupon(
    couponId: string,
    definition: Schemas["CouponDefinition"],
    options: { ifVersion?: number } = {},
  ): Promise<Schemas["Coupon"]> {
    const header = { "If-Match": tag(options.ifVersion) };
    return this.call("put", "/v1/coupons/{id}", { path: { id: couponId }, header, body: definition });
  }

  /** A coupon with its counts. */
  getCoupon(couponId: string): Promise<Schemas["Coupon"]> {
    return this.call("get", "/v1/coupons/{id}", { path: { id: couponId } });
  }

  /**
   * Asks for a unit. A refusal (`CouponRefused`) is final for its request.
   *
   * With `queue` the request takes its place in the strictly ordered queue; `getIssue` says what became of it.
   */
  issueCoupon(couponId: string, wish: IssueWish, options: { queue?: boolean } = {}): Promise<Schemas["IssueBody"]> {
    const body = { ...wish, request_id: wish.request_id ?? crypto.randomUUID() };
    const header = { Prefer: options.queue ? "respond-async" : undefined };
    return this.call("post", "/v1/coupons/{id}/issues", { path: { id: couponId }, header, body });
  }

  /** A request and its result. */
  getIssue(couponId: string, requestId: string): Promise<Schemas["IssueBody"]> {
    const path = { id: couponId, request_id: requestId };
    return this.call("get", "/v1/coupons/{id}/issues/{request_id}", { path });
  }

  /** Takes no new requests; those in the queue wait. */
  pauseCoupon(couponId: string, reason: string): Promise<Schemas["Coupon"]> {
    return this.call("post", "/v1/coupons/{id}/pause", { path: { id: couponId }, body: { reason } });
  }

  /** Takes requests again. */
  resumeCoupon(couponId: string, reason: string): Promise<Schemas["Coupon"]> {
    return this.call("post", "/v1/coupons/{id}/resume", { path: { id: couponId }, body: { reason } });
  }

  /** Ends the coupon for good. */
  closeCoupon(couponId: string, reason: string): Promise<Schemas["Coupon"]> {
    return this.call("post", "/v1/coupons/{id}/close", { path: { id: couponId }, body: { reason } });
  }

  /**
   * Redeems an issued unit: its user has used it, once. Send the same `redemption_id` and `reference` again when an answer
   * was lost.
   */
  redeemIssue(
    couponId: string,
    requestId: string,
    redemption: Schemas["RedeemWish"],
  ): Promise<Schemas["IssueBody"]> {
    const path = { id: couponId, request_id: requestId };
    return this.call("post", "/v1/coupons/{id}/issues/{request_id}/redeem", { path, body: redemption });
  }

  /** Takes an issued unit back: it returns to the stock. */
  voidIssue(couponId: string, requestId: string): Promise<Schemas["IssueBody"]> {
    const path = { id: couponId, request_id: requestId };
    return this.call("delete", "/v1/coupons/{id}/issues/{request_id}", { path });
  }

  // --- rooms ---

  /** Creates or changes a waiting room. `ifVersion` as in `defineJackpot`. */
  defineRoom(
    roomId: string,
    definition: Schemas["RoomDefinition"],
    options: { ifVersion?: number } = {},
  ): Promise<Schemas["Room"]> {
    const header = { "If-Match": tag(options.ifVersion) };
    return this.call("put", "/v1/rooms/{id}", { path: { id: roomId }, header, body: definition });
  }

  /** A room with its counts. */
  getRoom(roomId: string): Promise<Schemas["Room"]> {
    return this.call("get", "/v1/rooms/{id}", { path: { id: roomId } });
  }

  /** The public state of a room. Needs no key. */
  getRoomStatus(roomId: string): Promise<Schemas["RoomStatus"]> {
    return this.call("get", "/v1/rooms/{id}/status", { path: { id: roomId } });
  }

  /** A user's ticket: admitted at once, or waiting. A user has one place; joining again returns it. */
  joinRoom(roomId: string, userId: string): Promise<Schemas["TicketBody"]> {
    return this.call("post", "/v1/rooms/{id}/tickets", { path: { id: roomId }, body: { user_id: userId } });
  }

  /** A ticket as it is now. Ask again after `poll_after_s`: it keeps the place alive. */
  getTicket(roomId: string, ticket: string): Promise<Schemas["TicketBody"]> {
    return this.call("get", "/v1/rooms/{id}/tickets/{ticket}", { path: { id: roomId, ticket } });
  }

  /** Another whole session from now on, with a new pass. */
  renewTicket(roomId: string, ticket: string): Promise<Schemas["TicketBody"]> {
    return this.call("post", "/v1/rooms/{id}/tickets/{ticket}/renew", { path: { id: roomId, ticket } });
  }

  /** Gives the place up. */
  leaveRoom(roomId: string, ticket: string): Promise<Schemas["TicketBody"]> {
    return this.call("delete", "/v1/rooms/{id}/tickets/{ticket}", { path: { id: roomId, ticket } });
  }

  /** A token that opens the waiting page for a user. */
  createJoinToken(roomId: string, userId: string, returnTo: string): Promise<Schemas["JoinToken"]> {
    const body = { user_id: userId, return_to: returnTo };
    return this.call("post", "/v1/rooms/{id}/join-tokens", { path: { id: roomId }, body });
  }

  /** The claims of a user's pass, its signature verified. The service alone knows whether its user has left. */
  async checkPass(roomId: string, userId: string, roomPass: string): Promise<Pass> {
    const keys = await this.#keysWith(receipts.keyOf(roomPass));
    return receipts.verifyPass(roomPass, keys, { roomId, userId });
  }

  /** The keys with which to verify. The service's own are asked for again when they lack the one that signed. */
  async #keysWith(kid: unknown): Promise<Keys> {
    const isNew = this.#trusted === undefined ? !this.#known.has(kid as string) : this.#known.size === 0;
    if (isNew) {
      this.#known = await receipts.readKeys(this.#trusted ?? (await this.getKeys()));
    }
    return this.#known;
  }
}

/** Members with a value, as texts. */
function present(values: object | undefined): [string, string][] {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return given.map(([name, value]) => [name, String(value)]);
}

/** An id in a path. One that is empty, `.` or `..` would make it the path of another call. */
function segment(name: string, id: string | undefined): string {
  if (id === undefined || ["", ".", ".."].includes(id)) {
    throw new TypeError(`${name} is empty or consists of dots`);
  }
  return encodeURIComponent(id);
}

function tag(version: number | undefined): string | undefined {
  return version === undefined ? undefined : `"${version}"`;
}

function page<T>(document: { items: T[]; next_cursor?: string | null | undefined }): Page<T> {
  if (!Array.isArray(document.items)) {
    throw new UnexpectedAnswer(200, "a list without items");
  }
  return { items: document.items, next_cursor: document.next_cursor ?? null };
}
