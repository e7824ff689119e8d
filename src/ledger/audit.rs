//! What operators did, as rows for people. Pure.

/// One action of an operator, or of the service in an operator's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Name of the key; `service` and `ledger` for what the service did by itself.
    pub who: String,
    /// What was done.
    pub action: &'static str,
    /// To what: the jackpot, with the adjustment where it is one.
    pub target: String,
    /// What was there, JSON.
    pub before: String,
    /// What is there now, JSON.
    pub after: String,
    /// Why, as the operator said.
    pub reason: String,
    /// Of the HTTP request.
    pub request_id: String,
}
