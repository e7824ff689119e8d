/**
 * Errors of the client.
 *
 *     JackpotError
 *     ├── NoAnswer              time-out or broken connection: nothing is known, the same id may be sent again
 *     ├── UnexpectedAnswer      an answer that the API does not describe, such as a load balancer's own page
 *     ├── ProblemError          the service refused: `code`, `status`, `detail`, `fields`, `retryAfter`
 *     │   ├── InvalidRequest    wrong content; the same request fails again
 *     │   ├── Unauthorized      no valid key
 *     │   ├── Forbidden         the key has another role or is bound to other subjects
 *     │   ├── PassRefused       the jackpot needs a pass of its waiting room
 *     │   ├── NotFound          no such jackpot, entry, payout, coupon, request, room or ticket
 *     │   ├── IdReused          the id was used with other content
 *     │   ├── SubjectStopped    the jackpot is paused or closed, the coupon retired, or everything stopped: nothing was taken
 *     │   ├── SubjectSuspended  the service has stopped it itself; the same id may be sent again
 *     │   ├── CouponRefused     already issued, out of stock, not open: final for the request
 *     │   ├── Conflict          the state does not allow it, or has changed
 *     │   ├── RateLimited       too many requests
 *     │   ├── Unavailable       not now; the same id may be sent again
 *     │   └── ServiceFault      a fault in the service
 *     ├── VerificationError     a signature or a draw is not what it claims to be
 *     └── SeedNotPublished      the epoch is open: its draws can be checked later
 */

import type { components } from "./generated/openapi.js";

export type ProblemCode = components["schemas"]["ProblemCode"];

/** A field that is wrong, such as `tiers[0].min_payout`, and the rule that it breaks. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Any error of this client. */
export class JackpotError extends Error {
  /** How often the request was sent before the client gave up. */
  tries = 0;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came. The service may have done it: only the same id finds out without doing it again. */
export class NoAnswer extends JackpotError {}

/** An answer that the API does not describe. */
export class UnexpectedAnswer extends JackpotError {
  constructor(
    readonly status: number,
    about: string,
    readonly retryAfter: number | null = null,
    options?: ErrorOptions,
  ) {
    super(`status ${status}: ${about}`, options);
  }
}

/** What a problem's answer says beside its document. */
export interface ProblemHead {
  readonly status: number;
  /** Seconds, from the header. */
  readonly retryAfter: number | null;
  /** `X-Request-Id`: the service's log has the same one. */
  readonly requestId: string | null;
}

/** A problem of the service (RFC 9457). `docs/reference/problems.md` says what each code means. */
export class ProblemError extends JackpotError {
  /** One of `ProblemCode`, or a code of a later version of the service. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly fields: readonly FieldError[];
  readonly retryAfter: number | null;
  readonly requestId: string | null;

  constructor(
    head: ProblemHead,
    /** The whole answer. Some problems have more members, such as `issue` of `already-issued`. */
    readonly document: Readonly<Record<string, unknown>>,
  ) {
    const { code, title, detail, errors } = document;
    super(`${String(code)} (${head.status}): ${String(detail ?? "")}`);
    this.code = String(code);
    this.title = String(title ?? "");
    this.detail = String(detail ?? "");
    this.status = head.status;
    this.fields = (Array.isArray(errors) ? errors : []) as FieldError[];
    this.retryAfter = head.retryAfter;
    this.requestId = head.requestId;
  }
}

/** Wrong content. `fields` names each field; the same request fails again. */
export class InvalidRequest extends ProblemError {}
/** The key is missing, unknown, revoked or expired. */
export class Unauthorized extends ProblemError {}
/** The key has another role, or is bound to other subjects. */
export class Forbidden extends ProblemError {}
/** The jackpot has a waiting room, and the pass is missing, of another user, or has expired. */
export class PassRefused extends ProblemError {}
/** There is no such jackpot, entry, payout, coupon, request, room or ticket. */
export class NotFound extends ProblemError {}
/** The id was used with other content. Two rounds have the same id, or a round was changed after it was sent. */
export class IdReused extends ProblemError {}
/**
 * The jackpot is paused or closed, the coupon retired, or everything stopped by an operator (`stopped`).
 *
 * Nothing was taken, by earlier tries neither. It is not sent again: a stop lasts longer than a round.
 */
export class SubjectStopped extends ProblemError {}
/**
 * The service has stopped the jackpot, coupon or room: the books disagree, or a restore is running.
 *
 * It may not have looked whether an earlier try was taken. Send the same id again once it is open.
 */
export class SubjectSuspended extends ProblemError {}
/** A coupon's refusal, final for its request: `already-issued`, `out-of-stock`, `not-open`, `not-issued`, `redeemed`. */
export class CouponRefused extends ProblemError {}
/** The state does not allow it, or is no longer the one that the caller has read. */
export class Conflict extends ProblemError {}
/** Too many requests. Nothing was done. */
export class RateLimited extends ProblemError {}
/** Not now. The same id may be sent again: nothing is done twice. */
export class Unavailable extends ProblemError {}
/** A fault in the service. Its log has the cause under `requestId`. */
export class ServiceFault extends ProblemError {}

