//! Maps the errors of subscriptions to problems: the only place that gives them a status.

use super::api::wrong;
use super::store::StoreError;
use jackpot_kernel::http::code::Code;
use jackpot_kernel::http::problem::Problem;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Sql(error) => error.into(),
            StoreError::NotFound(_) => Problem::new(Code::SubscriptionNotFound, error.to_string()),
            StoreError::TooMany => Problem::new(Code::TooManySubscriptions, error.to_string()),
            StoreError::NoSubject => wrong("subject", error.to_string()),
            StoreError::Beyond(_) => wrong("from_n", error.to_string()),
            StoreError::NotNext(_) => Problem::new(Code::NotNext, error.to_string()),
            StoreError::Random(error) => {
                tracing::error!(%error, "internal error");
                Problem::internal()
            }
        }
    }
}
