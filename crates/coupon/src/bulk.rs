//! Many requests of one upload, in calls of some hundreds.

use jackpot_core::ids::Id;

use super::asking::Cause;
use super::code::Code;
use super::coupons::{Coupons, Request, answered, of_user};
use super::error::CouponError;
use super::metadata::Asker;
use super::scripts::{Ask, Mode};
use jackpot_kernel::combiner::MAX_BATCH;

/// Most requests of one call: as many as the combiner sends, so that an upload does not make others wait longer for
/// Redis.
pub const MAX_BULK: usize = MAX_BATCH;

impl Coupons {
    /// Decides requests in their order, as if they came one by one, each with its own answer. While others are in the
    /// queue, new ones join it.
    ///
    /// # Errors
    /// A failure of the whole call. The result of each request is unknown, and repeating them is safe.
    ///
    /// # Panics
    /// When there are none, or more than [`MAX_BULK`].
    pub async fn issue_all(
        &self,
        id: &Id,
        wishes: &[(Id, Asker)],
    ) -> Result<Vec<Result<Request, CouponError>>, CouponError> {
        assert!(
            (1..=MAX_BULK).contains(&wishes.len()),
            "1 to {MAX_BULK} requests a call"
        );
        let known = self.registry.known(id);
        known.whole()?;
        if let Some(refusal) = self.busy(&known) {
            return Err(refusal);
        }
        let ask = |(request_id, user): &(Id, Asker)| {
            Ok::<_, CouponError>(Ask {
                request_id: request_id.as_str().to_owned(),
                user: user.clone(),
                code: Code::random()?,
                mode: Mode::Now,
            })
        };
        let asks = wishes.iter().map(ask).collect::<Result<Vec<_>, _>>()?;
        let told = self.asking(&known).ask_all(Cause::New, &asks).await?;
        let (mut joined, mut requests) = (false, Vec::with_capacity(wishes.len()));
        for (ask, told) in asks.into_iter().zip(told) {
            let request_id = ask.request_id.clone();
            let answer = told
                .map_err(CouponError::from)
                .and_then(|(reply, refusal)| answered(ask.request_id, reply, refusal));
            let answer = match answer {
                // Its records are gone: the ledger has its issues.
                Err(CouponError::Ended) => self.kept(id, &request_id).await?.ok_or(CouponError::Ended),
                Err(CouponError::Emergency(_)) => Err(self.stopped(&known).await),
                other => other,
            };
            let request = answer.and_then(|request| of_user(request, &ask.user));
            joined |= request.as_ref().is_ok_and(Request::is_in_line);
            requests.push(self.counted(id, request));
        }
        if joined {
            self.bell.ring(id);
        }
        Ok(requests)
    }
}
