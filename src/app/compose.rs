//! Makes the parts of the service, on its connections.

use std::path::Path;
use std::sync::Arc;

use jackpot_core::secret::Secrets;
use utoipa::OpenApi;

use super::kinds::Known;
use super::probe::{self, observe, readiness};
use super::{AppError, secrets};
use crate::coupon::coupons::Coupons;
use crate::coupon::line::Line;
use crate::http::Web;
use crate::http::routes::Routes;
use crate::jackpot::api::{Api, ApiDoc, Meters, Reasons};
use crate::jackpot::files;
use crate::jackpot::ledger::api::SeedOf;
use crate::jackpot::metrics::PlayMetrics;
use crate::jackpot::named::Named;
use crate::jackpot::operate::Operate;
use crate::jackpot::play::Play;
use crate::jackpot::recovery::Recovery;
use crate::jackpot::scripts::ScriptError;
use crate::jackpot::view::Views;
use crate::keys::KeyStore;
use crate::ledger::kinds::{Kinds, Projecting};
use crate::ledger::projector::Projectors;
use crate::ledger::start::LedgerOpenError;
use crate::ledger::{self, Ledger};
use crate::random;
use crate::room::door::Door;
use crate::room::error::RoomError;
use crate::room::rooms::Rooms;
use crate::room::tokens::Tokens;
use crate::room::worker::Worker;
use crate::settings::{AutoRestore, RedisMode, Settings};
use crate::store::Store;
use crate::telemetry::Metrics;
use crate::{coupon, jackpot, room, signing};

/// What the connections are put together to.
pub(super) struct Parts {
    pub(super) web: Web,
    pub(super) routes: Routes,
    pub(super) recovery: Recovery,
    pub(super) line: Line,
    pub(super) worker: Worker,
    pub(super) projector: Projectors,
    pub(super) known: probe::Known,
}

pub(super) async fn compose(
    settings: &Settings,
    draw_secrets: Secrets,
    keys: KeyStore,
    store: &Store,
    ledger: &Ledger,
) -> Result<Parts, AppError> {
    ledger.claim(store).await?;
    let metrics = Arc::new(Metrics::new());
    observe(store, &metrics);
    let views = Arc::new(Views::new(store.clone(), draw_secrets.clone()).with_published(ledger.sql.clone()));
    let operate = Operate::new(store.clone(), Arc::clone(&views)).remembering(settings.fairness.retention_s);
    let subjects = Known::new(store, operate.clone());
    let kinds = subjects.kinds(store);
    let (known_coupons, known_rooms) = (subjects.coupons, subjects.rooms);
    let known = probe::Known {
        kinds: kinds.clone(),
        max_backlog_events: settings.ledger.max_backlog_events,
    };
    let readiness = readiness(store, ledger, known.clone());
    let web = Web::new(settings, Arc::new(keys), Arc::clone(&metrics), readiness);
    // Before anything is read from Redis, so that subjects known to the ledger and missing in Redis count as lost, not
    // as new.
    kinds.teach(ledger).await.map_err(LedgerOpenError::from)?;
    let coupons = Coupons::new(
        store.clone(),
        Arc::clone(&known_coupons),
        Arc::clone(&metrics),
        settings.coupons.clone(),
        settings.ledger.max_backlog_events,
    )
    .backed_by(ledger.sql.clone());
    let play_metrics = PlayMetrics::new(Arc::clone(&metrics));
    let play = Play::new(
        store.clone(),
        Arc::clone(&views),
        coupons.clone(),
        play_metrics.clone(),
        settings.ledger.max_backlog_events,
    );
    let rooms = rooms(settings, store, ledger, &known_rooms, (draw_secrets.clone(), &metrics));
    let door = Door::new(store.clone(), Arc::clone(&known_rooms), Arc::clone(&rooms.tokens));
    let play = play.behind(door);
    let mut projector = projector(settings, ledger, store, &kinds, &metrics)?;
    // Lost subjects are rebuilt before play begins, and the ledger has the last events from before.
    projector.catch_up().await;
    secrets::check(&operate.views, ledger).await?;
    check_room_secret(&rooms).await?;
    let named = Named {
        coupons: coupons.clone(),
        rooms: rooms.clone(),
        sql: ledger.sql.clone(),
    };
    if !settings.jackpots.directory.is_empty() {
        files::define_from(Path::new(&settings.jackpots.directory), &operate, &named).await?;
    }
    let recovery = Recovery {
        play: play.without_waiting(),
        operate: operate.clone(),
        store: store.clone(),
        metrics: play_metrics,
        settings: settings.play.clone(),
        retention_s: settings.fairness.retention_s,
    };
    let api = Api {
        play,
        meters: Arc::new(Meters::new(operate.clone())),
        epochs: Arc::default(),
        reasons: Reasons::new(ledger.sql.clone()),
        operate,
        named,
        sql: ledger.sql.clone(),
        ledger: ledger.clone(),
    };
    let line = Line::new(coupons.clone(), settings.coupons.clone())?;
    let coupon_api = coupon::api::Api {
        coupons,
        sql: ledger.sql.clone(),
        max_bulk_bytes: settings.coupons.max_bulk_bytes,
    };
    let room_api = room::api::Api {
        rooms: rooms.clone(),
        sql: ledger.sql.clone(),
    };
    Ok(Parts {
        routes: routes(settings, ledger, kinds, (api, coupon_api, room_api)),
        web,
        recovery,
        line,
        worker: Worker::new(rooms),
        projector,
        known,
    })
}

