//! How long sessions last, and how many begin in a minute.

use crate::room::answer::How;
use crate::room::evidence::{Evidence, Renewal, Visit};
use crate::room::pass;
use crate::room::plan::user_id;

const MINUTE_MS: i64 = 60_000;
const MINUTE_US: u64 = 60_000_000;
/// Sessions end on whole seconds.
const SECOND_MS: i64 = 1_000;

/// Each ends at the first whole second after the length of a session, counted from its beginning or its renewal. A session
/// that expired ended then.
pub fn end_as_answered(evidence: &Evidence) -> Result<String, String> {
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
                session.admitted_ms, session.expires_ms, evidence.plan.options.session_s
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
            // The pass is made as the session is renewed, in the second that it says.
            let made_s = pass::claims(&longer.pass)?.iat;
            let spare_s = longer.expires_ms / SECOND_MS - made_s - i64::from(evidence.plan.options.session_s);
            if !(0..=1).contains(&spare_s) {
                return Err(format!(
                    "{id} renewed its session in second {made_s}, and it ends at {} ms",
                    longer.expires_ms
                ));
            }
            if longer.admitted_ms != session.admitted_ms {
                return Err(format!("{id} renewed its session, and was admitted at another time"));
            }
            renewed += 1;
        }
        ended_in_time(visit).map_err(|wrong| format!("{id} {wrong}"))?;
    }
    Ok(format!("{sessions} sessions, {renewed} of them renewed"))
}

fn ended_in_time(visit: &Visit) -> Result<(), String> {
    if visit.renewal == Some(Renewal::Refused { is_in: true }) {
        return Err("could not renew, and was still in after that".to_owned());
    }
    let (Some(ended), Some(session)) = (visit.end(), visit.session()) else {
        return Ok(());
    };
    let end_ms = session.expires_ms;
    match ended.how {
        How::Expired if ended.at_ms != end_ms => {
            Err(format!("expired at {} ms, its answer said {end_ms} ms", ended.at_ms))
        }
        How::Abandoned => Err("was admitted, and is abandoned".to_owned()),
        _ => Ok(()),
    }
}

/// Two admissions that are a rate apart are more than a minute apart. The count of the room, which has also the admissions
/// without an answer, grows by no more than the rate between two looks within a minute.
pub fn rate_is_kept(evidence: &Evidence) -> Result<String, String> {
    let Some(rate) = evidence.plan.options.rate else {
        return Ok("the room has no rate".to_owned());
    };
    let samples = evidence.samples.iter();
    let samples: Vec<Look> = samples
        .map(|one| (one.sent_us, one.answered_us, one.admitted))
        .collect();
    let shown = evidence.shown.iter();
    let shown: Vec<Look> = shown
        .map(|one| (one.sent_us, one.answered_us, one.counts.admitted))
        .collect();
    grows_by_no_more(&samples, rate.into())?;
    grows_by_no_more(&shown, rate.into())?;
    let admitted = evidence.visits.iter().filter_map(|visit| visit.admission.as_ref());
    let mut admitted_ms: Vec<i64> = admitted.map(|admission| admission.session.admitted_ms).collect();
    admitted_ms.sort_unstable();
    for (earlier, later) in admitted_ms.iter().zip(admitted_ms.iter().skip(rate as usize)) {
        if later - earlier <= MINUTE_MS {
            let ms = later - earlier;
            return Err(format!(
                "{} were admitted within {ms} ms, the rate is {rate}",
                u64::from(rate) + 1
            ));
        }
    }
    Ok(format!("{} admissions at {rate} in a minute", admitted_ms.len()))
}

/// The times of the question and the answer, and all admissions until then.
type Look = (u64, u64, u64);

