//! The operator of an action, for events and the audit trail.

/// An operator and the request.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Name of the key.
    pub who: String,
    /// Who holds that key.
    pub owner: String,
    /// Id of the HTTP request.
    pub request_id: String,
}
