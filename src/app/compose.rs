//! Puts the service together: its capabilities, on the connections to Redis and the ledger.

use std::sync::Arc;
use std::time::Duration;

use jackpot_core::secret::Secrets;
use utoipa::OpenApi;

use super::probe::{self, observe, readiness};
use super::{AppError, Opened, capabilities};
use crate::capability::{self, Capability, Ground, Until, Worker};
use crate::console::{self, Console};
use crate::events::{self, deliverer::Events};
use crate::http::Web;
use crate::http::inside::Api;
use crate::http::routes::{Pages, Routes};
use crate::intake::worker::Intake;
use crate::ledger::emergency::Emergency;
use crate::ledger::kinds::{Kinds, Projecting};
use crate::ledger::projector::Projectors;
use crate::ledger::start::LedgerOpenError;
use crate::ledger::{self, Ledger};
use crate::proof;
use crate::public_page;
use crate::room;
use crate::settings::{AutoRestore, RedisMode, Settings};
use crate::signing;
use crate::store::{Store, StoreError};
use crate::telemetry::Metrics;

/// Between two tries to claim Redis for the ledger.
const BETWEEN_CLAIMS: Duration = Duration::from_millis(500);

/// The service, put together.
pub(super) struct Parts {
    pub(super) web: Web,
    pub(super) routes: Routes,
    pub(super) workers: Vec<Worker>,
    pub(super) projector: Projectors,
    pub(super) known: probe::KnownKinds,
}

/// Once `instance` has taken streams, they are its own even if this fails.
pub(super) async fn compose(opened: &Opened, instance: &str) -> Result<Parts, AppError> {
    let Opened {
        settings,
        secrets,
        keys,
        metrics,
        store,
        ledger,
        ..
    } = opened;
    claim(ledger, store).await?;
    observe(store, metrics);
    let ground = Ground {
        settings: settings.clone(),
        secrets: secrets.clone(),
        store: store.clone(),
        ledger: ledger.clone(),
        metrics: Arc::clone(metrics),
    };
    let capabilities = capabilities::make(&ground);
    let kinds = capabilities::kinds_of(&capabilities);
    let known = probe::KnownKinds {
        kinds: kinds.clone(),
        max_backlog_events: settings.ledger.max_backlog_events,
    };
    let emergency = Emergency::new(ledger.sql.clone(), store.clone(), kinds.clone(), Arc::clone(metrics));
    let readiness = readiness(store, ledger, known.clone(), emergency.clone());
    let web = Web::new(settings, Arc::clone(keys), Arc::clone(metrics), readiness);
    // Before anything is read from Redis, so that subjects known to the ledger and missing in Redis count as lost, not
    // as new.
    kinds.teach(ledger).await.map_err(LedgerOpenError::from)?;
    let mut projector = projector(settings, ledger, store, &kinds, metrics, instance);
    // Jackpots of files begin stopped while everything is. The worker says it if neither Redis nor SQL answers.
    let _ = emergency.look().await;
    // Lost subjects are rebuilt before play begins, and the ledger has the last events from before.
    projector.catch_up().await;
    for capability in &capabilities {
        capability.check().await.map_err(AppError::Capability)?;
    }
    for capability in &capabilities {
        capability.prepare().await.map_err(AppError::Capability)?;
    }
    let mut workers = Vec::new();
    for capability in &capabilities {
        workers.extend(capability.workers().map_err(AppError::Capability)?);
    }
    let stopper = emergency.clone();
    workers.push(Worker {
        name: "the emergency stop",
        until: Until::Stopping,
        run: Box::new(|stopping| Box::pin(stopper.work(stopping))),
    });
    let events = Events::new(settings, ledger, secrets, instance, kinds.clone(), Arc::clone(metrics));
    let events = events.map_err(|error| AppError::Capability(error.into()))?;
    let deliverer = events.clone();
    workers.push(Worker {
        name: "the deliverer of events",
        until: Until::Served,
        run: Box::new(|stopping| Box::pin(deliverer.work(stopping))),
    });
    let keys = Arc::clone(keys);
    let console = Console::new(settings, secrets, keys, ledger.sql.clone(), store.clone(), instance);
    let pages = pages(settings, console);
    let books = ledger::api::Api::new(ledger, kinds, emergency).reporting(settings.reports.days());
    let routes = routes(ledger, books, events, secrets, &capabilities, pages);
    workers.extend(intake(settings, &web, &routes, ledger, instance));
    Ok(Parts {
        web,
        routes,
        workers,
        projector,
        known,
    })
}

