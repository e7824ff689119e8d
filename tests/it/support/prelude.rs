//! What nearly every test needs: the service and its answers, waiting, JSON, the ledger's databases.

pub use reqwest::{Method, StatusCode};
pub use serde_json::{Value, json};

pub use super::answer::{Answer, Ended, Says};
pub(crate) use super::answer::{assert_answer, assert_has};
pub use super::http_client;
pub use super::ledger_db::LedgerDb;
pub(crate) use super::ledger_db::on_both_databases;
pub use super::local::own_redis;
pub use super::redis::TestRedis;
pub use super::service::{Service, service_on};
pub use super::wait::{PATIENCE, eventually};
