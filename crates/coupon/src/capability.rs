//! Coupons as a capability of the service.

use std::sync::Arc;

use utoipa::OpenApi;

use super::api::{self, Api, ApiDoc};
use super::coupons::Coupons;
use super::known::Registry;
use super::queue_worker::QueueWorker;
use jackpot_kernel::capability::{Capability, Ground, Routes, StartError, Until, Worker};
use jackpot_kernel::ledger::kinds::AnyKind;
use jackpot_kernel::ledger::projector::load::Load;
use jackpot_kernel::settings;
use jackpot_kernel::sql::Sql;
use jackpot_kernel::store::Store;

pub struct Service {
    settings: settings::Coupons,
    store: Store,
    sql: Sql,
    /// Jackpots draw them.
    pub coupons: Coupons,
}

impl Service {
    pub const LOAD: Load = Load::of::<super::ledger::projector::Coupons>();

    pub fn new(ground: &Ground) -> Self {
        let settings = ground.settings.coupons.clone();
        let (store, sql) = (ground.store.clone(), ground.ledger.sql.clone());
        let coupons = Coupons::new(
            store.clone(),
            Arc::new(Registry::new(store.clone())),
            Arc::clone(&ground.metrics),
            settings.clone(),
            ground.settings.ledger.max_backlog_events,
        );
        Self {
            coupons: coupons.backed_by(sql.clone()),
            settings,
            store,
            sql,
        }
    }
}

impl Capability for Service {
    fn kind(&self) -> Arc<dyn AnyKind> {
        super::ledger::kind(&self.coupons.registry, &self.store)
    }

    fn routes(&self) -> Routes {
        let api = Api {
            coupons: self.coupons.clone(),
            sql: self.sql.clone(),
            max_bulk_bytes: self.settings.max_bulk_bytes,
        };
        let mut document = super::ledger::api::ApiDoc::openapi();
        document.merge(ApiDoc::openapi());
        Routes {
            busy: Arc::new(move |config| api::busy_routes(config, &api)),
            others: Arc::new(|config| {
                api::routes(config);
                super::ledger::api::routes(config);
            }),
            document,
        }
    }

    fn workers(&self) -> Result<Vec<Worker>, StartError> {
        let worker = QueueWorker::new(self.coupons.clone(), self.settings.clone())?;
        Ok(vec![Worker {
            name: "the worker of the queues",
            until: Until::Served,
            run: Box::new(|served| Box::pin(worker.run(served))),
        }])
    }
}
