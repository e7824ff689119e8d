/** When a request is sent again, and after which time. */

import { type JackpotError, NoAnswer, ProblemError, SubjectStopped, UnexpectedAnswer } from "./errors.js";

/** Exponential backoff with full jitter, under one deadline for all tries of a call. */
export interface Retry {
  /** From the first try. No try begins after it, and none lasts longer. */
  readonly deadlineMs: number;
  /** Most before the second try; doubled for each try that follows. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

export const DEFAULT_RETRY: Retry = { deadlineMs: 30_000, firstWaitMs: 100, longestWaitMs: 5_000 };

const MS_PER_S = 1_000;

/**
 * The wait before the next try. `tries` were sent; `chance` is random, 0 to 1; `retryAfter` in seconds.
 *
 * `Retry-After` is the least: the jitter comes on top, so that callers who were refused together do not come back
 * together.
 */
export function waitMs(retry: Retry, tries: number, retryAfter: number | null, chance: number): number {
  const most = Math.min(retry.longestWaitMs, retry.firstWaitMs * 2 ** (tries - 1));
  return (retryAfter ?? 0) * MS_PER_S + chance * most;
}

/** Whether the same request may soon be answered otherwise: 503, 429 with `Retry-After`, or no answer at all. */
export function mayRepeat(error: JackpotError): boolean {
  if (error instanceof SubjectStopped) {
    return false;
  }
  if (error instanceof ProblemError || error instanceof UnexpectedAnswer) {
    return error.status === 503 || (error.status === 429 && error.retryAfter !== null);
  }
  return error instanceof NoAnswer;
}
