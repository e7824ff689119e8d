//! Addresses of pages and of the API. Ids from anywhere are escaped, so that no id leads elsewhere.

use std::fmt::Write as _;

use url::form_urlencoded;

/// The page of the emergency stop.
pub const EMERGENCY: &str = "/console/emergency-stop";

/// A part of a path.
pub fn part(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && text.len() > 2) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a text never fails.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// `path` with a query of these parameters; empty ones are left out.
pub fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    match query.finish().as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

pub fn jackpot(id: &str) -> String {
    format!("/console/jackpots/{}", part(id))
}

/// What the jackpot has given to others.
pub fn transfers(id: &str) -> String {
    format!("{}/transfers", jackpot(id))
}

/// What waits for a second owner.
pub fn held(id: &str) -> String {
    format!("{}/held", jackpot(id))
}

/// A step of it: approve or withdraw. `kind`: `adjustments` or `transfers`.
pub fn held_step(id: &str, kind: &str, move_id: &str, step: &str) -> String {
    format!("{}/{kind}/{}/{step}", held(id), part(move_id))
}

pub fn jackpot_api(id: &str) -> String {
    format!("/v1/jackpots/{}", part(id))
}

pub fn payout(id: &str) -> String {
    format!("/console/payouts/{}", part(id))
}

/// A step of a payout: approve, settle, fail or void.
pub fn payout_step(id: &str, step: &str) -> String {
    format!("{}/{step}", payout(id))
}

/// The payouts that wait for an approval.
pub const HELD: &str = "/console/payouts?state=held";

pub fn entry(jackpot: &str, entry: &str) -> String {
    format!("{}/entries/{}", self::jackpot(jackpot), part(entry))
}

pub fn entries_of(player: &str) -> String {
    with_query("/console/entries", &[("player_id", player)])
}

pub fn subscription(id: &str) -> String {
    format!("/console/subscriptions/{}", part(id))
}

pub fn coupon(id: &str) -> String {
    format!("/console/coupons/{}", part(id))
}

/// The page that compares Redis with the ledger. `kind`: `jackpot`, `coupon` or `room`.
pub fn compared(kind: &str, id: &str) -> String {
    format!("/console/ledger/{}/{}", part(kind), part(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_part_of_a_path() {
        assert_eq!(part("spring-2.b_c"), "spring-2.b_c");
        assert_eq!(part("a/../b?c#d"), "a%2F..%2Fb%3Fc%23d");
        assert_eq!(part(".."), "%2E%2E");
        assert_eq!(part("e:0"), "e%3A0");
    }

    #[test]
    fn empty_parameters_are_left_out() {
        assert_eq!(with_query("/x", &[("a", ""), ("b", "1&2")]), "/x?b=1%262");
        assert_eq!(with_query("/x", &[("a", "")]), "/x");
    }
}
