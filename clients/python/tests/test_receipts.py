"""Signatures and draws, without a service."""

import base64
import copy
import hashlib
import json
import re
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support import TOP

from jackpot_client import VerificationError
from jackpot_client.receipts import canonical, key_of, read_keys, verify_head, verify_pass, verify_receipt

BLOCKS = re.findall(r"```json\n(.*?)```", (TOP / "docs/how-to/check-a-receipt.md").read_text(), re.DOTALL)
RECEIPT: dict[str, Any] = json.loads(BLOCKS[0])
KEYS: dict[str, Any] = json.loads(BLOCKS[1])


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    """Signs as the service does."""

    def __init__(self, digit: int) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([digit] * 32))
        x = base64url(self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        self.kid = base64url(hashlib.sha256(canonical({"crv": "Ed25519", "kty": "OKP", "x": x})).digest())
        self.keys = read_keys({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid}]})

    def sign(self, text: bytes) -> str:
        return base64url(self.key.sign(text))

    def document(self, **members: Any) -> dict[str, Any]:
        document = {**members, "key_id": self.kid}
        return {**document, "signature": self.sign(canonical(document))}

    def token(self, typ: str = "room-pass+jwt", alg: str = "EdDSA", **changes: Any) -> str:
        claims = {"iss": "jackpot", "aud": "lobby", "sub": "ann", "jti": "5f" * 16, "iat": 1000, "exp": 1300, **changes}
        header = {"alg": alg, "typ": typ, "kid": self.kid}
        text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        return f"{text}.{self.sign(text.encode())}"


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    # RFC 8785, 3.2.2 and 3.2.3, without the numbers that are no integers.
    strings = {"string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/", "literals": [None, True, False], "n": 56}
    expected = '{"literals":[null,true,false],"n":56,"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    assert canonical(strings).decode() == expected
    names = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    ordered = json.loads(canonical(names), object_pairs_hook=lambda pairs: [name for name, _ in pairs])
    assert ordered == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@pytest.mark.parametrize("value", [1.5, 1.0, 2**53, -(2**53), "\ud800"])
def test_what_the_service_never_signs_has_no_form(value: object) -> None:
    with pytest.raises(VerificationError):
        canonical({"value": value})
    assert canonical(2**53 - 1) == b"9007199254740991"


def test_the_receipt_of_the_documentation_is_right() -> None:
    receipt = verify_receipt(RECEIPT, read_keys(KEYS))
    assert (receipt.payout_id, receipt.amount, receipt.claim_order) == ("spring:4", 18811, 4)
    assert receipt.document == RECEIPT
    # The document can be stored, and verified again.
    assert verify_receipt(json.loads(json.dumps(receipt.document)), read_keys(KEYS)) == receipt


@pytest.mark.parametrize("member", sorted(RECEIPT))
def test_a_receipt_with_any_other_member_is_forged(member: str) -> None:
    value = RECEIPT[member]
    forged = {**RECEIPT, member: value + 1 if isinstance(value, int) else "A" + value[1:]}
    assert forged != RECEIPT
    with pytest.raises(VerificationError):
        verify_receipt(forged, read_keys(KEYS))
    with pytest.raises(VerificationError):
        verify_receipt({name: value for name, value in RECEIPT.items() if name != member}, read_keys(KEYS))


def test_a_receipt_with_more_members_is_forged_except_those_beside_it_in_lists() -> None:
    keys = read_keys(KEYS)
    with pytest.raises(VerificationError):
        verify_receipt({**RECEIPT, "note": "paid twice"}, keys)
    row = {**RECEIPT, "state": "settled", "source_id": None}
    assert verify_receipt(row, keys).document == RECEIPT


def test_a_receipt_of_another_key_is_forged() -> None:
    with pytest.raises(VerificationError, match="not one of the trusted keys"):
        verify_receipt(RECEIPT, Signer(7).keys)
    # A key that calls itself by the id of the service's.
    stolen = copy.deepcopy(KEYS)
    stolen["keys"][0]["x"] = base64url(bytes(32))
    with pytest.raises(VerificationError, match="the name of another key"):
        read_keys(stolen)
    own = {**RECEIPT, "signature": Signer(7).sign(canonical({k: v for k, v in RECEIPT.items() if k != "signature"}))}
    with pytest.raises(VerificationError, match="signature is wrong"):
        verify_receipt(own, read_keys(KEYS))


def test_another_signed_document_is_no_receipt() -> None:
    signer = Signer(7)
    head = signer.document(jackpot_id="spring", ledger_id="l", n=1, hash="00", at="2026-11-21T06:45:03.125Z")
    assert verify_head(head, signer.keys).n == 1
    with pytest.raises(VerificationError, match="no receipt"):
        verify_receipt(head, signer.keys)
    with pytest.raises(VerificationError, match="no head"):
        verify_head(RECEIPT, read_keys(KEYS))


def test_keys_of_other_kinds_are_left_out() -> None:
    assert read_keys({"keys": [{"kty": "RSA", "kid": "other"}, *KEYS["keys"]]}).keys() == {RECEIPT["key_id"]}


def test_a_pass_is_of_one_user_in_one_room_until_its_second() -> None:
    signer = Signer(7)
    found = verify_pass(signer.token(), signer.keys, room_id="lobby", user_id="ann", now_s=1299.9)
    assert (found.room_id, found.user_id, found.ticket, found.expires_at) == ("lobby", "ann", "5f" * 16, 1300)
    assert key_of(signer.token()) == signer.kid
    for token, reason in [
        (signer.token(exp=1200), "expired"),
        (signer.token(sub="bob"), "another room or user"),
        (signer.token(aud="vip"), "another room or user"),
        (signer.token(typ="join+jwt"), "another kind"),
        (signer.token(alg="none"), "another kind"),
        (signer.token(exp="soon"), "no pass"),
        (Signer(8).token(), "not one of the trusted keys"),
        (signer.token()[:-3] + "AAA", "signature is wrong|base64url"),
        (signer.token() + "=", "base64url"),
        ("a.b", "no pass"),
        ("", "no pass"),
        ("....", "no pass"),
    ]:
        with pytest.raises(VerificationError, match=reason):
            verify_pass(token, signer.keys, room_id="lobby", user_id="ann", now_s=1250)
