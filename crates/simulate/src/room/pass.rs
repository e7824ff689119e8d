//! Passes, read from their published form alone (RFC 7519, RFC 8037), so that the service does not check
//! itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, VerifyingKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The type of a pass, in its header.
pub const TYPE: &str = "room-pass+jwt";

/// A public key and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub id: String,
    pub key: VerifyingKey,
}

/// The claims of a pass.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Claims {
    pub iss: String,
    pub aud: String,
    pub sub: String,
    pub jti: String,
    /// Seconds since 1970.
    pub iat: i64,
    pub exp: i64,
}

/// Reads the keys of a JWK Set (RFC 7517) that are of Ed25519.
pub fn keys(body: &[u8]) -> Result<Vec<Key>, String> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<Jwk>,
    }
    #[derive(Deserialize)]
    struct Jwk {
        kid: String,
        crv: Option<String>,
        x: Option<String>,
    }
    let set: Set = serde_json::from_slice(body).map_err(|error| format!("the keys can't be read: {error}"))?;
    let ours = |jwk: &Jwk| jwk.crv.as_deref() == Some("Ed25519");
    let read = |jwk: Jwk| {
        let bytes = URL_SAFE_NO_PAD
            .decode(jwk.x.unwrap_or_default())
            .ok()?
            .try_into()
            .ok()?;
        let key = VerifyingKey::from_bytes(&bytes).ok()?;
        Some(Key { id: jwk.kid, key })
    };
    let keys = set.keys.into_iter().filter(ours);
    keys.map(|jwk| {
        let wrong = format!("the key {} can't be read", jwk.kid);
        read(jwk).ok_or(wrong)
    })
    .collect()
}

/// The claims of a pass that one of the keys signed.
pub fn open(keys: &[Key], pass: &str) -> Result<Claims, String> {
    #[derive(Deserialize)]
    struct Header {
        alg: String,
        typ: String,
        kid: String,
    }
    let (signed, signature) = pass.rsplit_once('.').ok_or("it has no signature")?;
    let (header, claims) = signed.split_once('.').ok_or("it has no claims")?;
    let header: Header = read(header)?;
    if header.alg != "EdDSA" || header.typ != TYPE {
        return Err(format!("its alg is {}, its typ {}", header.alg, header.typ));
    }
    let key = keys.iter().find(|key| key.id == header.kid);
    let key = key.ok_or_else(|| format!("its key {} is not published", header.kid))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|error| error.to_string())?;
    let signature = Signature::from_slice(&signature).map_err(|error| error.to_string())?;
    key.key
        .verify_strict(signed.as_bytes(), &signature)
        .map_err(|_| "its signature does not match")?;
    read(claims)
}

/// The claims of a pass, without a check of its signature.
pub fn claims(pass: &str) -> Result<Claims, String> {
    read(pass.split('.').nth(1).ok_or("it has no claims")?)
}

fn read<T: DeserializeOwned>(part: &str) -> Result<T, String> {
    let json = URL_SAFE_NO_PAD.decode(part).map_err(|error| error.to_string())?;
    serde_json::from_slice(&json).map_err(|error| error.to_string())
}

#[cfg(test)]
pub mod tests {
    use ed25519_dalek::{Signer, SigningKey};
    use serde_json::{Value, json};

    use super::*;

    /// A pass of a key that is made of this byte.
    pub fn signed(byte: u8, typ: &str, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "EdDSA", "typ": typ, "kid": byte.to_string()});
        let text = format!("{}.{}", part(&header), part(claims));
        let signature = SigningKey::from_bytes(&[byte; 32]).sign(text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    /// Its public half.
    pub fn key(byte: u8) -> Key {
        Key {
            id: byte.to_string(),
            key: SigningKey::from_bytes(&[byte; 32]).verifying_key(),
        }
    }

    #[test]
    fn only_what_a_published_key_signed_is_a_pass() {
        let claims = json!({"iss": "jackpot", "aud": "r", "sub": "u1", "jti": "t", "iat": 1, "exp": 2});
        let pass = signed(7, TYPE, &claims);
        assert_eq!(open(&[key(6), key(7)], &pass).expect("a pass").sub, "u1");
        let other = signed(
            7,
            TYPE,
            &json!({"iss": "jackpot", "aud": "r", "sub": "u2", "jti": "t", "iat": 1, "exp": 2}),
        );
        let mixed = format!(
            "{}{}",
            other.rsplit_once('.').expect("three parts").0,
            &pass[pass.rfind('.').expect("three parts")..]
        );
        for (wrong, named) in [
            (signed(8, TYPE, &claims), "not published"),
            (signed(7, "JWT", &claims), "typ"),
            (signed(7, "join+jwt", &claims), "typ"),
            (mixed, "signature"),
            ("a".to_owned(), "signature"),
        ] {
            let error = open(&[key(7)], &wrong).expect_err(named);
            assert!(error.contains(named), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_published_keys_are_read() {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let set =
            json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "k"}, {"kty": "RSA", "kid": "other"}]});
        let read = keys(set.to_string().as_bytes()).expect("keys");
        assert_eq!((read.len(), read[0].id.as_str()), (1, "k"));
        assert!(keys(b"{}").is_err());
    }
}
