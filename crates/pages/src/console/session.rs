//! A session: a cookie that names a key and a time, signed with a key that all instances derive from the master secret.
//! So a session holds on every instance, and none keeps a list of sessions. It ends with its time, with its key, or when
//! its operator signs out ([`super::signed_out`]).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jackpot_core::secret::{MasterSecret, Secrets};
use jiff::Timestamp;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use jackpot_kernel::random::{self, RandomError};

/// How long a session lasts: a working day.
pub const LASTS: Duration = Duration::from_hours(8);

/// How long a page says what was done: a browser follows at once.
const FLASH_LASTS_S: i64 = 60;

const ID_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const MAC_BYTES: usize = 32;
const SIGNED_BYTES: usize = ID_BYTES + KEY_BYTES + TIME_BYTES;

/// The first bytes of the SHA-256 of a key's text. They name the key, and open nothing.
pub const KEY_BYTES: usize = 16;

/// What a cookie says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: [u8; ID_BYTES],
    pub key: [u8; KEY_BYTES],
    pub until: Timestamp,
}

/// Signs and reads tokens.
#[derive(Clone)]
pub struct Sessions {
    secrets: Secrets,
}

impl Sessions {
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets }
    }

    /// A new session of this key, and the text of its cookie.
    pub fn open(&self, key: [u8; KEY_BYTES], now: Timestamp) -> Result<(Token, String), RandomError> {
        let until = now + jiff::SignedDuration::try_from(LASTS).unwrap_or(jiff::SignedDuration::ZERO);
        let token = Token {
            id: random::bytes()?,
            key,
            // Whole seconds are what the cookie says.
            until: Timestamp::from_second(until.as_second()).unwrap_or(now),
        };
        let signed = token.signed();
        let mac = mac(self.secrets.current(), b"token", &signed);
        let text = URL_SAFE_NO_PAD.encode([signed.as_slice(), &mac].concat());
        Ok((token, text))
    }

    /// The session of a cookie's text, unless it is over. A secret that was just changed still counts.
    pub fn read(&self, text: &str, now: Timestamp) -> Option<Token> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (signed, sent) = bytes.split_at_checked(SIGNED_BYTES)?;
        let is_ours = |secret| bool::from(mac(secret, b"token", signed).as_slice().ct_eq(sent));
        if sent.len() != MAC_BYTES || !self.secrets.iter().any(is_ours) {
            return None;
        }
        let token = Token::parse(signed)?;
        (now < token.until).then_some(token)
    }

    /// What a form of this session must send, so that no other site can send it.
    pub fn form_token(&self, id: &[u8]) -> String {
        hex::encode(&mac(self.secrets.current(), b"form", id)[..16])
    }

    /// Whether a form sent the token of this session.
    pub fn is_form_token(&self, id: &[u8], sent: &str) -> bool {
        let is = |secret| {
            let wanted = hex::encode(&mac(secret, b"form", id)[..16]);
            bool::from(wanted.as_bytes().ct_eq(sent.as_bytes()))
        };
        self.secrets.iter().any(is)
    }

    /// The name of a text with a time and a signature: the page after an action of this session shows the text.
    pub fn flash(&self, id: &[u8], name: &str, now: Timestamp) -> String {
        let signed = format!("{name}.{}", now.as_second());
        let mac = flash_mac(self.secrets.current(), id, &signed);
        format!("{signed}.{mac}")
    }

    /// The name in such a text, if this session made it lately.
    pub fn read_flash<'t>(&self, id: &[u8], text: &'t str, now: Timestamp) -> Option<&'t str> {
        let (signed, sent) = text.rsplit_once('.')?;
        let (name, at) = signed.rsplit_once('.')?;
        let age = now.as_second().checked_sub(at.parse().ok()?)?;
        let is = |secret| bool::from(flash_mac(secret, id, signed).as_bytes().ct_eq(sent.as_bytes()));
        ((0..FLASH_LASTS_S).contains(&age) && self.secrets.iter().any(is)).then_some(name)
    }
}

