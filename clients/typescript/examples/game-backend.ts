/**
 * A small game back end: every spin feeds a jackpot, and every win is credited once.
 *
 *     JACKPOT_URL=http://127.0.0.1:8080 JACKPOT_KEY=... node game-backend.js --jackpot spring --data ./game
 *
 *     POST /spin {"player_id": "p7", "stake": 100}   plays a round
 *     GET /rounds/{round_id}                         the round as it is now
 *     GET /players/{player_id}                       what the player has won
 *     GET /credits/{payout_id}                       the credit with its verified receipt (needs JACKPOT_READ_KEY)
 *
 * It shows three things. A round is on disk before it is sent, so a crash loses none and repeats none. A win is
 * credited under its payout id, so it is credited once, however often the answer comes. And each error has one of
 * three ends: the round stays open and is sent again with its id, the round ends without the jackpot, or somebody has
 * to look.
 */

import { randomUUID } from "node:crypto";
import { fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  InvalidRequest,
  Jackpot,
  JackpotError,
  NoAnswer,
  NotFound,
  RateLimited,
  ServiceFault,
  SubjectStopped,
  SubjectSuspended,
  Unavailable,
  UnexpectedAnswer,
  VerificationError,
  type Entry,
} from "jackpot-client";

// A player waits for the answer. What is not known by then is settled in the background.
const PATIENCE = { deadlineMs: 3_000 };
const TRY_MS = 1_000;
const SETTLE_EVERY_MS = 2_000;
// The ledger has a payout moments after the claim.
const RECEIPT_WAIT_MS = 5_000;
const MAX_BODY_BYTES = 10_000;

interface Round {
  readonly round_id: string;
  readonly player_id: string;
  readonly stake: number;
  /** open: it may have been sent. done: the outcome is known. refused: the jackpot took no entry. */
  readonly state: "open" | "done" | "refused";
  readonly prize?: string;
  readonly amount?: number;
  readonly payout_id?: string;
  readonly coupon_code?: string;
  readonly reason?: string;
}

interface Credit {
  readonly payout_id: string;
  readonly player_id: string;
  readonly round_id: string;
  readonly amount: number;
}

/** Rounds and credits. Each change of a round is a line of a file, on disk before anything follows from it. */
class Books {
  readonly #rounds = new Map<string, Round>();
  readonly #credits = new Map<string, Credit>();
  readonly #file: number;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "rounds.ndjson");
    this.#file = openSync(path, "a");
    const text = readFileSync(path, "utf8");
    for (const line of text.split("\n").slice(0, -1)) {
      try {
        this.#apply(JSON.parse(line) as Round);
      } catch {
        // A crash in the middle of a line: nothing followed from it.
      }
    }
    // What a crash has left of a line must not become part of the next one.
    if (text !== "" && !text.endsWith("\n")) {
      writeSync(this.#file, "\n");
    }
  }

