/** What the tests share: the service that scripts/clients.sh started, and a proxy that breaks calls to it. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { Jackpot, type Options, type Schemas } from "../src/index.js";

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 20;

/** The repository: this file runs in clients/typescript/build/test. */
export const TOP = fileURLToPath(new URL("../../../..", import.meta.url));

interface Description {
  components: { schemas: { ProblemCode: { enum: string[] } } };
  paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, { examples: unknown }> }> }>>;
}
export const DESCRIPTION = JSON.parse(readFileSync(`${TOP}/docs/reference/openapi.json`, "utf8")) as Description;

/** A variable that scripts/clients.sh sets. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is not set: run the tests with scripts/clients.sh test`);
  }
  return value;
}

export function client(role: "OPERATE" | "PLAY" | "READ", options: Options = {}, url?: string): Jackpot {
  return new Jackpot(url ?? setting("JACKPOT_TEST_URL"), { key: setting(`JACKPOT_TEST_${role}_KEY`), ...options });
}

/** An id that no other test has. */
export function fresh(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString("hex")}`;
}

/** The error of a call that has to fail. */
export async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call was not refused");
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

export async function eventually<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const found = await look();
    if (found !== undefined && found !== false) {
      return found;
    }
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
}

/** Runs `work` on each item, at most `concurrent` at once; the results are in order. */
export async function all<T, R>(items: T[], concurrent: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) {
      results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, worker));
  return results;
}

export const POOL = { pool: { tier: "grand", take: "all" as const } };

type Definition = Schemas["JackpotDefinition"];

/** A definition under which every fourth entry or so takes the pool, which has at least 3. */
export function wheel(id: string, changes: Partial<Definition> = {}): Definition {
  return {
    id,
    name: "Wheel",
    currency: "EUR",
    public_meter: true,
    contribution: { fixed: 1 },
    tiers: [{ tier: "grand", share_ppm: 1_000_000, min_payout: 3 } as Schemas["Tier"]],
    odds: { total: 100, ranks: [{ rank: 1, weight: 25, prize: POOL }] },
    ...changes,
  } as Definition;
}

/** A definition whose pool counts its entries, because nobody takes it. */
export function neverWins(id: string, changes: Partial<Definition> = {}): Definition {
  return wheel(id, { odds: { total: 1, ranks: [{ rank: 1, weight: 0, prize: POOL }] }, ...changes });
}

/** A definition under which each entry takes the pool of 1. */
export function alwaysWins(id: string): Definition {
  const tiers = [{ tier: "grand", share_ppm: 1_000_000, min_payout: 1 } as Schemas["Tier"]];
  return wheel(id, { tiers, odds: { total: 1, ranks: [{ rank: 1, weight: 1, prize: POOL }] } });
}

/** The Redis of the service, to freeze it, and to change it by hand. */
export class Redis {
  readonly pid: number;
  readonly #socket: string;

  constructor() {
    const service = setting("JACKPOT_TEST_PID");
    const children = readdirSync(`/proc/${service}/task`).flatMap((task) =>
      readFileSync(`/proc/${service}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
    );
    const lines = children.map((pid) => [pid, readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")] as const);
    const [pid, line] = lines.find(([, line]) => line.includes("--unixsocket")) ?? [];
    if (pid === undefined || line === undefined) {
      throw new Error("the service has no Redis of its own");
    }
    this.pid = Number(pid);
    this.#socket = line[line.indexOf("--unixsocket") + 1]!;
  }

  async frozen(work: () => Promise<void>): Promise<void> {
    process.kill(this.pid, "SIGSTOP");
    try {
      await work();
    } finally {
      process.kill(this.pid, "SIGCONT");
    }
  }

  async set(key: string, value: number): Promise<void> {
    const parts = ["SET", key, String(value)].map((part) => `$${part.length}\r\n${part}\r\n`);
    const connection = connect(this.#socket).setEncoding("utf8");
    connection.write(`*${parts.length}\r\n${parts.join("")}`);
    const [answer] = (await once(connection, "data")) as [string];
    connection.destroy();
    if (answer !== "+OK\r\n") {
      throw new Error(answer);
    }
  }
}

/** The proxy answers this itself, and the service does not see the request. */
export interface Canned {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export function problem(status: number, code: string, retryAfter?: string): Canned {
  const document = { type: `/problems/${code}`, title: code, status, detail: "", code, errors: [] };
  const headers: Record<string, string> = { "Content-Type": "application/problem+json" };
  if (retryAfter !== undefined) {
    headers["Retry-After"] = retryAfter;
  }
  return { status, headers, body: JSON.stringify(document) };
}

/**
 * `cut`: the connection ends before the service sees the request. `drop-reply`: the service answers, and the
 * connection ends before the client sees it. `hold-reply`: the service answers, and the client waits in vain.
 */
export type Fault = "cut" | "drop-reply" | "hold-reply" | Canned;

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Forwards requests to the service. Each fault of `faults` breaks one request, in order; then all pass. */
export class Proxy {
  readonly faults: Fault[] = [];
  readonly seen: Seen[] = [];
  /** What the client would have got, of requests whose reply it did not get. */
  readonly lost: number[] = [];
  readonly #server: Server;

  private constructor(private readonly target: string) {
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  static async start(target = setting("JACKPOT_TEST_URL")): Promise<Proxy> {
    const proxy = new Proxy(target);
    await new Promise<void>((done) => proxy.#server.listen(0, "127.0.0.1", done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await text(incoming);
    this.seen.push({ method: incoming.method ?? "", path: incoming.url ?? "", body });
    const fault = this.faults.shift();
    if (typeof fault === "object") {
      outgoing.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    } else if (fault === "cut") {
      incoming.socket.destroy();
    } else {
      await this.#forward(incoming, outgoing, body, fault);
    }
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse, body: string, fault?: Fault): Promise<void> {
    const { connection: _, ...headers } = incoming.headers;
    const answer = await new Promise<IncomingMessage>((done, failed) => {
      const options = { method: incoming.method, headers, agent: false as const };
      request(this.target + incoming.url, options, done).on("error", failed).end(body);
    });
    const document = await text(answer);
    if (fault === undefined) {
      const kept = ["content-type", "retry-after", "x-request-id"].filter((name) => name in answer.headers);
      const found = Object.fromEntries(kept.map((name) => [name, answer.headers[name]]));
      outgoing.writeHead(answer.statusCode ?? 0, found).end(document);
      return;
    }
    this.lost.push(answer.statusCode ?? 0);
    if (fault === "drop-reply") {
      incoming.socket.destroy();
    }
  }
}

async function text(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}