fn flash_mac(secret: &MasterSecret, id: &[u8], signed: &str) -> String {
    let text = [id, signed.as_bytes()].concat();
    hex::encode(&mac(secret, b"flash", &text)[..16])
}

impl Token {
    /// The session as text, for lists.
    pub fn name(&self) -> String {
        hex::encode(self.id)
    }

    fn signed(&self) -> Vec<u8> {
        [self.id.as_slice(), &self.key, &self.until.as_second().to_be_bytes()].concat()
    }

    fn parse(signed: &[u8]) -> Option<Self> {
        let (id, rest) = signed.split_first_chunk::<ID_BYTES>()?;
        let (key, rest) = rest.split_first_chunk::<KEY_BYTES>()?;
        let (until, _) = rest.split_first_chunk::<TIME_BYTES>()?;
        Some(Self {
            id: *id,
            key: *key,
            until: Timestamp::from_second(i64::from_be_bytes(*until)).ok()?,
        })
    }
}

fn mac(secret: &MasterSecret, purpose: &[u8], text: &[u8]) -> [u8; MAC_BYTES] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).expect("any length of key is right");
    mac.update(b"console-session\n");
    mac.update(purpose);
    mac.update(b"\n");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(byte: u8) -> Sessions {
        Sessions::new(MasterSecret::new([byte; 32]).into())
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_700_000_000).unwrap()
    }

    #[test]
    fn what_was_done_is_said_to_its_session_for_a_minute() {
        let (sessions, id) = (sessions(1), [3; ID_BYTES]);
        let text = sessions.flash(&id, "done-pause", now());
        assert_eq!(sessions.read_flash(&id, &text, now()), Some("done-pause"));
        let later = |seconds| Timestamp::from_second(now().as_second() + seconds).unwrap();
        assert_eq!(sessions.read_flash(&id, &text, later(60)), None);
        assert_eq!(sessions.read_flash(&[4; ID_BYTES], &text, now()), None);
        for forged in ["done-pause", "done-pause.1", &text.replace("pause", "close")] {
            assert_eq!(sessions.read_flash(&id, forged, now()), None, "{forged}");
        }
    }

    #[test]
    fn a_session_is_read_until_its_end() {
        let sessions = sessions(1);
        let (token, text) = sessions.open([7; KEY_BYTES], now()).unwrap();
        assert_eq!(sessions.read(&text, now()), Some(token.clone()));
        assert_eq!(token.until.as_second() - now().as_second(), 8 * 3600);
        assert_eq!(sessions.read(&text, token.until), None);
        let (_, other) = sessions.open([7; KEY_BYTES], now()).unwrap();
        assert_ne!(text, other);
    }

    #[test]
    fn what_was_changed_or_signed_by_another_is_no_session() {
        let (_, text) = sessions(1).open([7; KEY_BYTES], now()).unwrap();
        assert_eq!(sessions(2).read(&text, now()), None);
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(
                sessions(1).read(&URL_SAFE_NO_PAD.encode(changed), now()),
                None,
                "{index}"
            );
        }
        for wrong in ["", "x", &text[1..], &format!("{text}AAAA")] {
            assert_eq!(sessions(1).read(wrong, now()), None, "{wrong}");
        }
    }

    #[test]
    fn a_session_outlives_a_change_of_the_secret() {
        let (_, text) = sessions(1).open([7; KEY_BYTES], now()).unwrap();
        let after = Sessions::new(Secrets::new(MasterSecret::new([2; 32]), [MasterSecret::new([1; 32])]));
        assert!(after.read(&text, now()).is_some());
        assert!(after.is_form_token(b"id", &sessions(1).form_token(b"id")));
    }

    #[test]
    fn a_form_token_is_of_one_session() {
        let sessions = sessions(1);
        let token = sessions.form_token(b"one");
        assert!(sessions.is_form_token(b"one", &token));
        for (id, sent) in [(b"two".as_slice(), token.as_str()), (b"one", ""), (b"one", &token[1..])] {
            assert!(!sessions.is_form_token(id, sent));
        }
    }
}
