//! Public keys as a JWK Set (RFC 7517, RFC 8037).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::key::{BadSignature, PublicKey};

/// Key type and curve of the keys here.
const KIND: (&str, &str) = ("OKP", "Ed25519");

/// Public keys, each once. Keys of other types in a parsed set are left out, as RFC 7517 requires.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "JwkSet", into = "JwkSet")]
pub struct Jwks(Vec<PublicKey>);

/// Why a signature is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error("there is no key with the id {0}")]
    UnknownKey(String),
    #[error(transparent)]
    BadSignature(#[from] BadSignature),
}

impl Jwks {
    /// The keys in order, without duplicates.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        let mut set = Self::default();
        for key in keys {
            if set.find(key.id()).is_none() {
                set.0.push(key);
            }
        }
        set
    }

    /// The keys in order.
    pub fn keys(&self) -> &[PublicKey] {
        &self.0
    }

    /// The key with this id.
    pub fn find(&self, id: &str) -> Option<&PublicKey> {
        self.0.iter().find(|key| key.id() == id)
    }

    /// Checks that the key with this id has signed the text.
    pub fn verify(&self, key_id: &str, text: &str, signature: &str) -> Result<(), VerifyError> {
        let key = self
            .find(key_id)
            .ok_or_else(|| VerifyError::UnknownKey(key_id.to_owned()))?;
        Ok(key.verify(text, signature)?)
    }
}

/// A JWK Set as it is written.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JwkSet {
    /// The keys.
    pub keys: Vec<Jwk>,
}

/// A public key as a JWK.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Jwk {
    /// Kind of key.
    #[schema(required, example = "OKP")]
    pub kty: String,
    /// Its curve.
    #[schema(required, example = "Ed25519")]
    pub crv: String,
    /// The key: 32 bytes in base64url.
    #[schema(required, example = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")]
    pub x: String,
    /// Its id: the thumbprint of RFC 7638. Receipts and heads name it as `key_id`.
    #[schema(required, example = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    pub kid: String,
    /// How it signs.
    #[schema(required, example = "EdDSA")]
    pub alg: String,
    /// What it is for.
    #[serde(rename = "use")]
    #[schema(required, example = "sig")]
    pub usage: String,
}

impl From<Jwks> for JwkSet {
    fn from(set: Jwks) -> Self {
        let jwk = |key: &PublicKey| Jwk {
            kty: KIND.0.to_owned(),
            crv: KIND.1.to_owned(),
            x: key.x(),
            kid: key.id().to_owned(),
            alg: "EdDSA".to_owned(),
            usage: "sig".to_owned(),
        };
        Self {
            keys: set.0.iter().map(jwk).collect(),
        }
    }
}

impl TryFrom<JwkSet> for Jwks {
    type Error = String;

    fn try_from(set: JwkSet) -> Result<Self, String> {
        let ours = set
            .keys
            .into_iter()
            .filter(|jwk| (jwk.kty.as_str(), jwk.crv.as_str()) == KIND);
        let keys = ours.map(|jwk| {
            let key = PublicKey::parse(&jwk.x).map_err(|error| format!("key {}: x {error}", jwk.kid))?;
            // A `kid` other than the key's own thumbprint would let one key speak for another.
            if jwk.kid == key.id() {
                Ok(key)
            } else {
                Err(format!("key {}: kid must be {}, its thumbprint", jwk.kid, key.id()))
            }
        });
        Ok(Self::new(keys.collect::<Result<Vec<_>, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const KID: &str = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";

    #[test]
    fn it_is_written_as_the_rfc_wants_it_and_read_back() {
        let key = PublicKey::parse(X).unwrap();
        let set = Jwks::new([key.clone(), key.clone()]);
        let json = serde_json::to_value(&set).unwrap();
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": X, "kid": KID, "alg": "EdDSA", "use": "sig"});
        assert_eq!(json, json!({"keys": [jwk]}));
        assert_eq!(serde_json::from_value::<Jwks>(json).unwrap(), set);
        assert_eq!(set.find(KID), Some(&key));
        assert_eq!(
            set.verify("other", "text", "signature"),
            Err(VerifyError::UnknownKey("other".to_owned()))
        );
    }

    #[test]
    fn keys_of_other_kinds_are_left_out_and_wrong_ones_refused() {
        let set = json!({"keys": [
            {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "other"},
            {"kty": "OKP", "crv": "X25519", "x": X, "kid": "agree"},
            {"kty": "OKP", "crv": "Ed25519", "x": X, "kid": KID, "x5t": "ignored"},
        ]});
        assert_eq!(serde_json::from_value::<Jwks>(set).unwrap().keys().len(), 1);
        for (x, kid, said) in [("AAAA", KID, "x must be"), (X, "mine", "kid must be")] {
            let set = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid}]});
            let error = serde_json::from_value::<Jwks>(set).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
