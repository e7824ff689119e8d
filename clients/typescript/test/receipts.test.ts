/** Signatures, without a service. */

import assert from "node:assert/strict";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { VerificationError } from "../src/index.js";
import { canonical, keyOf, readKeys, verifyHead, verifyPass, verifyReceipt } from "../src/receipts.js";
import type { JwkSet, Receipt } from "../src/receipts.js";
import { TOP } from "./support.js";

const PAGE = readFileSync(`${TOP}/docs/how-to/check-a-receipt.md`, "utf8");
const BLOCKS = [...PAGE.matchAll(/```json\n(.*?)```/gs)].map((block) => JSON.parse(block[1]!) as unknown);
const RECEIPT = BLOCKS[0] as Receipt;
const KEYS = BLOCKS[1] as JwkSet;

function refusal(reason: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof VerificationError && reason.test(error.message);
}

/** Signs as the service does, with Node's own code. */
class Signer {
  readonly #key;
  readonly kid: string;
  readonly set: JwkSet;

  constructor(digit: number) {
    // An Ed25519 private key in DER (RFC 8410).
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, digit)]);
    this.#key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const { x } = createPublicKey(this.#key).export({ format: "jwk" }) as { x: string };
    this.kid = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
    this.set = { keys: [{ kty: "OKP", crv: "Ed25519", x, kid: this.kid, alg: "EdDSA", use: "sig" }] };
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#key).toString("base64url");
  }

  document(members: object): object {
    const document = { ...members, key_id: this.kid };
    return { ...document, signature: this.sign(canonical(document)) };
  }

  token(changes: object = {}, typ = "room-pass+jwt", alg = "EdDSA"): string {
    const claims = { iss: "jackpot", aud: "lobby", sub: "ann", jti: "5f".repeat(16), iat: 1_000, exp: 1_300, ...changes };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part({ alg, typ, kid: this.kid })}.${part(claims)}`;
    return `${text}.${this.sign(text)}`;
  }
}

test("the canonical form is that of RFC 8785", () => {
  // RFC 8785, 3.2.2 and 3.2.3, without the numbers that are no integers.
  const strings = { string: "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/", literals: [null, true, false], n: 56 };
  const expected = '{"literals":[null,true,false],"n":56,"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
  assert.equal(canonical(strings), expected);
  const names = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
  assert.equal(canonical(names), '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}');
  assert.equal(canonical(JSON.parse('{"__proto__":1,"a":{}}')), '{"__proto__":1,"a":{}}');
});

test("what the service never signs has no form", () => {
  for (const value of [1.5, 2 ** 53, -(2 ** 53), Number.NaN, Infinity, "\ud800", undefined, 1n]) {
    assert.throws(() => canonical({ value }), Error, String(value));
  }
  assert.equal(canonical(2 ** 53 - 1), "9007199254740991");
});

test("the receipt of the documentation is right", async () => {
  const receipt = await verifyReceipt(RECEIPT, await readKeys(KEYS));
  assert.deepEqual([receipt.payout_id, receipt.amount, receipt.claim_order], ["spring:4", 18811, 4]);
  assert.deepEqual(receipt, RECEIPT);
});

test("a receipt with any other member is forged", async () => {
  const keys = await readKeys(KEYS);
  for (const [name, value] of Object.entries(RECEIPT)) {
    const forged = { ...RECEIPT, [name]: typeof value === "number" ? value - 1 : `A${String(value).slice(1)}` };
    assert.notDeepEqual(forged, RECEIPT);
    await assert.rejects(verifyReceipt(forged, keys), VerificationError, name);
    const { [name as keyof Receipt]: _, ...rest } = RECEIPT;
    await assert.rejects(verifyReceipt(rest, keys), VerificationError, name);
  }
  await assert.rejects(verifyReceipt({ ...RECEIPT, note: "paid twice" }, keys), VerificationError);
  const row = { ...RECEIPT, state: "settled", source_id: null };
  assert.deepEqual(await verifyReceipt(row, keys), RECEIPT, "those beside it in lists are not signed");
});

test("a receipt of another key is forged", async () => {
  const other = new Signer(7);
  await assert.rejects(verifyReceipt(RECEIPT, await readKeys(other.set)), refusal(/not one of the trusted keys/));
  const stolen = { keys: [{ ...other.set.keys[0]!, kid: RECEIPT.key_id }] };
  await assert.rejects(readKeys(stolen), refusal(/the name of another key/));
  const { signature: _, ...rest } = RECEIPT;
  const own = { ...RECEIPT, signature: other.sign(canonical(rest)) };
  await assert.rejects(verifyReceipt(own, await readKeys(KEYS)), refusal(/signature is wrong/));
});

test("another signed document is no receipt", async () => {
  const signer = new Signer(7);
  const keys = await readKeys(signer.set);
  const head = signer.document({ jackpot_id: "spring", ledger_id: "l", n: 1, hash: "00", at: "2026-11-21T06:45:03.125Z" });
  assert.equal((await verifyHead(head, keys)).n, 1);
  await assert.rejects(verifyReceipt(head, keys), refusal(/no receipt/));
  await assert.rejects(verifyHead(RECEIPT, await readKeys(KEYS)), refusal(/no head/));
});

test("keys of other kinds are left out", async () => {
  const other = { kty: "RSA", crv: "", x: "", kid: "other", alg: "", use: "" } as unknown as JwkSet["keys"][number];
  assert.deepEqual([...(await readKeys({ keys: [other, ...KEYS.keys] })).keys()], [RECEIPT.key_id]);
});

test("a pass is of one user in one room until its second", async () => {
  const signer = new Signer(7);
  const keys = await readKeys(signer.set);
  const holder = { roomId: "lobby", userId: "ann", nowS: 1_299.9 };
  const found = await verifyPass(signer.token(), keys, holder);
  assert.deepEqual(
    [found.roomId, found.userId, found.ticket, found.expiresAt],
    ["lobby", "ann", "5f".repeat(16), 1_300],
  );
  assert.equal(keyOf(signer.token()), signer.kid);
  for (const [token, reason] of [
    [signer.token({ exp: 1_200 }), /expired/],
    [signer.token({ sub: "bob" }), /another room or user/],
    [signer.token({ aud: "vip" }), /another room or user/],
    [signer.token({}, "join+jwt"), /another kind/],
    [signer.token({}, undefined, "none"), /another kind/],
    [signer.token({ exp: "soon" }), /no pass/],
    [new Signer(8).token(), /not one of the trusted keys/],
    [`${signer.token().slice(0, -3)}AAA`, /signature is wrong|base64url/],
    [`${signer.token()}=`, /base64url/],
    ["a.b", /no pass/],
    ["", /no pass/],
    ["....", /no pass/],
  ] as const) {
    await assert.rejects(verifyPass(token, keys, { ...holder, nowS: 1_250 }), refusal(reason), token);
  }
});
