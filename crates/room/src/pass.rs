//! Tokens of rooms: JSON Web Tokens (RFC 7519) in their compact form (RFC 7515), signed with Ed25519 (RFC 8037).
//!
//! Nothing of a token is negotiated: one algorithm, the service's own keys, and a type that distinguishes a pass from a
//! join token. A token has one text: another encoding of the same content is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jackpot_core::ids::{Id, PersonId};
use jackpot_core::signing::{KeyPair, PublicKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::definition::MAX_SESSION_S;
use super::ticket::Ticket;

/// Type of a pass: its holder may play.
pub const PASS: &str = "room-pass+jwt";
/// Type of a join token: it opens the waiting page.
pub const JOIN: &str = "join+jwt";

/// The algorithm (RFC 8037, 3.1).
const ALGORITHM: &str = "EdDSA";

/// Longer tokens are not ours and are not even hashed. Our longest token is a join token with an address.
pub const MAX_TOKEN_BYTES: usize = 6_144;

/// The claims of a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// `rooms.issuer`.
    pub iss: String,
    /// The room. Tokens of the waiting page have an audience that is not a room.
    pub aud: Id,
    /// The user.
    pub sub: PersonId,
    pub jti: Ticket,
    /// When it was made, in seconds of the room's time.
    pub iat: i64,
    /// When it expires, likewise: the end of the session.
    pub exp: i64,
}

/// Why a text is not a token of ours.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PassError {
    /// It has another form, or claims that our tokens do not have.
    #[error("it is not a token of this service")]
    Malformed,
    /// Another algorithm or another type.
    #[error("it has another algorithm or type")]
    OtherKind,
    /// No key of ours has this id.
    #[error("no key of this service has its kid")]
    UnknownKey,
    /// The key that it names did not sign it, or it was changed since.
    #[error("its signature does not match")]
    BadSignature,
    /// A stolen key makes no tokens once it is retired.
    #[error("its key was retired before it was made")]
    Retired,
    /// It is valid for longer than our tokens are.
    #[error("it is valid for longer than any token of this service")]
    TooLong,
}

/// The times of a token.
pub trait Timed {
    /// The longest from its `iat` to its `exp`, in seconds.
    const LONGEST_S: i64;

    /// Its `iat` and its `exp`; `None` for a token that ends with its ticket.
    fn times(&self) -> Option<(i64, i64)>;
}

impl Timed for Claims {
    // A session ends on a whole second, so it may be up to a second longer.
    const LONGEST_S: i64 = MAX_SESSION_S.cast_signed() + 1;

    fn times(&self) -> Option<(i64, i64)> {
        Some((self.iat, self.exp))
    }
}

/// The first part of a token. Other fields, `crit` among them, are refused.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    #[serde(borrow)]
    alg: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    typ: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    kid: std::borrow::Cow<'a, str>,
}

/// Makes a token of this type.
pub fn sign<C: Serialize>(key: &KeyPair, typ: &str, claims: &C) -> String {
    let header = Header {
        alg: ALGORITHM.into(),
        typ: typ.into(),
        kid: key.public().id().into(),
    };
    let mut token = String::with_capacity(512);
    encode(&header, &mut token);
    token.push('.');
    encode(claims, &mut token);
    let signature = key.sign(&token).signature;
    token.push('.');
    token.push_str(&signature);
    token
}

/// Reads the claims of a token of this type. `find`: our key with an id. It does not check times.
pub fn open<C: DeserializeOwned>(
    find: impl FnOnce(&str) -> Option<PublicKey>,
    typ: &str,
    token: &str,
) -> Result<C, PassError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(PassError::Malformed);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(PassError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(PassError::Malformed)?;
    let header = decode(header)?;
    let header: Header = serde_json::from_slice(&header).map_err(|_| PassError::Malformed)?;
    if header.alg != ALGORITHM || header.typ != typ {
        return Err(PassError::OtherKind);
    }
    let key = find(&header.kid).ok_or(PassError::UnknownKey)?;
    key.verify(signed, signature).map_err(|_| PassError::BadSignature)?;
    serde_json::from_slice(&decode(claims)?).map_err(|_| PassError::Malformed)
}

/// The key that a token names. It may be any text, because nothing of the token was checked.
pub fn key_of(token: &str) -> Result<String, PassError> {
    let (header, _) = token.split_once('.').ok_or(PassError::Malformed)?;
    let header = decode(header)?;
    let header: Header = serde_json::from_slice(&header).map_err(|_| PassError::Malformed)?;
    Ok(header.kid.into_owned())
}

