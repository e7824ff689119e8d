//! How long sessions last, and how many begin in a minute.

use crate::simulate::rooms::answer::How;
use crate::simulate::rooms::evidence::{Evidence, Renewal, Visit};
use crate::simulate::rooms::plan::user_id;

const MINUTE_MS: i64 = 60_000;
/// Sessions end on whole seconds.
const SECOND_MS: i64 = 1_000;

/// Each ends at the first whole second that is at least a session behind its beginning; a renewed one at a later one;
/// and one that ended by itself ended then.
pub fn last_as_told(evidence: &Evidence) -> Result<String, String> {
    let (mut sessions, mut renewed) = (0, 0);
    for visit in &evidence.visits {
        let Some(admission) = &visit.admission else {
            continue;
        };
        let id = user_id(visit.user.number);
        let session = &admission.session;
        let length_ms = session.expires_ms - session.admitted_ms - evidence.plan.session_ms();
        if session.expires_ms % SECOND_MS != 0 || !(0..SECOND_MS).contains(&length_ms) {
            return Err(format!(
                "{id} was admitted at {} ms until {} ms, a session is {} s",
                session.admitted_ms, session.expires_ms, evidence.plan.session_s
            ));
        }
        sessions += 1;
        if let Some(longer) = visit.renewed() {
            if longer.expires_ms <= session.expires_ms || longer.expires_ms % SECOND_MS != 0 {
                return Err(format!(
                    "{id} renewed its session until {} ms, it ends at {} ms",
                    session.expires_ms, longer.expires_ms
                ));
            }
            if longer.admitted_ms != session.admitted_ms {
                return Err(format!("{id} renewed its session, and was admitted at another time"));
            }
            renewed += 1;
        }
        ended_as_told(visit).map_err(|told| format!("{id} {told}"))?;
    }
    Ok(format!("{sessions} sessions, {renewed} of them renewed"))
}

fn ended_as_told(visit: &Visit) -> Result<(), String> {
    let (Some(ended), Some(session)) = (visit.end(), visit.session()) else {
        return Ok(());
    };
    let told_ms = session.expires_ms;
    match ended.how {
        How::Expired if ended.at_ms != told_ms => Err(format!("expired at {} ms, told was {told_ms} ms", ended.at_ms)),
        How::Abandoned => Err("was admitted, and is abandoned".to_owned()),
        _ if visit.renewal == Some(Renewal::Refused) && ended.at_ms < told_ms => {
            Err(format!("was not let renew, but was in until {} ms", ended.at_ms))
        }
        _ => Ok(()),
    }
}

/// Of any admissions that are a rate apart the later is at least a minute behind.
pub fn rate_is_kept(evidence: &Evidence) -> Result<String, String> {
    let Some(rate) = evidence.plan.rate else {
        return Ok("the room has no rate".to_owned());
    };
    let admitted = evidence.visits.iter().filter_map(|visit| visit.admission.as_ref());
    let mut admitted_ms: Vec<i64> = admitted.map(|admission| admission.session.admitted_ms).collect();
    admitted_ms.sort_unstable();
    for (earlier, later) in admitted_ms.iter().zip(admitted_ms.iter().skip(rate as usize)) {
        if later - earlier < MINUTE_MS {
            let ms = later - earlier;
            return Err(format!(
                "{} were admitted within {ms} ms, the rate is {rate}",
                u64::from(rate) + 1
            ));
        }
    }
    Ok(format!("{} admissions at {rate} in a minute", admitted_ms.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::rooms::check::fixture;
    use crate::simulate::rooms::plan::Part;

    fn with(evidence: &Evidence, part: Part) -> usize {
        fixture::first(evidence, |visit| visit.admission.is_some() && visit.user.part == part)
    }

    #[test]
    fn a_session_that_is_too_short_too_long_or_ends_in_between_is_found() {
        for by_ms in [-1_000, 1_000, 1] {
            let mut evidence = fixture::honest("");
            let user = with(&evidence, Part::Visit);
            fixture::session(&mut evidence, user).expires_ms += by_ms;
            assert!(last_as_told(&evidence).is_err(), "{by_ms}");
        }
    }

    #[test]
    fn a_renewal_that_does_not_renew_is_found() {
        let mut evidence = fixture::honest("");
        let user = with(&evidence, Part::Renew);
        let session = fixture::session(&mut evidence, user).clone();
        evidence.visits[user].renewal = Some(Renewal::Longer(session));
        assert!(last_as_told(&evidence).is_err(), "no longer than before");
        let mut evidence = fixture::honest("");
        evidence.visits[user].renewal = Some(Renewal::Refused);
        let told = fixture::session(&mut evidence, user).expires_ms;
        fixture::end(&mut evidence, user, How::Left, told - 1);
        assert!(last_as_told(&evidence).is_err(), "refused in its session");
    }

    #[test]
    fn a_session_that_ended_early_is_found() {
        let mut evidence = fixture::honest("");
        let user = with(&evidence, Part::Die);
        let told_ms = fixture::session(&mut evidence, user).expires_ms;
        fixture::end(&mut evidence, user, How::Expired, told_ms - 1_000);
        assert!(last_as_told(&evidence).is_err());
        fixture::end(&mut evidence, user, How::Abandoned, told_ms);
        assert!(last_as_told(&evidence).is_err());
    }

    #[test]
    fn one_more_than_the_rate_is_found() {
        let mut evidence = fixture::honest("");
        assert!(rate_is_kept(&evidence).is_ok(), "there is none");
        let admitted = evidence.visits.iter().filter(|visit| visit.admission.is_some()).count();
        evidence.plan.rate = u32::try_from(admitted).ok();
        assert!(rate_is_kept(&evidence).is_ok());
        evidence.plan.rate = u32::try_from(admitted - 1).ok();
        assert!(rate_is_kept(&evidence).is_err());
    }
}
