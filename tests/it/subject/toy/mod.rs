//! A toy as a fourth capability: a counter with a limit. It registers with one line, [`REGISTRATION`].
//!
//! [`scripts`]: the calls of `tests/it/subject/lua/`. [`ledger`]: what its events say and rebuild. This file: what an
//! instance knows of toys, their requests, their routes.

pub mod ledger;
pub mod scripts;

use std::sync::Arc;

use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse};
use jackpot::capability::{Capability, Ground, Registration, Routes};
use jackpot::http::auth;
use jackpot::http::body::{Body, Described};
use jackpot::http::code::Code;
use jackpot::http::conditions::{put_answer, tagged, wanted};
use jackpot::http::page::{PageQuery, page_of};
use jackpot::http::problem::{FieldError, Problem};
use jackpot::http::query::{PathOf, QueryOf};
use jackpot::ledger::kinds::AnyKind;
use jackpot::ledger::projector::load::Load;
use jackpot::random::RandomError;
use jackpot::store::keys::StreamKeys;
use jackpot::store::{Script, Store};
use jackpot::subject::engine::{self, Defines, Operated, Put};
use jackpot::subject::kinds::KindName;
use jackpot::subject::operate::{Define, Defined, SetStatus, StatusSet};
use jackpot::subject::{MaybeScript, Observed, ScriptError, Stamp, Subject};
use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use serde::{Deserialize, Serialize};
use utoipa::{OpenApi, ToSchema};

use crate::support::prelude::*;

pub use ledger::Toys;
pub use scripts::Counted;

/// The line of the list of capabilities.
pub const REGISTRATION: Registration = Registration {
    load: Load::of::<Toys>(),
    make: |ground| Box::new(Service(Toys::new(ground))),
};

/// Its names.
pub const TOY: KindName = KindName::new("toy", "toys", "toy:");

jackpot_core::names! {
    /// Whether a toy counts.
    pub enum Status as "`open` or `suspended`" {
        /// It does.
        Open = "open",
        /// The service stopped it.
        Suspended = "suspended",
    }
}

/// The definition of a toy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// How far it counts.
    pub limit: u64,
}

impl Described for Definition {}

/// What this instance remembers of a toy.
#[derive(Debug)]
pub struct Known {
    state: String,
    events: String,
    observed: Observed,
}

impl Subject for Known {
    const INDEX: &'static str = "toy:index";

    fn new(id: &Id) -> Self {
        Self {
            state: format!("toy:{{{id}}}:state"),
            events: format!("toy:{{{id}}}:events"),
            observed: Observed::new(TOY, id),
        }
    }

    fn stream(&self) -> StreamKeys<'_> {
        StreamKeys {
            state: &self.state,
            events: &self.events,
        }
    }
}

impl std::ops::Deref for Known {
    type Target = Observed;

    fn deref(&self) -> &Observed {
        &self.observed
    }
}

impl Operated for Known {
    type Status = Status;
    type Snapshot = scripts::Snapshot;
    type Seen = ();

    const OPEN: Status = Status::Open;
    const SUSPENDED: Status = Status::Suspended;

    async fn snapshot(&self, store: &Store) -> Result<scripts::Snapshot, ScriptError> {
        scripts::snapshot(store, self.stream(), self.mark()).await
    }

    async fn set_status(
        &self,
        store: &Store,
        (): &(),
        wish: &SetStatus<Status>,
    ) -> Result<StatusSet<Status>, ScriptError> {
        scripts::set_status(store, self.stream(), self.mark(), wish).await
    }

