//! Jackpots as a capability of the service.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use utoipa::OpenApi;

use super::api::{self, Api, ApiDoc, Histories, Meters, Reasons, Winners};
use super::files::{self, FileError};
use super::ledger::projector::Jackpots;
use super::metrics::PlayMetrics;
use super::named::Named;
use super::operate::Operate;
use super::play::Play;
use super::recovery::Recovery;
use super::secrets;
use super::transfer::worker::Transfers;
use super::unsettled::UnsettledPayouts;
use super::view::Views;
use crate::ledger::queries::Queries;
use jackpot_kernel::capability::{Capability, Ground, Routes, StartError, Until, Worker};
use jackpot_kernel::ledger::Ledger;
use jackpot_kernel::ledger::kinds::AnyKind;
use jackpot_kernel::ledger::projector::load::Load;
use jackpot_kernel::settings::Settings;
use jackpot_kernel::store::Store;
use jackpot_room::door::Door;

pub struct Service {
    settings: Settings,
    store: Store,
    ledger: Ledger,
    operate: Operate,
    play: Play,
    metrics: PlayMetrics,
    named: Named,
}

/// A file of a jackpot is wrong.
#[derive(Debug, thiserror::Error)]
#[error("jackpots.directory: {0}")]
struct WrongFile(#[from] FileError);

impl Service {
    pub const LOAD: Load = Load::of::<Jackpots>();

    /// Jackpots draw coupons, and may require a room's pass.
    pub fn new(
        ground: &Ground,
        coupons: &jackpot_coupon::capability::Service,
        rooms: &jackpot_room::capability::Service,
    ) -> Self {
        let (coupons, rooms) = (coupons.coupons.clone(), rooms.rooms.clone());
        let (settings, store, ledger) = (&ground.settings, &ground.store, &ground.ledger);
        let views = Views::new(store.clone(), ground.secrets.clone()).with_published(ledger.sql.clone());
        let views = Arc::new(views);
        let metrics = PlayMetrics::new(Arc::clone(&ground.metrics));
        let play = Play::new(
            store.clone(),
            Arc::clone(&views),
            coupons.clone(),
            metrics.clone(),
            settings.ledger.max_backlog_events,
        );
        let door = Door::new(store.clone(), Arc::clone(&rooms.registry), Arc::clone(&rooms.tokens));
        Self {
            operate: Operate::new(store.clone(), views).remembering(settings.fairness.retention_s),
            play: play.behind(door),
            metrics,
            named: Named {
                coupons,
                rooms,
                sql: ledger.sql.clone(),
            },
            ledger: ledger.clone(),
            store: store.clone(),
            settings: settings.clone(),
        }
    }

    fn api(&self) -> Api {
        let sql = self.ledger.sql.clone();
        let queries = Queries::new(sql.clone(), self.settings.ledger.entry_index_days);
        let meters = Arc::new(Meters::new(self.operate.clone()));
        Api {
            play: self.play.clone(),
            operate: self.operate.clone(),
            named: self.named.clone(),
            histories: Arc::new(Histories::new(queries.clone())),
            winners: Arc::new(Winners::new(Arc::clone(&meters), queries.clone())),
            meters,
            queries,
            epochs: Arc::default(),
            reasons: Reasons::new(sql.clone()),
            sql,
            ledger: self.ledger.clone(),
        }
    }
}

impl Capability for Service {
    fn kind(&self) -> Arc<dyn AnyKind> {
        super::ledger::kind(&self.operate)
    }

    fn check(&self) -> LocalBoxFuture<'_, Result<(), StartError>> {
        Box::pin(async { Ok(secrets::check(&self.operate.views, &self.ledger).await?) })
    }

    fn prepare(&self) -> LocalBoxFuture<'_, Result<(), StartError>> {
        Box::pin(async {
            secrets::leave_others(&self.operate).await?;
            let directory = &self.settings.jackpots.directory;
            if !directory.is_empty() {
                let defined = files::define_from(Path::new(directory), &self.operate, &self.named).await;
                defined.map_err(WrongFile)?;
            }
            Ok(())
        })
    }

    fn routes(&self) -> Routes {
        let api = self.api();
        let queries = api.queries.clone();
        let mut document = ApiDoc::openapi();
        document.merge(super::ledger::api::ApiDoc::openapi());
        Routes {
            busy: Arc::new(move |config| api::busy_routes(config, &api)),
            others: Arc::new(move |config| {
                api::routes(config);
                super::ledger::api::routes(config, &queries);
            }),
            document,
        }
    }

    fn workers(&self) -> Result<Vec<Worker>, StartError> {
        let recovery = Recovery {
            play: self.play.without_waiting(),
            operate: self.operate.clone(),
            store: self.store.clone(),
            metrics: self.metrics.clone(),
            settings: self.settings.play.clone(),
            retention_s: self.settings.fairness.retention_s,
        };
        let transfers = Transfers {
            operate: self.operate.clone(),
            sql: self.ledger.sql.clone(),
            metrics: self.metrics.clone(),
        };
        let unsettled = UnsettledPayouts {
            sql: self.ledger.sql.clone(),
            metrics: self.metrics.clone(),
        };
        Ok(vec![
            Worker {
                name: "the recovery",
                until: Until::Stopping,
                run: Box::new(|stopping| Box::pin(recovery.run(stopping))),
            },
            Worker {
                name: "the transfers",
                until: Until::Stopping,
                run: Box::new(|stopping| Box::pin(transfers.run(stopping))),
            },
            Worker {
                name: "the count of unsettled payouts",
                until: Until::Stopping,
                run: Box::new(|stopping| Box::pin(unsettled.run(stopping))),
            },
        ])
    }
}
