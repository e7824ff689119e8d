//! Reasons of actions whose events have none, such as a change of a definition. They are in a table of their own, by the
//! id of the request and the name of the key. `GET /v1/audit` shows them where the event has no reason
//! (`ledger::queries::audit`).

use jackpot_core::text::Reason;

use super::Desk;
use super::action::REASON;
use jackpot_kernel::http::problem::{FieldError, Problem, ProblemBody};
use jackpot_kernel::keys::Role;
use jackpot_kernel::telemetry::request;

impl Desk {
    /// Keeps the reason of the actions that this request is about to do, so that none is done without one. A repeat of
    /// the request changes nothing.
    /// Errors: as the API refuses: 422 for a text that is no reason, beside the field [`REASON`]; 403 for a key that may not
    /// operate; 503 while SQL is away. The same 422 for a request id of the client's own that has another reason.
    pub async fn keep_reason(&self, reason: &str) -> Result<(), ProblemBody> {
        self.keep(reason).await.map_err(|problem| problem.body())
    }

    async fn keep(&self, reason: &str) -> Result<(), Problem> {
        if !self.may_operate() {
            let (needed, own) = (Role::Operate, self.session.caller.role());
            let text = format!("this needs a key with the role {needed}; yours has {own}");
            return Err(Problem::forbidden(text));
        }
        let wrong = |rule: jackpot_core::text::InvalidText| {
            Problem::invalid_request(vec![FieldError::new(REASON, rule.to_string())])
        };
        let reason = Reason::parse(reason).map_err(wrong)?;
        let id = request::id().ok_or_else(Problem::internal)?;
        // What the trail once showed never changes, also not by a client that sends an old request id.
        let add = "INSERT INTO console_reasons (request_id, who, reason) VALUES ($1, $2, $3) ON CONFLICT (request_id, who) \
                   DO UPDATE SET reason = console_reasons.reason WHERE console_reasons.reason = excluded.reason";
        let add = sqlx::query(add)
            .bind(id.to_string())
            .bind(self.session.caller.name())
            .bind(reason.as_str());
        if self.console.sql.execute(add).await? == 0 {
            let rule = "has another reason already: send another request id, or none";
            return Err(Problem::invalid_request(vec![FieldError::new("X-Request-Id", rule)]));
        }
        Ok(())
    }
}