/// Takes messages of a broker, if settings name one.
fn intake(settings: &Settings, web: &Web, routes: &Routes, ledger: &Ledger, instance: &str) -> Option<Worker> {
    if settings.intake.connection.is_empty() {
        return None;
    }
    let api = Api::new(web.clone(), routes.clone());
    let (keys, metrics) = (Arc::clone(&web.keys), Arc::clone(&web.metrics));
    let intake = Intake::new(settings, keys, metrics, ledger.sql.clone(), instance, api);
    intake.map(|intake| Worker {
        name: "the intake of a broker's messages",
        until: Until::Served,
        run: Box::new(|stopping| Box::pin(intake.work(stopping))),
    })
}

/// Waits for the name of the ledger in Redis. Its node may be away in a cluster, and without it nothing may be played:
/// this may be another ledger's Redis.
async fn claim(ledger: &Ledger, store: &Store) -> Result<(), LedgerOpenError> {
    let mut is_known = false;
    loop {
        match ledger.claim(store).await {
            Err(LedgerOpenError::Store(error @ StoreError::Unavailable { .. })) => {
                if !std::mem::replace(&mut is_known, true) {
                    tracing::error!(%error, "waiting for the node that says which ledger this Redis belongs to");
                }
                tokio::time::sleep(BETWEEN_CLAIMS).await;
            }
            claimed => return claimed,
        }
    }
}

fn projector(
    settings: &Settings,
    ledger: &Ledger,
    store: &Store,
    kinds: &Kinds,
    metrics: &Arc<Metrics>,
    instance: &str,
) -> Projectors {
    let auto_restore = match settings.ledger.auto_restore {
        AutoRestore::On => true,
        AutoRestore::Off => false,
        AutoRestore::Embedded => settings.redis.mode == RedisMode::Embedded,
    };
    let from = Projecting {
        ledger,
        store,
        metrics,
        settings: &settings.ledger,
        instance,
        auto_restore,
    };
    Projectors::new(kinds, &from)
}

/// One `mount` for the routes of all capabilities, of the ledger, its proof and the signing keys, and one document.
fn routes(
    ledger: &Ledger,
    books: ledger::api::Api,
    events: Events,
    secrets: &Secrets,
    capabilities: &[Box<dyn Capability>],
    pages: Pages,
) -> Routes {
    let keys = signing::api::Api::new(Arc::clone(&ledger.signing), ledger.sql.clone());
    let parts: Vec<capability::Routes> = capabilities.iter().map(|one| one.routes()).collect();
    let secrets = secrets.clone();
    let own = [
        signing::api::ApiDoc::openapi(),
        ledger::api::ApiDoc::openapi(),
        proof::api::ApiDoc::openapi(),
        events::api::ApiDoc::openapi(),
    ];
    // The first capability's groups are the first that a reader of the document sees.
    let (first, rest) = parts.split_at(parts.len().min(1));
    let documents = first.iter().map(|part| part.document.clone()).chain(own);
    let documents = documents.chain(rest.iter().map(|part| part.document.clone()));
    let document = documents
        .reduce(utoipa::openapi::OpenApi::merge_from)
        .unwrap_or_default();
    Routes {
        mount: Arc::new(move |config| {
            for part in &parts {
                (part.busy)(config);
            }
            for part in &parts {
                (part.others)(config);
            }
            ledger::api::routes(config, &books);
            proof::api::routes(config, &secrets);
            events::api::routes(config, &events);
            signing::api::routes(config, &keys);
        }),
        document,
        pages,
    }
}

/// The console, the public page, and the files of all pages.
fn pages(settings: &Settings, console: Console) -> Pages {
    let (console, public) = (console::mount(console), public_page::mount(settings));
    let room = &room::page::html::SCRIPT;
    let assets = [room].into_iter().chain(console::assets()).chain(public_page::assets());
    Pages {
        mount: Arc::new(move |config| {
            console(config);
            public(config);
        }),
        assets: assets.collect(),
    }
}
