//! Who asked for what operators do: it stands in events and in the audit trail.

/// An operator and the request.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Name of the key.
    pub who: String,
    /// Of the HTTP request.
    pub request_id: String,
}