  write(round: Round): Round {
    writeSync(this.#file, `${JSON.stringify(round)}\n`);
    fsyncSync(this.#file);
    this.#apply(round);
    return round;
  }

  /** The payout id makes a second credit impossible. */
  #apply(round: Round): void {
    const { round_id, player_id, payout_id, amount } = round;
    this.#rounds.set(round_id, round);
    if (payout_id !== undefined && !this.#credits.has(payout_id)) {
      this.#credits.set(payout_id, { payout_id, player_id, round_id, amount: amount ?? 0 });
    }
  }

  round(id: string): Round | undefined {
    return this.#rounds.get(id);
  }

  openRounds(): Round[] {
    return [...this.#rounds.values()].filter((round) => round.state === "open");
  }

  credit(payoutId: string): Credit | undefined {
    return this.#credits.get(payoutId);
  }

  won(playerId: string): { credits: number; won: number } {
    const own = [...this.#credits.values()].filter((credit) => credit.player_id === playerId);
    return { credits: own.length, won: own.reduce((sum, credit) => sum + credit.amount, 0) };
  }
}

type Reply = [status: number, document: object];

class Game {
  constructor(
    private readonly jackpot: Jackpot,
    private readonly jackpotId: string,
    private readonly books: Books,
    private readonly auditor: Jackpot | undefined,
  ) {}

  spin(playerId: string, stake: number): Promise<Round> {
    const round = { round_id: `round-${randomUUID()}`, player_id: playerId, stake, state: "open" } as const;
    return this.settle(this.books.write(round));
  }

  /** Sends a round, for the first time or again: the id is the same, so it counts once. */
  async settle(round: Round): Promise<Round> {
    const { round_id, player_id, stake } = round;
    try {
      const entry = await this.jackpot.enter(this.jackpotId, { entry_id: round_id, player_id, stake });
      return this.books.write({ ...round, ...outcome(entry) });
    } catch (error) {
      return this.#unsettled(round, error);
    }
  }

  #unsettled(round: Round, error: unknown): Round {
    const notNow = [NoAnswer, UnexpectedAnswer, Unavailable, RateLimited, ServiceFault, SubjectSuspended];
    if (notNow.some((kind) => error instanceof kind)) {
      // Nothing is known, or not now. The round stays open and is sent again later.
      console.warn(`${round.round_id} stays open: ${String(error)}`);
      return round;
    }
    if (error instanceof SubjectStopped) {
      // Not taken, now or before: the repeat of a taken entry is answered also while the jackpot is paused.
      // The game goes on without it.
      return this.books.write({ ...round, state: "refused", reason: error.code });
    }
    if (error instanceof InvalidRequest) {
      // Such as a stake beyond the jackpot's bounds: the same request fails again.
      return this.books.write({ ...round, state: "refused", reason: error.detail });
    }
    if (error instanceof JackpotError) {
      // A wrong key, no such jackpot, an id used twice: a mistake of this back end or of its set-up. An earlier try may
      // have been taken, so the round stays open until somebody has repaired it.
      console.error(`${round.round_id} needs an operator: ${String(error)}`);
      return round;
    }
    throw error;
  }

  async settleOpenRounds(): Promise<void> {
    for (const round of this.books.openRounds()) {
      await this.settle(round);
    }
  }

  /** A credit beside the receipt that proves it, for the support desk. */
  async credit(payoutId: string): Promise<Reply> {
    const credit = this.books.credit(payoutId);
    if (credit === undefined || this.auditor === undefined) {
      return [404, { error: "no such credit, or no JACKPOT_READ_KEY" }];
    }
    try {
      const receipt = await this.auditor.getReceipt(payoutId, { waitMs: RECEIPT_WAIT_MS });
      const agrees =
        receipt.entry_id === credit.round_id &&
        receipt.player_id === credit.player_id &&
        receipt.amount === credit.amount;
      return [200, { ...credit, receipt, agrees }];
    } catch (error) {
      if (error instanceof VerificationError) {
        console.error(`the receipt of ${payoutId} is forged: ${error.message}`);
        return [500, { error: "the receipt is forged" }];
      }
      if (error instanceof NotFound) {
        return [503, { error: "the receipt is not in the ledger yet" }];
      }
      if (error instanceof JackpotError) {
        console.warn(`no receipt for ${payoutId}: ${error.message}`);
        return [503, { error: "the receipt can't be read now" }];
      }
      throw error;
    }
  }

  async handle(method: string, path: string, body: unknown): Promise<Reply> {
    const [, kind, id = "", ...more] = path.split("/");
    if (method === "POST" && kind === "spin" && id === "") {
      const { player_id, stake } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
      if (typeof player_id !== "string" || typeof stake !== "number") {
        return [400, { error: 'send {"player_id": "p7", "stake": 100}' }];
      }
      const round = await this.spin(player_id, stake);
      // 202: the round counts, and its outcome can be asked for with GET /rounds/{round_id}.
      return [round.state === "open" ? 202 : 200, round];
    }
    if (method === "GET" && more.length === 0) {
      const round = kind === "rounds" ? this.books.round(id) : undefined;
      if (round !== undefined) {
        return [200, round];
      }
      if (kind === "players") {
        return [200, this.books.won(id)];
      }
      if (kind === "credits") {
        return this.credit(id);
      }
    }
    return [404, { error: "nothing is here" }];
  }
}

/** What an answered round adds. */
function outcome({ outcome }: Entry): Partial<Round> & { state: "done" } {
  const done = { state: "done", prize: outcome.prize } as const;
  if (outcome.payout_id) {
    return { ...done, payout_id: outcome.payout_id, amount: outcome.amount ?? 0 };
  }
  return outcome.coupon?.code ? { ...done, coupon_code: outcome.coupon.code } : done;
}

async function read(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += String(part);
    if (text.length > MAX_BODY_BYTES) {
      return undefined;
    }
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`set ${name}`);
  }
  return value;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      jackpot: { type: "string" },
      data: { type: "string" },
      listen: { type: "string", default: "127.0.0.1:8090" },
    },
  });
  if (values.jackpot === undefined || values.data === undefined) {
    throw new Error("usage: game-backend.js --jackpot ID --data FOLDER [--listen 127.0.0.1:8090]");
  }
  const url = needed("JACKPOT_URL");
  const readKey = process.env["JACKPOT_READ_KEY"];
  const jackpot = new Jackpot(url, { key: needed("JACKPOT_KEY"), timeoutMs: TRY_MS, retry: PATIENCE });
  const auditor = readKey === undefined ? undefined : new Jackpot(url, { key: readKey });
  const game = new Game(jackpot, values.jackpot, new Books(values.data), auditor);
  // Rounds that were open when the last process ended.
  await game.settleOpenRounds();
  const settle = async (): Promise<void> => {
    await game.settleOpenRounds();
    setTimeout(() => void settle(), SETTLE_EVERY_MS);
  };
  setTimeout(() => void settle(), SETTLE_EVERY_MS);

  const server = createServer((request, response) => {
    void (async () => {
      const [status, document] = await game.handle(request.method ?? "", request.url ?? "", await read(request));
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(document));
    })();
  });
  const [host, port] = values.listen.split(":");
  server.listen(Number(port), host, () => {
    console.log(`listening on http://${host}:${(server.address() as AddressInfo).port}`);
  });
}

await main();
