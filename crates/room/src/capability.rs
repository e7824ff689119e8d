//! Rooms as a capability of the service.

use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use jackpot_core::ids::Id;
use jackpot_core::secret::MasterSecret;
use utoipa::OpenApi;

use super::api::{self, Api, ApiDoc};
use super::error::RoomError;
use super::known::Registry;
use super::page;
use super::rooms::Rooms;
use super::tokens::Tokens;
use super::worker;
use jackpot_kernel::capability::{Capability, Ground, Routes, StartError, Until, Worker};
use jackpot_kernel::ledger::kinds::AnyKind;
use jackpot_kernel::ledger::projector::load::Load;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::Store;
use jackpot_kernel::subject::ScriptError;

pub struct Service {
    store: Store,
    sql: Sql,
    secret: MasterSecret,
    join_token_s: u64,
    /// Jackpots may require a room's pass.
    pub rooms: Rooms,
}

/// Why rooms do not start.
#[derive(Debug, thiserror::Error)]
enum RoomStartError {
    /// A room of Redis was defined with another secret.
    #[error(
        "room '{0}' was defined with another draw secret: set fairness.master_secret to that one, or put its master.secret back into the data directory"
    )]
    OtherSecret(Id),
}

impl Service {
    pub const LOAD: Load = Load::of::<super::ledger::projector::Rooms>();

    pub fn new(ground: &Ground) -> Self {
        let settings = &ground.settings.rooms;
        let (store, ledger) = (ground.store.clone(), &ground.ledger);
        let tokens = Tokens::new(settings.issuer.clone(), Arc::clone(&ledger.signing), ledger.sql.clone());
        let rooms = Rooms::new(
            store.clone(),
            Arc::new(Registry::new(store.clone())),
            Arc::new(tokens),
            Arc::clone(&ground.metrics),
            ground.secrets.clone(),
            settings.retention_s,
        );
        Self {
            store,
            sql: ledger.sql.clone(),
            secret: ground.secrets.current().clone(),
            join_token_s: settings.join_token_s,
            rooms,
        }
    }

    /// Refuses to start if rooms were defined with another secret: users who join before the opening would get an order
    /// that does not match its commitment.
    async fn check_secret(&self) -> Result<(), RoomStartError> {
        let rooms = &self.rooms;
        let read = |id| async move { rooms.snapshot(&id).await };
        let check = |id: &Id, snapshot| {
            match snapshot {
                Ok(snapshot) if rooms.check_order(id, &snapshot).is_err() => {
                    return Err(RoomStartError::OtherSecret(id.clone()));
                }
                Err(RoomError::Script(ScriptError::Unknown)) | Ok(_) => {}
                Err(error) => tracing::error!(room_id = %id, %error, "this room can't be read"),
            }
            Ok(())
        };
        rooms.registry.read_all(read, check).await
    }
}

impl Capability for Service {
    fn kind(&self) -> Arc<dyn AnyKind> {
        super::ledger::kind(&self.rooms.registry, &self.store, self.secret.clone())
    }

    fn check(&self) -> LocalBoxFuture<'_, Result<(), StartError>> {
        Box::pin(async { Ok(self.check_secret().await?) })
    }

    fn routes(&self) -> Routes {
        let api = Api {
            rooms: self.rooms.clone(),
            sql: self.sql.clone(),
        };
        let page = page::api::Api::new(self.rooms.clone(), self.join_token_s);
        let mut document = ApiDoc::openapi();
        document.merge(page::api::ApiDoc::openapi());
        Routes {
            busy: Arc::new(move |config| api::busy_routes(config, &api)),
            others: Arc::new(move |config| {
                api::routes(config);
                page::api::routes(config, &page);
            }),
            document,
        }
    }

    fn workers(&self) -> Result<Vec<Worker>, StartError> {
        let worker = worker::Worker::new(self.rooms.clone());
        Ok(vec![Worker {
            name: "the worker of the rooms",
            until: Until::Served,
            run: Box::new(|served| Box::pin(worker.run(served))),
        }])
    }
}
