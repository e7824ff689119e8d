/** Texts, bytes and digests, with what browsers and Node.js have in common. */

import { VerificationError } from "./errors.js";

export type Bytes = Uint8Array<ArrayBuffer>;

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(text: string): Bytes {
  if (!/^([0-9a-f]{2})*$/.test(text)) {
    throw new VerificationError("it is not hexadecimal");
  }
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toBase64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** base64url without padding (RFC 7515, appendix C), in its only spelling. */
export function fromBase64url(text: string): Bytes {
  let bytes: Bytes;
  try {
    bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch (cause) {
    throw new VerificationError("it is no base64url", { cause });
  }
  if (toBase64url(bytes) !== text) {
    throw new VerificationError("it is no base64url");
  }
  return bytes;
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