fn grows_by_no_more(looks: &[Look], rate: u64) -> Result<(), String> {
    let mut earlier = looks.iter().peekable();
    for (_, answered_us, admitted) in looks {
        let is_before = |sent_us: &u64| answered_us.saturating_sub(*sent_us) > MINUTE_US;
        while earlier.next_if(|(sent_us, ..)| is_before(sent_us)).is_some() {}
        if let Some((sent_us, _, before)) = earlier.peek()
            && admitted.saturating_sub(*before) > rate
        {
            let (more, ms) = (admitted - before, (answered_us - sent_us) / 1_000);
            return Err(format!(
                "{more} were admitted within {ms} ms by the room's count, the rate is {rate}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::check::fixture::{self, found};
    use crate::room::plan::Part;

    fn with(evidence: &Evidence, part: Part) -> usize {
        fixture::first(evidence, |visit| visit.admission.is_some() && visit.user.part == part)
    }

    #[test]
    fn a_session_that_is_too_short_too_long_or_ends_in_between_is_found() {
        for by_ms in [-1_000, 1_000, 1] {
            found("sessions", "", "", |evidence| {
                let user = with(evidence, Part::Visit);
                fixture::session(evidence, user).expires_ms += by_ms;
            });
        }
    }

    #[test]
    fn a_renewal_that_does_not_renew_is_found() {
        let mut evidence = fixture::honest("");
        let user = with(&evidence, Part::Renew);
        let session = fixture::session(&mut evidence, user).clone();
        evidence.visits[user].renewal = Some(Renewal::Longer(session));
        assert!(end_as_answered(&evidence).is_err(), "no longer than before");
        let mut evidence = fixture::honest("");
        evidence.visits[user].renewal = Some(Renewal::Refused { is_in: false });
        assert!(end_as_answered(&evidence).is_ok(), "its session was over");
        evidence.visits[user].renewal = Some(Renewal::Refused { is_in: true });
        assert!(end_as_answered(&evidence).is_err(), "refused in its session");
    }

    #[test]
    fn a_renewal_for_less_or_more_than_a_session_is_found() {
        for by_s in [-4, -1, 2] {
            found("sessions", "--session-s 10", "in second", |evidence| {
                let user = with(evidence, Part::Renew);
                let mut longer = evidence.visits[user].renewed().expect("it was renewed").clone();
                longer.expires_ms += by_s * 1_000;
                evidence.visits[user].renewal = Some(Renewal::Longer(longer));
            });
        }
    }

    #[test]
    fn a_session_that_ended_early_is_found() {
        for (how, early_ms) in [(How::Expired, 1_000), (How::Abandoned, 0)] {
            found("sessions", "", "", |evidence| {
                let user = with(evidence, Part::Die);
                let end_ms = fixture::session(evidence, user).expires_ms;
                fixture::end(evidence, user, how, end_ms - early_ms);
            });
        }
    }

    #[test]
    fn one_more_than_the_rate_is_found() {
        let mut evidence = fixture::honest("--abandon 0");
        assert!(rate_is_kept(&evidence).is_ok(), "there is none");
        let admitted = evidence.visits.iter().filter(|visit| visit.admission.is_some()).count();
        evidence.plan.options.rate = u32::try_from(admitted).ok();
        assert!(rate_is_kept(&evidence).is_ok());
        evidence.plan.options.rate = u32::try_from(admitted - 1).ok();
        assert!(rate_is_kept(&evidence).is_err());
    }

    #[test]
    fn one_more_than_the_rate_without_an_answer_is_found() {
        let most = |evidence: &Evidence| evidence.samples.iter().map(|sample| sample.admitted).max();
        for doctor in [
            |evidence: &mut Evidence| evidence.shown.clear(),
            |evidence: &mut Evidence| evidence.samples.clear(),
        ] {
            let mut evidence = fixture::honest("--abandon 0 --late 0");
            let rate = u32::try_from(most(&evidence).expect("samples")).expect("few");
            for visit in &mut evidence.visits {
                visit.admission = None;
            }
            doctor(&mut evidence);
            evidence.plan.options.rate = Some(rate);
            assert!(rate_is_kept(&evidence).is_ok());
            evidence.plan.options.rate = Some(rate - 1);
            let detail = rate_is_kept(&evidence).expect_err("one more");
            assert!(detail.contains("by the room's count"), "{detail}");
        }
    }

    #[test]
    fn a_minute_is_over_when_more_than_a_minute_has_passed() {
        let minute = |us: u64| grows_by_no_more(&[(0, 10, 5), (MINUTE_US - 90, MINUTE_US + us, 8)], 2);
        assert!(minute(0).is_err());
        assert!(minute(1).is_ok());
        let mut evidence = fixture::honest("--users 40 --capacity 1 --late 0");
        evidence.samples.clear();
        evidence.shown.clear();
        evidence.plan.options.rate = Some(1);
        let detail: Vec<usize> = (0..40)
            .filter(|user| evidence.visits[*user].admission.is_some())
            .collect();
        for (number, user) in (0..).zip(&detail) {
            fixture::session(&mut evidence, *user).admitted_ms = number * (MINUTE_MS + 1);
        }
        assert!(rate_is_kept(&evidence).is_ok());
        fixture::session(&mut evidence, detail[1]).admitted_ms -= 1;
        assert!(rate_is_kept(&evidence).is_err());
    }
}