/** A receipt, head, pass or draw is not what it claims to be. Do not use it. */
export class VerificationError extends JackpotError {}
/** The entry's epoch is open, or its seed is not public yet. Check the draw later. */
export class SeedNotPublished extends JackpotError {}

type Family = typeof ProblemError;

/** Every code of the API: the compiler refuses a missing and an unknown one. */
export const FAMILIES: Readonly<Record<ProblemCode, Family>> = {
  "invalid-request": InvalidRequest,
  "invalid-json": InvalidRequest,
  "malformed-request": InvalidRequest,
  "headers-too-large": InvalidRequest,
  "too-large": InvalidRequest,
  "unsupported-media-type": InvalidRequest,
  "method-not-allowed": InvalidRequest,
  "amount-too-large": InvalidRequest,
  "currency-mismatch": InvalidRequest,
  "approval-weaker": InvalidRequest,
  "entry-index-off": InvalidRequest,
  "too-many-takes": InvalidRequest,
  unauthorized: Unauthorized,
  forbidden: Forbidden,
  "wrong-subject": Forbidden,
  "wrong-source": Forbidden,
  "same-owner": Forbidden,
  "pass-required": PassRefused,
  "pass-expired": PassRefused,
  "not-found": NotFound,
  "jackpot-not-found": NotFound,
  "definition-not-found": NotFound,
  "winners-not-shown": NotFound,
  "entry-not-found": NotFound,
  "payout-not-found": NotFound,
  "adjustment-not-found": NotFound,
  "transfer-not-found": NotFound,
  "coupon-not-found": NotFound,
  "issue-not-found": NotFound,
  "room-not-found": NotFound,
  "ticket-not-found": NotFound,
  "pre-queue-not-found": NotFound,
  "subscription-not-found": NotFound,
  "entry-id-reused": IdReused,
  "adjustment-id-reused": IdReused,
  "request-id-reused": IdReused,
  "transfer-id-reused": IdReused,
  "reversal-id-reused": IdReused,
  "settlement-id-reused": IdReused,
  "redemption-id-reused": IdReused,
  "entry-has-prize": Conflict,
  "entry-pending": Conflict,
  "entry-reversed": Conflict,
  "too-late": Conflict,
  "jackpot-open": Conflict,
  "must-hit-open": Conflict,
  "not-tracked": Conflict,
  "adjustment-done": Conflict,
  "adjustment-withdrawn": Conflict,
  "transfer-done": Conflict,
  "transfer-withdrawn": Conflict,
  "payout-held": Conflict,
  "payout-settled": Conflict,
  "payout-void": Conflict,
  "payout-void-requested": Conflict,
  "payout-not-void-requested": Conflict,
  "approval-superseded": Conflict,
  "not-next": Conflict,
  "too-many-subscriptions": Conflict,
  "jackpot-paused": SubjectStopped,
  "jackpot-suspended": SubjectSuspended,
  "jackpot-closed": SubjectStopped,
  "coupon-paused": SubjectStopped,
  "coupon-closed": SubjectStopped,
  "coupon-suspended": SubjectSuspended,
  "coupon-retired": SubjectStopped,
  stopped: SubjectStopped,
  "room-suspended": SubjectSuspended,
  "already-issued": CouponRefused,
  "out-of-stock": CouponRefused,
  "not-open": CouponRefused,
  "not-issued": CouponRefused,
  redeemed: CouponRefused,
  "precondition-failed": Conflict,
  "not-admitted": Conflict,
  "room-not-open": Conflict,
  "reconciliation-mismatch": Conflict,
  "rate-limited": RateLimited,
  "store-unavailable": Unavailable,
  "not-ready": Unavailable,
  "too-many-streams": Unavailable,
  "too-many-uploads": Unavailable,
  "too-many-exports": Unavailable,
  "request-timeout": Unavailable,
  internal: ServiceFault,
};

/** For codes that a later version of the service may have. */
const BY_STATUS: ReadonlyMap<number, Family> = new Map<number, Family>([
  [401, Unauthorized],
  [403, Forbidden],
  [404, NotFound],
  [408, Unavailable],
  [409, Conflict],
  [412, Conflict],
  [429, RateLimited],
  [503, Unavailable],
]);

/** The error of a problem document, by its code, or by its status if this version does not know the code. */
export function problem(head: ProblemHead, document: Readonly<Record<string, unknown>>): ProblemError {
  const code = String(document["code"]);
  const known = Object.hasOwn(FAMILIES, code) ? FAMILIES[code as ProblemCode] : undefined;
  const Kind = known ?? BY_STATUS.get(head.status) ?? (head.status < 500 ? InvalidRequest : ServiceFault);
  return new Kind(head, document);
}