fn encode<T: Serialize>(part: &T, token: &mut String) {
    let json = serde_json::to_vec(part).expect("plain data is JSON");
    URL_SAFE_NO_PAD.encode_string(json, token);
}

fn decode(part: &str) -> Result<Vec<u8>, PassError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| PassError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackpot_kernel::signing::SigningKeys;

    fn keys(digits: &str) -> SigningKeys {
        SigningKeys::load(&digits.repeat(32), std::path::Path::new("")).unwrap()
    }

    fn claims() -> Claims {
        Claims {
            iss: "jackpot".to_owned(),
            aud: Id::parse("lobby").unwrap(),
            sub: PersonId::parse("ann").unwrap(),
            jti: Ticket::parse(&"5f".repeat(16)).unwrap(),
            iat: 1_763_700_000,
            exp: 1_763_700_300,
        }
    }

    fn opened(token: &str) -> Result<Claims, PassError> {
        open(|id| keys("5f").find(id), PASS, token)
    }

    /// A token of any header and claims, well signed.
    fn forged(header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        format!("{signed}.{}", keys("5f").current().sign(&signed).signature)
    }

    #[test]
    fn a_pass_comes_back_as_it_went() {
        let token = sign(&keys("5f").current(), PASS, &claims());
        assert_eq!(opened(&token), Ok(claims()));
        assert_eq!(opened(&token), opened(&sign(&keys("5f").current(), PASS, &claims())));
    }

    #[test]
    fn another_key_type_or_text_is_refused() {
        let token = sign(&keys("5f").current(), PASS, &claims());
        assert_eq!(
            open::<Claims>(|id| keys("60").find(id), PASS, &token),
            Err(PassError::UnknownKey)
        );
        assert_eq!(
            open::<Claims>(|id| keys("5f").find(id), JOIN, &token),
            Err(PassError::OtherKind)
        );
        let join = sign(&keys("5f").current(), JOIN, &claims());
        assert_eq!(opened(&join), Err(PassError::OtherKind));
        // A key that calls itself by the id of ours.
        let own = keys("60").find(keys("60").current().public().id());
        assert_eq!(open::<Claims>(|_| own, PASS, &token), Err(PassError::BadSignature));
        for wrong in [
            format!("{}AAA", &token[..token.len() - 3]),
            format!("{token}."),
            format!("{token}A"),
            format!("{token}="),
            format!(" {token}"),
            token.replacen('.', "..", 1),
            token[1..].to_owned(),
            token.rsplit_once('.').unwrap().0.to_owned(),
            String::new(),
            "..".to_owned(),
            "x".repeat(MAX_TOKEN_BYTES + 1),
        ] {
            assert!(opened(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let token = sign(&keys("5f").current(), PASS, &claims());
        for at in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert!(opened(std::str::from_utf8(&bytes).unwrap()).is_err(), "character {at}");
        }
    }

    #[test]
    fn only_our_algorithm_and_no_other_fields() {
        let kid = keys("5f").current().public().id().to_owned();
        let good = format!(r#"{{"alg":"EdDSA","typ":"room-pass+jwt","kid":"{kid}"}}"#);
        let said = serde_json::to_string(&claims()).unwrap();
        assert_eq!(opened(&forged(&good, &said)), Ok(claims()));
        for (header, error) in [
            (good.replace("EdDSA", "none"), PassError::OtherKind),
            (good.replace("EdDSA", "HS256"), PassError::OtherKind),
            (good.replace("EdDSA", "eddsa"), PassError::OtherKind),
            (good.replace("room-pass+jwt", "JWT"), PassError::OtherKind),
            (good.replace("room-pass+jwt", "ROOM-PASS+JWT"), PassError::OtherKind),
            (good.replace('}', r#","crit":["exp"]}"#), PassError::Malformed),
            (good.replace('}', r#","alg":"EdDSA"}"#), PassError::Malformed),
            (good.replace(&kid, "x"), PassError::UnknownKey),
            ("{}".to_owned(), PassError::Malformed),
        ] {
            assert_eq!(opened(&forged(&header, &said)), Err(error), "{header}");
        }
        for wrong in [
            said.replace("1763700300", "1763700300.5"),
            said.replace("1763700300", "\"1763700300\""),
            said.replace('}', r#","nbf":0}"#),
            said.replace('}', r#","exp":9999999999}"#),
            said.replace("\"lobby\"", "[\"lobby\",\"other\"]"),
            said.replace("lobby", "join:lobby"),
            "{}".to_owned(),
        ] {
            assert_eq!(opened(&forged(&good, &wrong)), Err(PassError::Malformed), "{wrong}");
        }
    }
}
