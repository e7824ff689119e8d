//! The key that signs what a subscription gets. It is derived from the master secret and a nonce in the subscription's row, so
//! every instance has it, and a copy of the database alone signs nothing.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use jackpot_core::ids::Id;
use jackpot_core::secret::MasterSecret;
use jackpot_core::signing::{KeyPair, Seed};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Begins a public key in an answer (Standard Webhooks).
const PUBLIC: &str = "whpk_";
/// Begins a signature (Standard Webhooks: Ed25519).
const SIGNED: &str = "v1a,";

/// The key of one subscription.
#[derive(Debug)]
pub struct Key(KeyPair);

impl Key {
    /// `HMAC-SHA256(master_secret, "jackpot-subscription\n{id}\n{nonce}")` is its seed.
    pub fn derive(secret: &MasterSecret, subscription: &Id, nonce: &str) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).expect("any length of key is right");
        mac.update(format!("jackpot-subscription\n{subscription}\n{nonce}").as_bytes());
        let seed: Seed = Zeroizing::new(mac.finalize().into_bytes().into());
        Self(KeyPair::of(&seed))
    }

    /// The public half, as answers show it: `whpk_` and the Base64 of 32 bytes.
    pub fn public(&self) -> String {
        format!("{PUBLIC}{}", standard(&self.0.public().x()))
    }

    /// The value of the header `webhook-signature`.
    pub fn sign(&self, webhook_id: &str, timestamp_s: i64, body: &str) -> String {
        let signature = self.0.sign(&format!("{webhook_id}.{timestamp_s}.{body}"));
        format!("{SIGNED}{}", standard(&signature.signature))
    }
}

/// The same bytes in the alphabet of Standard Webhooks.
fn standard(url_safe: &str) -> String {
    let bytes = URL_SAFE_NO_PAD
        .decode(url_safe)
        .expect("the signing keys write base64url");
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subscription_and_nonce_has_a_key_of_its_own() {
        let secret = MasterSecret::new([0x5f; 32]);
        let id = |text: &str| Id::parse(text).expect("an id");
        let key = |name: &str, nonce: &str| Key::derive(&secret, &id(name), nonce);
        assert_eq!(key("a", "1").public(), key("a", "1").public());
        assert_ne!(key("a", "1").public(), key("a", "2").public());
        assert_ne!(key("a", "1").public(), key("b", "1").public());
        let signature = key("a", "1").sign("id", 7, "{}");
        let bytes = STANDARD
            .decode(signature.strip_prefix("v1a,").expect("the scheme"))
            .expect("Base64");
        let public = key("a", "1");
        let url_safe = URL_SAFE_NO_PAD.encode(bytes);
        assert!(public.0.public().verify("id.7.{}", &url_safe).is_ok());
        assert!(public.0.public().verify("id.8.{}", &url_safe).is_err());
    }
}