    fn obey_script() -> &'static Script {
        &scripts::OBEY
    }

    async fn checkpoint(&self, store: &Store, (): &()) -> Result<Mark, ScriptError> {
        scripts::checkpoint(store, self.stream(), self.mark()).await
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ToyError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("the toy has counted further")]
    Below,
    #[error("the precondition does not hold")]
    Mismatch,
    #[error("the definition kept changing")]
    Unsettled,
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl MaybeScript for ToyError {
    fn script(&self) -> Option<&ScriptError> {
        match self {
            Self::Script(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ToyError> for Problem {
    fn from(error: ToyError) -> Self {
        // A capability adds its codes to the list of all. A toy borrows those of rooms.
        let problem = |code| Problem::new(code, error.to_string());
        match &error {
            ToyError::Script(ScriptError::Unknown) => problem(Code::RoomNotFound),
            ToyError::Script(ScriptError::Behind { .. } | ScriptError::Restoring) => problem(Code::RoomSuspended),
            ToyError::Below => Problem::invalid_request(vec![FieldError::new("limit", error.to_string())]),
            ToyError::Mismatch => problem(Code::PreconditionFailed),
            ToyError::Script(_) | ToyError::Unsettled | ToyError::Random(_) => {
                Problem::store_unavailable(error.to_string())
            }
        }
    }
}

impl Defines for Toys {
    type Known = Known;
    type Definition = Definition;
    type Made = ();
    type Read = ();
    type Refused = ();
    type Error = ToyError;
    const MISMATCH: ToyError = ToyError::Mismatch;
    const UNSETTLED: ToyError = ToyError::Unsettled;

    fn registry(&self) -> &jackpot::subject::Registry<Known> {
        &self.registry
    }

    async fn read(&self, id: &Id) -> Result<(u64, ()), ToyError> {
        Ok((self.registry.snapshot(id).await?.held.version, ()))
    }

    async fn define(
        &self,
        known: &Known,
        _: Option<&()>,
        put: &Define<'_, Definition>,
        (): &(),
    ) -> Result<(Mark, Defined<()>), ScriptError> {
        scripts::define(self.registry.store(), known.stream(), known.mark(), put).await
    }

    fn refused(&self, _: &Id, (): ()) -> ToyError {
        ToyError::Below
    }

    fn log(&self, id: &Id, _: &Define<'_, Definition>, Put { created, version }: Put) {
        tracing::info!(toy_id = %id, created, version, "definition put");
    }
}

struct Service(Toys);

impl Toys {
    fn new(ground: &Ground) -> Self {
        Self {
            registry: Arc::new(jackpot::subject::Registry::new(ground.store.clone())),
        }
    }

    async fn body(&self, id: &Id) -> Result<(u64, Value), ToyError> {
        let scripts::Snapshot { held, definition, .. } = self.registry.snapshot(id).await?;
        let body = json!({"id": id, "limit": definition.limit, "count": held.count, "status": held.status,
                          "version": held.version});
        Ok((held.version, body))
    }
}

#[utoipa::path(put, path = "/v1/toys/{id}", params(("id" = String, Path)), request_body(content = Definition),
    responses((status = 200, description = "Done")))]
async fn put(
    auth::Operate { by, .. }: auth::Operate,
    PathOf(id): PathOf<Id>,
    head: HttpRequest,
    toys: Data<Toys>,
    Body(definition): Body<Definition>,
) -> Result<HttpResponse, Problem> {
    let wanted = wanted(&head)?;
    let stamp = Stamp::new().map_err(ToyError::from)?;
    let put = engine::define(&**toys, &id, stamp.put(&definition, wanted, &by), &()).await?;
    Ok(put_answer(put, toys.body(&id).await?.1))
}

#[utoipa::path(get, path = "/v1/toys/{id}", params(("id" = String, Path)), responses((status = 200, description = "A toy")))]
async fn get(_: auth::Read, PathOf(id): PathOf<Id>, toys: Data<Toys>) -> Result<HttpResponse, Problem> {
    let (version, body) = toys.body(&id).await?;
    Ok(tagged(version, body))
}

#[utoipa::path(get, path = "/v1/toys", params(PageQuery), responses((status = 200, description = "A page")))]
async fn list(
    auth::ReadFiltered(caller): auth::ReadFiltered,
    QueryOf(page): QueryOf<PageQuery>,
    toys: Data<Toys>,
) -> Result<HttpResponse, Problem> {
    let read = async |id: &Id| toys.body(id).await.map(|(_, body)| body);
    let (items, next_cursor) = page_of(&toys.registry, &page, caller.own(TOY), read).await?;
    Ok(HttpResponse::Ok().json(json!({"items": items, "next_cursor": next_cursor})))
}

#[utoipa::path(post, path = "/v1/toys/{id}/count", params(("id" = String, Path)), responses((status = 200, description = "Counted")))]
async fn count(_: auth::Play, PathOf(id): PathOf<Id>, toys: Data<Toys>) -> Result<HttpResponse, Problem> {
    let known = toys.registry.whole(&id).map_err(ToyError::from)?;
    let counted = scripts::count(toys.registry.store(), known.stream(), known.mark()).await;
    let (_, counted) = toys.registry.observe_reply(&known, counted).map_err(ToyError::from)?;
    Ok(match counted {
        Counted::Refused(why) if why == "stopped" => {
            return Err(Problem::stopped(toys.registry.stop_reason(&known).await));
        }
        Counted::To(count) => HttpResponse::Ok().json(json!({"count": count})),
        Counted::Refused(why) => Problem::new(Code::RoomSuspended, why).into_response(),
    })
}

#[derive(OpenApi)]
#[openapi(paths(put, get, list, count))]
struct ApiDoc;

impl Capability for Service {
    fn kind(&self) -> Arc<dyn AnyKind> {
        Arc::new(self.0.clone())
    }

    fn routes(&self) -> Routes {
        let toys = Data::new(self.0.clone());
        Routes {
            busy: Arc::new(|config| {
                config.route("/v1/toys/{id}/count", web::post().to(count));
            }),
            others: Arc::new(move |config| {
                config
                    .app_data(toys.clone())
                    .route("/v1/toys", jackpot::http::get().to(list))
                    .route("/v1/toys/{id}", jackpot::http::get().to(get))
                    .route("/v1/toys/{id}", web::put().to(put));
            }),
            document: ApiDoc::openapi(),
        }
    }
}