fn rooms(
    settings: &Settings,
    store: &Store,
    ledger: &Ledger,
    known: &Arc<room::known::Registry>,
    (secrets, metrics): (Secrets, &Arc<Metrics>),
) -> Rooms {
    let rooms = &settings.rooms;
    let tokens = Tokens::new(rooms.issuer.clone(), Arc::clone(&ledger.signing), ledger.sql.clone());
    Rooms::new(
        store.clone(),
        Arc::clone(known),
        Arc::new(tokens),
        Arc::clone(metrics),
        secrets,
        rooms.retention_s,
    )
}

fn projector(
    settings: &Settings,
    ledger: &Ledger,
    store: &Store,
    kinds: &Kinds,
    metrics: &Arc<Metrics>,
) -> Result<Projectors, AppError> {
    let instance = hex::encode(random::bytes::<16>()?);
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
        instance: &instance,
        auto_restore,
    };
    Ok(Projectors::new(kinds, &from))
}

/// All capabilities: one `mount` for their routes, one document merged of theirs.
fn routes(
    settings: &Settings,
    ledger: &Ledger,
    kinds: Kinds,
    (api, coupons, rooms): (Api, coupon::api::Api, room::api::Api),
) -> Routes {
    let keys = signing::api::Api::new(Arc::clone(&ledger.signing), ledger.sql.clone());
    let index_days = settings.ledger.entry_index_days;
    let books = ledger::api::Api::new(ledger, index_days, kinds);
    let views = Arc::clone(&api.operate.views);
    let seeds: Arc<SeedOf> = Arc::new(move |id, epoch| epoch.opening.seed(&views.secrets, id, epoch.epoch));
    let page = room::page::api::Api::new(rooms.rooms.clone(), settings.rooms.join_token_s);
    let mut document = ApiDoc::openapi();
    document.merge(signing::api::ApiDoc::openapi());
    document.merge(ledger::api::ApiDoc::openapi());
    document.merge(jackpot::ledger::api::ApiDoc::openapi());
    document.merge(coupon::ledger::api::ApiDoc::openapi());
    document.merge(coupon::api::ApiDoc::openapi());
    document.merge(room::api::ApiDoc::openapi());
    document.merge(room::page::api::ApiDoc::openapi());
    Routes {
        mount: Arc::new(move |config| {
            jackpot::api::busy_routes(config, &api);
            coupon::api::busy_routes(config, &coupons);
            room::api::busy_routes(config, &rooms);
            jackpot::api::routes(config);
            coupon::api::routes(config);
            room::api::routes(config);
            room::page::api::routes(config, &page);
            ledger::api::routes(config, &books);
            jackpot::ledger::api::routes(config, &seeds);
            coupon::ledger::api::routes(config);
            signing::api::routes(config, &keys);
        }),
        document,
    }
}

/// Refuses to start if rooms were defined with another secret: users who join before the opening would get an order
/// that does not match its commitment.
async fn check_room_secret(rooms: &Rooms) -> Result<(), AppError> {
    for id in rooms.registry.indexed().await.map_err(RoomError::from)? {
        match rooms.snapshot(&id).await {
            Ok(snapshot) if rooms.check_order(&id, &snapshot).is_err() => {
                return Err(AppError::OtherRoomSecret { room: id });
            }
            Err(RoomError::Script(ScriptError::Unknown)) | Ok(_) => {}
            Err(error) => tracing::error!(room_id = %id, %error, "this room can't be read"),
        }
    }
    Ok(())
}
