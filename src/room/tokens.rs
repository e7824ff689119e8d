//! Tokens made and opened with the keys of the service: this instance's own, and those of the others, which the ledger has.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::pass::{self, Claims, PassError};
use super::ticket::Ticket;
use crate::ids::Id;
use crate::ledger::sql::Sql;
use crate::signing::{PublicKey, SigningKeys, published};

/// Between two looks for keys that this instance does not know: whoever makes up names of keys makes the database work
/// once a second.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a token waits for the database before it is not decided.
const WAIT: Duration = Duration::from_secs(1);

/// Makes and opens tokens.
#[derive(Debug)]
pub struct Tokens {
    issuer: String,
    signing: Arc<SigningKeys>,
    sql: Sql,
    /// Public keys of the ledger that were asked for, by their ids.
    others: RwLock<HashMap<String, PublicKey>>,
    /// When the ledger was last asked, and what it said to that.
    asked: Mutex<Option<(Instant, Result<(), String>)>>,
}

/// Why a token says nothing.
#[derive(Debug, Error)]
pub enum TokenError {
    /// It is none of ours.
    #[error(transparent)]
    Refused(#[from] PassError),
    /// It may be that of another instance, whose keys can't be read now.
    #[error("the keys of the other instances can't be read: {0}")]
    NoKeys(String),
}

impl Tokens {
    /// Those of this issuer.
    pub fn new(issuer: String, signing: Arc<SigningKeys>, sql: Sql) -> Self {
        Self {
            issuer,
            signing,
            sql,
            others: RwLock::default(),
            asked: Mutex::default(),
        }
    }

    /// The claim `iss`.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The pass of a user who is in until `end_ms`, made at `now_ms`, both of Redis' clock.
    pub fn pass(&self, room: &Id, user: &Id, ticket: Ticket, (now_ms, end_ms): (i64, i64)) -> String {
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: room.clone(),
            sub: user.clone(),
            jti: ticket,
            iat: now_ms.div_euclid(1_000),
            // Sessions end on whole seconds.
            exp: end_ms.div_euclid(1_000),
        };
        self.sign(pass::PASS, &claims)
    }

    /// A token of this type.
    pub fn sign<C: Serialize>(&self, typ: &str, claims: &C) -> String {
        pass::sign(&self.signing.current(), typ, claims)
    }

    /// What a token of this type says. Times and issuer are not looked at.
    pub async fn open<C: DeserializeOwned>(&self, typ: &str, token: &str) -> Result<C, TokenError> {
        let came = Instant::now();
        let open = || pass::open(|id| self.find(id), typ, token);
        match open() {
            Err(PassError::UnknownKey) => {
                let asked = self.ask().await.map_err(TokenError::NoKeys)?;
                match open() {
                    // It may have been made since.
                    Err(PassError::UnknownKey) if asked < came => {
                        Err(TokenError::NoKeys("they were read a moment ago".to_owned()))
                    }
                    other => Ok(other?),
                }
            }
            other => Ok(other?),
        }
    }

    fn find(&self, id: &str) -> Option<PublicKey> {
        let other = || {
            self.others
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(id)
                .cloned()
        };
        self.signing.find(id).or_else(other)
    }

    /// Reads the ledger's keys, unless that was tried a moment ago; when that began. Held while reading, so that many
    /// who ask at once make one query.
    async fn ask(&self) -> Result<Instant, String> {
        let mut asked = self.asked.lock().await;
        if let Some((at, said)) = &*asked
            && at.elapsed() < LOOK_EVERY
        {
            return said.clone().map(|()| *at);
        }
        let began = Instant::now();
        let said = match timeout(WAIT, published(&self.sql)).await {
            Ok(Ok(keys)) => {
                let keys = keys.into_iter().map(|key| (key.id().to_owned(), key)).collect();
                *self.others.write().unwrap_or_else(PoisonError::into_inner) = keys;
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_late) => Err("the database did not answer in time".to_owned()),
        };
        *asked = Some((began, said.clone()));
        said.map(|()| began)
    }
}
