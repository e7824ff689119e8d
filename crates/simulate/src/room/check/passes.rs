//! The passes that users were given.

use crate::room::answer::Session;
use crate::room::evidence::Evidence;
use crate::room::pass::{self, Key};
use crate::room::plan::user_id;

/// Each is of its room, user, ticket and session, and signed with a key that is published.
pub fn are_right(evidence: &Evidence) -> Result<String, String> {
    let keys = match &evidence.keys {
        Ok(keys) => keys,
        Err(why) => return Err(format!("/v1/keys: {why}")),
    };
    let (mut passes, mut issuer) = (0, None);
    for visit in &evidence.visits {
        let id = user_id(visit.user.number);
        let first = visit.admission.as_ref().map(|admission| &admission.session);
        for session in first.into_iter().chain(visit.renewed()) {
            let expected = (
                evidence.plan.room_id.as_str(),
                id.as_str(),
                visit.ticket().unwrap_or_default(),
            );
            match check(keys, session, expected) {
                Err(wrong) => return Err(format!("the pass of {id}: {wrong}")),
                Ok(iss) if issuer.get_or_insert_with(|| iss.clone()) != &iss => {
                    return Err(format!("the pass of {id} is of another issuer: {iss}"));
                }
                Ok(_) => passes += 1,
            }
        }
    }
    Ok(format!("{passes} passes"))
}

/// Its issuer, when all else is right.
fn check(keys: &[Key], session: &Session, expected: (&str, &str, &str)) -> Result<String, String> {
    let claims = pass::open(keys, &session.pass)?;
    let (aud, sub, jti) = expected;
    for (name, has, expected) in [
        ("aud", &claims.aud, aud),
        ("sub", &claims.sub, sub),
        ("jti", &claims.jti, jti),
    ] {
        if has != expected {
            return Err(format!("its {name} is {has}, not {expected}"));
        }
    }
    let expires_s = session.expires_ms / 1_000;
    if claims.exp != expires_s {
        return Err(format!("its exp is {}, the session ends at {expires_s}", claims.exp));
    }
    if claims.iat < session.admitted_ms / 1_000 || claims.iat > claims.exp {
        return Err(format!("its iat is {}, its exp {}", claims.iat, claims.exp));
    }
    Ok(claims.iss)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::room::check::fixture::{self, found};

    /// The first user with a pass gets another one, with these claims changed.
    fn sign(evidence: &mut Evidence, key: u8, typ: &str, change: impl FnOnce(&mut Value)) {
        let user = fixture::first(evidence, |visit| visit.admission.is_some());
        let pass = fixture::session(evidence, user).pass.clone();
        let claims = pass::open(evidence.keys.as_deref().expect("keys"), &pass).expect("an honest one");
        let mut claims = json!({"iss": claims.iss, "aud": claims.aud, "sub": claims.sub, "jti": claims.jti,
            "iat": claims.iat, "exp": claims.exp});
        change(&mut claims);
        fixture::session(evidence, user).pass = pass::tests::signed(key, typ, &claims).into();
    }

    #[test]
    fn a_pass_with_any_other_claim_is_found() {
        for (name, value) in [
            ("aud", json!("other")),
            ("sub", json!("u999")),
            ("jti", json!("t999")),
            ("exp", json!(1_900_000_000)),
            ("iat", json!(1_700_000_000)),
            ("iss", json!("somebody")),
        ] {
            found("passes", "", "", |evidence| {
                sign(evidence, 7, pass::TYPE, |claims| claims[name] = value);
            });
        }
    }

    #[test]
    fn a_pass_of_another_kind_or_key_is_found_and_a_service_without_keys() {
        for (key, typ) in [(8, pass::TYPE), (7, "join+jwt"), (7, "JWT")] {
            found("passes", "", "", |evidence| sign(evidence, key, typ, |_| {}));
        }
        found("passes", "", "no such route", |evidence| {
            evidence.keys = Err("no such route".to_owned());
        });
    }
}
