/** Client of the Jackpot service for game back ends. */

export { Jackpot } from "./client.js";
export type { AdjustmentWish, Entry, EntryWish, IssueWish, Options, Page, PlayWish, ReversalWish, Schemas, TransferWish } from "./client.js";
export {
  Conflict,
  CouponRefused,
  Forbidden,
  IdReused,
  InvalidRequest,
  JackpotError,
  NoAnswer,
  NotFound,
  PassRefused,
  ProblemError,
  RateLimited,
  SeedNotPublished,
  ServiceFault,
  SubjectStopped,
  SubjectSuspended,
  Unauthorized,
  Unavailable,
  UnexpectedAnswer,
  VerificationError,
} from "./errors.js";
export type { FieldError, ProblemCode } from "./errors.js";
export * as fairness from "./fairness.js";
export * as receipts from "./receipts.js";
export type { Head, JwkSet, Keys, Pass, Receipt } from "./receipts.js";
export type { Retry } from "./retry.js";
