//! The operator of an action, for events and the audit trail.

/// An operator and the request.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Name of the key.
    pub who: String,
    /// Who holds that key.
    pub owner: String,
    /// Id of the HTTP request; empty for none.
    pub request_id: String,
}

impl Operator {
    /// What the service does by itself.
    pub fn service() -> Self {
        Self {
            who: "service".to_owned(),
            owner: "service".to_owned(),
            request_id: String::new(),
        }
    }
}
