//! A key: its signing half, its public half, and the id of both.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The 32 secret bytes of a key, wiped on drop.
pub type Seed = Zeroizing<[u8; 32]>;

/// A key that signs. Its secret half is wiped on drop, and is in no log.
pub struct KeyPair {
    secret: SigningKey,
    public: PublicKey,
}

/// A signature, with the id of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub key_id: String,
    /// 64 bytes in base64url without padding.
    pub signature: String,
}

impl KeyPair {
    /// The key of these bytes.
    pub fn of(seed: &Seed) -> Self {
        let secret = SigningKey::from_bytes(seed);
        let public = PublicKey::of(secret.verifying_key());
        Self { secret, public }
    }

    /// The public half, which checks its signatures.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs the bytes of a text.
    pub fn sign(&self, text: &str) -> Signature {
        let bytes = self.secret.sign(text.as_bytes()).to_bytes();
        Signature {
            key_id: self.public.id().to_owned(),
            signature: URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyPair").field(&self.public.id()).finish()
    }
}

/// A key that checks signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    id: String,
}

/// The text is not a public key of Ed25519, or is one of the few weak keys that accept signatures of anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an Ed25519 public key, 32 bytes in base64url without padding")]
pub struct NoPublicKey;

/// This key did not sign this text with this signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not match")]
pub struct BadSignature;

impl PublicKey {
    fn of(key: VerifyingKey) -> Self {
        let id = thumbprint(&URL_SAFE_NO_PAD.encode(key.as_bytes()));
        Self { key, id }
    }

    /// Parses its 32 bytes in base64url.
    pub fn parse(x: &str) -> Result<Self, NoPublicKey> {
        let mut bytes = [0; 32];
        let length = URL_SAFE_NO_PAD.decode_slice(x, &mut bytes).map_err(|_| NoPublicKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NoPublicKey)?;
        if length != bytes.len() || key.is_weak() {
            return Err(NoPublicKey);
        }
        Ok(Self::of(key))
    }

    /// Its 32 bytes in base64url: the `x` of a JWK.
    pub fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.key.as_bytes())
    }

    /// Its thumbprint (RFC 7638), which follows from the key alone.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Checks a signature in base64url, strictly: a signature has only one text, and keys and signature parts of small
    /// order are refused.
    pub fn verify(&self, text: &str, signature: &str) -> Result<(), BadSignature> {
        let bytes = URL_SAFE_NO_PAD.decode(signature).map_err(|_| BadSignature)?;
        let signature = ed25519_dalek::Signature::from_slice(&bytes).map_err(|_| BadSignature)?;
        self.key
            .verify_strict(text.as_bytes(), &signature)
            .map_err(|_| BadSignature)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.id).finish()
    }
}

/// RFC 7638 over the members that RFC 8037 requires of an Ed25519 key.
fn thumbprint(x: &str) -> String {
    let text = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 8037, appendix A.
    const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const SIGNED: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    const SIGNATURE: &str = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

    fn key(hex: &str) -> KeyPair {
        let mut seed = Seed::default();
        hex::decode_to_slice(hex, &mut seed[..]).unwrap();
        KeyPair::of(&seed)
    }

    #[test]
    fn keys_ids_and_signatures_are_those_of_rfc_8037() {
        let key = key(SEED);
        assert_eq!(key.public().x(), X);
        assert_eq!(key.public().id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let signature = key.sign(SIGNED);
        assert_eq!(
            (signature.key_id.as_str(), signature.signature.as_str()),
            (key.public().id(), SIGNATURE)
        );
        assert_eq!(PublicKey::parse(X).unwrap(), *key.public());
        assert_eq!(key.public().verify(SIGNED, SIGNATURE), Ok(()));
    }

    #[test]
    fn another_text_key_or_form_of_the_signature_is_refused() {
        let public = PublicKey::parse(X).unwrap();
        assert_eq!(public.verify("other", SIGNATURE), Err(BadSignature));
        assert_eq!(
            key(&"5f".repeat(32)).public().verify(SIGNED, SIGNATURE),
            Err(BadSignature)
        );
        // S + L is the same scalar, and the last character has bits that decoding would drop.
        let mut bytes = URL_SAFE_NO_PAD.decode(SIGNATURE).unwrap();
        let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
        let mut carry = 0;
        for (byte, add) in bytes[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            (*byte, carry) = (u8::try_from(sum & 0xff).unwrap(), sum >> 8);
        }
        for again in [
            URL_SAFE_NO_PAD.encode(bytes),
            format!("{}h", &SIGNATURE[..SIGNATURE.len() - 1]),
            format!("{SIGNATURE}=="),
            format!(" {SIGNATURE}"),
            SIGNATURE[..40].to_owned(),
            String::new(),
        ] {
            assert_eq!(public.verify(SIGNED, &again), Err(BadSignature), "{again}");
        }
    }

    #[test]
    fn no_weak_or_malformed_public_key_is_taken() {
        // The neutral element signs everything with one constant.
        let neutral = URL_SAFE_NO_PAD.encode([&[1][..], &[0; 31]].concat());
        for x in [neutral.as_str(), "", "AA", &X[..42], &format!("{X}A"), &format!("{X}=")] {
            assert_eq!(PublicKey::parse(x), Err(NoPublicKey), "{x}");
        }
    }

    #[test]
    fn no_seed_is_shown() {
        let shown = format!("{:?} {:#?}", key(SEED), key(SEED).public());
        assert!(shown.contains("kPrK_qmx") && !shown.contains("9d61"), "{shown}");
        assert!(!shown.contains("157"), "no list of bytes: {shown}");
    }
}
