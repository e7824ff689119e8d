"""Signatures of the service: receipts of payouts, heads of ledgers, passes of waiting rooms.

What a signature proves, and what it does not: `docs/how-to/check-a-receipt.md`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .errors import VerificationError
from .generated.models import Head, JwkSet
from .generated.models import Receipt as ReceiptBody

# Public keys by their `kid`.
Keys = Mapping[str, bytes]

# Lists show these beside a receipt. They change after the payout, so the signature leaves them out.
_BESIDE_A_RECEIPT = ("source_id", "state", "approved_by", "settlement", "void_receipt")

_PASS = "room-pass+jwt"
_LARGEST_INTEGER = 2**53 - 1


class Receipt(ReceiptBody):
    """A payout whose signature was right."""

    # The JSON as it was signed, and the signature. Keep it: it can be verified again at any time.
    document: dict[str, Any]


@dataclass(frozen=True)
class Pass:
    """The claims of a pass whose signature was right."""

    room_id: str
    user_id: str
    ticket: str
    issuer: str
    # Seconds since 1970.
    issued_at: int
    expires_at: int


def canonical(value: Any) -> bytes:
    """The form of RFC 8785, for values without fractions: the service signs no others."""
    try:
        return _text(value).encode()
    except UnicodeEncodeError as error:
        raise VerificationError("half a surrogate pair has no canonical form") from error


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        # RFC 8785, 3.2.3: members are sorted by UTF-16 code units.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) > _LARGEST_INTEGER):
        raise VerificationError(f"{value} is no integer up to 2^53-1")
    return json.dumps(value, ensure_ascii=False)


def read_keys(jwk_set: JwkSet | Mapping[str, Any]) -> dict[str, bytes]:
    """The Ed25519 keys of a JWK Set (RFC 7517). A key whose `kid` is not its thumbprint (RFC 7638) is refused."""
    document = jwk_set.to_dict() if isinstance(jwk_set, JwkSet) else jwk_set
    keys = {}
    for key in document["keys"]:
        if key.get("kty") != "OKP" or key.get("crv") != "Ed25519":
            continue
        public = canonical({"crv": "Ed25519", "kty": "OKP", "x": key["x"]})
        if _bytes(key["kid"]) != hashlib.sha256(public).digest():
            raise VerificationError(f"the key {key['kid']} has the name of another key")
        keys[key["kid"]] = _bytes(key["x"])
    return keys


def verify_receipt(document: Mapping[str, Any], keys: Keys) -> Receipt:
    """The receipt of `GET /v1/payouts/{payout_id}/receipt`, or of a row of a list, if one of the keys signed it."""
    signed = {name: value for name, value in document.items() if name not in _BESIDE_A_RECEIPT}
    _verify(signed, keys)
    try:
        receipt = Receipt.from_dict(signed)
    except (KeyError, TypeError, ValueError) as error:
        raise VerificationError("it is signed, but it is no receipt") from error
    receipt.document = signed
    return receipt


def verify_head(document: Mapping[str, Any], keys: Keys) -> Head:
    """The head of `GET /v1/jackpots/{id}/ledger/head`, if one of the keys signed it."""
    _verify(document, keys)
    try:
        return Head.from_dict(document)
    except (KeyError, TypeError, ValueError) as error:
        raise VerificationError("it is signed, but it is no head of a ledger") from error


def verify_pass(token: str, keys: Keys, *, room_id: str, user_id: str, now_s: float | None = None) -> Pass:
    """The pass of a user of this room, if one of the keys signed it and it has not expired (no leeway).

    A user who left keeps a pass that looks valid here; the service refuses it within a second.
    """
    parts = token.split(".")
    if len(parts) != 3:
        raise VerificationError("it is no pass")
    header, claims = (_object(part) for part in parts[:2])
    if (header.get("alg"), header.get("typ")) != ("EdDSA", _PASS):
        raise VerificationError("it is another kind of token")
    _check(f"{parts[0]}.{parts[1]}".encode(), parts[2], header.get("kid"), keys)
    try:
        found = Pass(claims["aud"], claims["sub"], claims["jti"], claims["iss"], int(claims["iat"]), int(claims["exp"]))
    except (KeyError, TypeError, ValueError) as error:
        raise VerificationError("it is signed, but it is no pass") from error
    if (found.room_id, found.user_id) != (room_id, user_id):
        raise VerificationError("it is the pass of another room or user")
    if found.expires_at <= (time.time() if now_s is None else now_s):
        raise VerificationError("it has expired")
    return found


def key_of(token: str) -> object:
    """The `kid` that a token names. Nothing of the token is verified."""
    return _object(token.split(".")[0]).get("kid")


def _verify(document: Mapping[str, Any], keys: Keys) -> None:
    """Checks `signature` over the canonical form of all other members."""
    rest = {name: value for name, value in document.items() if name != "signature"}
    _check(canonical(rest), document.get("signature"), document.get("key_id"), keys)


def _check(text: bytes, signature: object, kid: object, keys: Keys) -> None:
    if not isinstance(signature, str) or not isinstance(kid, str):
        raise VerificationError("it has no signature")
    if kid not in keys:
        raise VerificationError(f"its key {kid} is not one of the trusted keys")
    try:
        Ed25519PublicKey.from_public_bytes(keys[kid]).verify(_bytes(signature), text)
    except (InvalidSignature, ValueError) as error:
        raise VerificationError("its signature is wrong: it was changed or made by somebody else") from error


def _bytes(text: str) -> bytes:
    """base64url without padding (RFC 7515, appendix C), in its only spelling."""
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise VerificationError("it is no base64url") from error
    if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != text:
        raise VerificationError("it is no base64url")
    return found


def _object(part: str) -> dict[str, Any]:
    try:
        found = json.loads(_bytes(part))
    except ValueError as error:
        raise VerificationError("it is no token") from error
    if not isinstance(found, dict):
        raise VerificationError("it is no token")
    return found
