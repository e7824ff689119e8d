//! The validity period of a certificate. It is the only part of X.509 that a server must know of its own certificate
//! and that the TLS library does not give (RFC 5280, 4.1.2.5).

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
/// `[0]`, the element that holds the version.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Both ends are included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Validity {
    not_before: Timestamp,
    pub(super) not_after: Timestamp,
}

impl Validity {
    /// The validity of a certificate in DER.
    pub(super) fn of(certificate: &[u8]) -> Result<Validity, String> {
        find(certificate).ok_or_else(|| "holds no X.509 certificate".to_owned())
    }

    pub(super) fn check(&self, now: Timestamp) -> Result<(), String> {
        if now > self.not_after {
            return Err(format!(
                "the certificate expired at {}: put a new one in place",
                self.not_after
            ));
        }
        if now < self.not_before {
            return Err(format!("the certificate is valid only from {}", self.not_before));
        }
        Ok(())
    }
}

fn find(certificate: &[u8]) -> Option<Validity> {
    let (certificate, _) = expect(certificate, SEQUENCE)?;
    let (mut fields, _) = expect(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (validity, _) = expect(fields, SEQUENCE)?;
    let (kind, not_before, rest) = element(validity)?;
    let (other, not_after, _) = element(rest)?;
    Some(Validity {
        not_before: time(kind, not_before)?,
        not_after: time(other, not_after)?,
    })
}

/// The content of the first element, which must be of this kind, and the rest.
fn expect(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(bytes)?;
    (found == kind).then_some((content, rest))
}

/// Kind and content of the first element, and the rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, bytes) = bytes.split_first()?;
    let (&first, bytes) = bytes.split_first()?;
    let (length, bytes) = if first < 0x80 {
        (usize::from(first), bytes)
    } else {
        let (length, bytes) = bytes.split_at_checked(usize::from(first & 0x7f))?;
        if length.len() > 4 {
            return None;
        }
        let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        (length, bytes)
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((kind, content, rest))
}

/// `YYMMDDhhmmssZ` until 2049, `YYYYMMDDhhmmssZ` after it.
fn time(kind: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let text = match (kind, text.get(..2)?.parse::<u8>().ok()?) {
        (UTC_TIME, 50..) => format!("19{text}"),
        (UTC_TIME, _) => format!("20{text}"),
        (GENERALIZED_TIME, _) => text.to_owned(),
        _ => return None,
    };
    let at = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    // 99991231235959Z, "no end" (RFC 5280, 4.1.2.5), is later than any timestamp.
    Some(at.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |at| at.timestamp()))
}
