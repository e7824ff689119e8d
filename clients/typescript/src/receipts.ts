/**
 * Signatures of the service: receipts of payouts, heads of ledgers, passes of waiting rooms.
 *
 * What a signature proves, and what it does not: `docs/how-to/check-a-receipt.md`.
 */

import { fromBase64url, sha256, toBase64url, utf8, type Bytes } from "./bytes.js";
import { JackpotError, VerificationError } from "./errors.js";
import type { components } from "./generated/openapi.js";

type Schemas = components["schemas"];

/** A payout whose signature was right, as it was signed. It can be stored, and verified again at any time. */
export type Receipt = Schemas["Receipt"];
export type Head = Schemas["Head"];
export type JwkSet = Schemas["JwkSet"];

/** Public keys by their `kid`. */
export type Keys = ReadonlyMap<string, Bytes>;

/** The claims of a pass whose signature was right. */
export interface Pass {
  readonly roomId: string;
  readonly userId: string;
  readonly ticket: string;
  readonly issuer: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Lists show these beside a receipt. They change after the payout, so the signature leaves them out. */
const BESIDE_A_RECEIPT = ["source_id", "state", "approved_by", "settlement", "void_receipt"];

const OF_A_RECEIPT = {
  text: ["payout_id", "jackpot_id", "entry_id", "player_id", "tier", "currency", "paid_at", "history", "event_id"],
  number: ["amount", "claim_order", "pool_before", "pool_after"],
};
const OF_A_HEAD = { text: ["jackpot_id", "ledger_id", "hash", "at"], number: ["n"] };

const PASS = "room-pass+jwt";

/** The form of RFC 8785, for values without fractions: the service signs no others. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (isObject(value)) {
    // Texts are sorted by UTF-16 code units, as RFC 8785 wants.
    const members = Object.keys(value).sort();
    return `{${members.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new VerificationError(`${value} is no integer up to 2^53-1`);
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new VerificationError("half a surrogate pair has no canonical form");
  }
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) {
    throw new VerificationError(`${typeof value} has no canonical form`);
  }
  return text;
}

/** The Ed25519 keys of a JWK Set (RFC 7517). A key whose `kid` is not its thumbprint (RFC 7638) is refused. */
export async function readKeys(set: JwkSet): Promise<Keys> {
  const keys = new Map<string, Bytes>();
  for (const key of set.keys) {
    if (key.kty !== "OKP" || key.crv !== "Ed25519") {
      continue;
    }
    const thumbprint = await sha256(utf8(canonical({ crv: "Ed25519", kty: "OKP", x: key.x })));
    if (toBase64url(thumbprint) !== key.kid) {
      throw new VerificationError(`the key ${key.kid} has the name of another key`);
    }
    keys.set(key.kid, fromBase64url(key.x));
  }
  return keys;
}

/** The receipt of `GET /v1/payouts/{payout_id}/receipt`, or of a row of `GET /v1/payouts`, if one of the keys signed it. */
export async function verifyReceipt(document: object, keys: Keys): Promise<Receipt> {
  const members = Object.entries(document).filter(([name]) => !BESIDE_A_RECEIPT.includes(name));
  const signed: Record<string, unknown> = Object.fromEntries(members);
  await verify(signed, keys);
  if (!has(signed, OF_A_RECEIPT)) {
    throw new VerificationError("it is signed, but it is no receipt");
  }
  return signed as Receipt;
}

/** The head of `GET /v1/jackpots/{id}/ledger/head`, if one of the keys signed it. */
export async function verifyHead(document: object, keys: Keys): Promise<Head> {
  const signed = { ...document } as Record<string, unknown>;
  await verify(signed, keys);
  if (!has(signed, OF_A_HEAD)) {
    throw new VerificationError("it is signed, but it is no head of a ledger");
  }
  return signed as Head;
}

/** Whose pass it has to be, and at which time (default: now). */
export interface Holder {
  readonly roomId: string;
  readonly userId: string;
  readonly nowS?: number;
}

/**
 * The pass of a user of this room, if one of the keys signed it and it has not expired (no leeway).
 *
 * A user who left keeps a pass that looks valid here; the service refuses it within a second.
 */
export async function verifyPass(token: string, keys: Keys, holder: Holder): Promise<Pass> {
  const [head, body, signature, ...more] = token.split(".");
  if (head === undefined || body === undefined || signature === undefined || more.length > 0) {
    throw new VerificationError("it is no pass");
  }
  const header = read(head);
  const claims = read(body);
  if (header["alg"] !== "EdDSA" || header["typ"] !== PASS) {
    throw new VerificationError("it is another kind of token");
  }
  await check(`${head}.${body}`, signature, header["kid"], keys);
  if (!has(claims, { text: ["aud", "sub", "jti", "iss"], number: ["iat", "exp"] })) {
    throw new VerificationError("it is signed, but it is no pass");
  }
  const { aud, sub, jti, iss, iat, exp } = claims as Record<string, string> & { iat: number; exp: number };
  if (aud !== holder.roomId || sub !== holder.userId) {
    throw new VerificationError("it is the pass of another room or user");
  }
  if (exp <= (holder.nowS ?? Date.now() / 1_000)) {
    throw new VerificationError("it has expired");
  }
  return { roomId: aud, userId: sub, ticket: jti!, issuer: iss!, issuedAt: iat, expiresAt: exp };
}

/** The `kid` that a token names. Nothing of the token is verified. */
export function keyOf(token: string): unknown {
  return read(token.split(".")[0] ?? "")["kid"];
}

/** Checks `signature` over the canonical form of all other members. */
async function verify(document: Record<string, unknown>, keys: Keys): Promise<void> {
  const { signature, ...rest } = document;
  await check(canonical(rest), signature, rest["key_id"], keys);
}

async function check(text: string, signature: unknown, kid: unknown, keys: Keys): Promise<void> {
  if (typeof signature !== "string" || typeof kid !== "string") {
    throw new VerificationError("it has no signature");
  }
  const x = keys.get(kid);
  if (x === undefined) {
    throw new VerificationError(`its key ${kid} is not one of the trusted keys`);
  }
  let key: CryptoKey;
  try {
    key = await crypto.subtle.importKey("raw", x, "Ed25519", false, ["verify"]);
  } catch (cause) {
    throw new JackpotError("this runtime can't verify: it has no Ed25519 in Web Crypto", { cause });
  }
  if (!(await crypto.subtle.verify("Ed25519", key, fromBase64url(signature), utf8(text)))) {
    throw new VerificationError("its signature is wrong: it was changed or made by somebody else");
  }
}

function read(part: string): Record<string, unknown> {
  let found: unknown;
  try {
    found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(fromBase64url(part)));
  } catch (cause) {
    throw cause instanceof VerificationError ? cause : new VerificationError("it is no token", { cause });
  }
  if (!isObject(found)) {
    throw new VerificationError("it is no token");
  }
  return found;
}

function has(document: Record<string, unknown>, names: { text: string[]; number: string[] }): boolean {
  return (
    names.text.every((name) => typeof document[name] === "string") &&
    names.number.every((name) => typeof document[name] === "number")
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
