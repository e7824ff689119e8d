/** Sends a request until it is answered. Everything that is not a pure function comes in as `World`. */

import { JackpotError, NoAnswer, problem, UnexpectedAnswer } from "./errors.js";
import { mayRepeat, waitMs, type Retry } from "./retry.js";

/** Clock, chance and network. */
export interface World {
  readonly fetch: typeof fetch;
  /** Milliseconds, from any start. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** 0 to 1. */
  readonly chance: () => number;
}

export const THIS_WORLD: World = {
  // Not the function itself: a browser's fetch refuses another `this`.
  fetch: (...request) => fetch(...request),
  now: () => performance.now(),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  chance: Math.random,
};

/** A request without its address. Each try sends the same one. */
export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** False for a call without an id, where a second try would do a second thing. */
  readonly repeatable: boolean;
  /** An answer that is not whole is asked for again like a 503, until the deadline. */
  readonly isWhole?: (document: unknown) => boolean;
}

/** How much of an answer that nobody expected the error shows. */
const SHOWN_CHARACTERS = 200;

export class Caller {
  constructor(
    private readonly url: string,
    /** For one try, to the end of its answer. */
    private readonly timeoutMs: number,
    /** null: every request is sent once. */
    private readonly retry: Retry | null,
    private readonly world: World,
  ) {}

  get now(): () => number {
    return this.world.now;
  }

  get sleep(): (ms: number) => Promise<void> {
    return this.world.sleep;
  }

  /** The JSON of a 2xx. */
  async ask(request: Request): Promise<unknown> {
    const retry = request.repeatable ? this.retry : null;
    const deadline = this.world.now() + (retry?.deadlineMs ?? this.timeoutMs);
    for (let tries = 1; ; tries += 1) {
      const leftMs = Math.max(deadline - this.world.now(), 1);
      const answer = await this.try(request, Math.min(this.timeoutMs, leftMs));
      const failed = answer instanceof JackpotError;
      if (failed) {
        answer.tries = tries;
      }
      const again = failed ? mayRepeat(answer) : !(request.isWhole?.(answer.document) ?? true);
      const retryAfter = failed && "retryAfter" in answer ? (answer.retryAfter as number | null) : null;
      const wait = retry === null ? 0 : waitMs(retry, tries, retryAfter, this.world.chance());
      if (again && retry !== null && this.world.now() + wait < deadline) {
        await this.world.sleep(wait);
        continue;
      }
      if (failed) {
        throw answer;
      }
      return answer.document;
    }
  }

  private async try(request: Request, timeoutMs: number): Promise<{ document: unknown } | JackpotError> {
    let answer: Response;
    let text: string;
    try {
      answer = await this.world.fetch(this.url + request.target, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        // A key goes nowhere else.
        redirect: "manual",
        signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
      });
      text = await answer.text();
    } catch (cause) {
      return new NoAnswer(cause instanceof Error ? reason(cause) : String(cause), { cause });
    }
    return read(answer, text);
  }
}

/** `fetch failed` alone says nothing; its cause does. */
function reason(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function read(answer: Response, text: string): { document: unknown } | JackpotError {
  const retryAfter = seconds(answer.headers.get("retry-after"));
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    return new UnexpectedAnswer(answer.status, text.slice(0, SHOWN_CHARACTERS), retryAfter, { cause });
  }
  if (answer.ok) {
    return { document };
  }
  if (typeof document === "object" && document !== null && "code" in document && typeof document.code === "string") {
    const requestId = answer.headers.get("x-request-id");
    return problem({ status: answer.status, retryAfter, requestId }, { ...document });
  }
  return new UnexpectedAnswer(answer.status, text.slice(0, SHOWN_CHARACTERS), retryAfter);
}

/** `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which proxies may send. */
function seconds(retryAfter: string | null): number | null {
  if (retryAfter === null) {
    return null;
  }
  if (/^[0-9]+$/.test(retryAfter)) {
    return Number(retryAfter);
  }
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max((at - Date.now()) / 1_000, 0);
}
