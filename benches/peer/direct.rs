//! The obvious implementation: each entry is a separate script call over the connection that all share. Everything else
//! is the service's: Redis, scripts, ledger, recovery, draw, answer.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{self, Data};
use jackpot::coupon::coupons::Coupons;
use jackpot::coupon::known::Registry;
use jackpot::durable_file::make_private_dir;
use jackpot::http::auth;
use jackpot::http::body::Body;
use jackpot::http::health::{LedgerState, Readiness, ReadinessFn};
use jackpot::http::problem::Problem;
use jackpot::http::query::PathOf;
use jackpot::http::routes::{Pages, Routes};
use jackpot::jackpot::api::{Api, ApiDoc, Histories, Meters, Reasons, Winners};
use jackpot::jackpot::error::PlayError;
use jackpot::jackpot::ledger::projector::Jackpots;
use jackpot::jackpot::ledger::queries::Queries;
use jackpot::jackpot::metrics::PlayMetrics;
use jackpot::jackpot::named::Named;
use jackpot::jackpot::operate::Operate;
use jackpot::jackpot::play::{Play, Played};
use jackpot::jackpot::recovery::Recovery;
use jackpot::jackpot::scripts::{self, EnterEntry, EntryReply, Refusal};
use jackpot::jackpot::view::Views;
use jackpot::ledger::Ledger;
use jackpot::ledger::kinds::Projecting;
use jackpot::ledger::projector::Projector;
use jackpot::master_secret;
use jackpot::room::{self, rooms::Rooms, tokens::Tokens};
use jackpot::settings::Settings;
use jackpot::stopping::Stopping;
use jackpot::store::Store;
use jackpot::subject::Subject;
use jackpot::telemetry::Metrics;
use jackpot_core::ids::Id;
use utoipa::OpenApi;

use super::body::{self, EntryBody};
use crate::Outcome;

/// The same limit as in `play`.
const MAX_STALE: usize = 16;

/// What the route works with.
#[derive(Clone)]
struct Direct {
    play: Play,
    store: Store,
}

pub(super) async fn serve(settings: &Settings) -> Outcome {
    make_private_dir(&settings.data_dir)?;
    let secrets = master_secret::load(&settings.fairness, &settings.data_dir)?;
    let ledger = Ledger::open(&settings.ledger, &settings.data_dir).await?;
    let store = Store::open(&settings.redis, &settings.data_dir).await?;
    ledger.claim(&store).await?;
    let metrics = Arc::new(Metrics::new());
    let views = Arc::new(Views::new(store.clone(), secrets.clone()));
    let operate = Operate::new(store.clone(), Arc::clone(&views));
    let play_metrics = PlayMetrics::new(Arc::clone(&metrics));
    let backlog = settings.ledger.max_backlog_events;
    let coupons = Coupons::new(
        store.clone(),
        Arc::new(Registry::new(store.clone())),
        Arc::clone(&metrics),
        settings.coupons.clone(),
        backlog,
    );
    let tokens = Tokens::new(
        settings.rooms.issuer.clone(),
        Arc::clone(&ledger.signing),
        ledger.sql.clone(),
    );
    let named = Named {
        coupons: coupons.clone(),
        rooms: Rooms::new(
            store.clone(),
            Arc::new(room::known::Registry::new(store.clone())),
            Arc::new(tokens),
            Arc::clone(&metrics),
            secrets,
            settings.rooms.retention_s,
        ),
        sql: ledger.sql.clone(),
    };
    let play = Play::new(
        store.clone(),
        Arc::clone(&views),
        coupons,
        play_metrics.clone(),
        backlog,
    );
    let recovery = Recovery {
        play: play.clone(),
        operate: operate.clone(),
        store: store.clone(),
        metrics: play_metrics,
        settings: settings.play.clone(),
        retention_s: settings.fairness.retention_s,
    };
    let from = Projecting {
        ledger: &ledger,
        store: &store,
        metrics: &metrics,
        settings: &settings.ledger,
        instance: "direct",
        auto_restore: false,
    };
    let jackpots = Jackpots {
        operate: operate.clone(),
    };
    let projector = Projector::of(jackpots, &from);
    let web = super::web(settings, &metrics, readiness(views))?;
    let recovery = tokio::spawn(recovery.run(web.stopping.clone()));
    let ended = Stopping::default();
    let until = ended.clone();
    let runtime = tokio::runtime::Handle::current();
    let projector = tokio::task::spawn_blocking(move || runtime.block_on(projector.run(until)));
    let direct = Direct {
        play: play.clone(),
        store: store.clone(),
    };
    let queries = Queries::new(ledger.sql.clone(), settings.ledger.entry_index_days);
    let meters = Arc::new(Meters::new(operate.clone()));
    let api = Api {
        play,
        histories: Arc::new(Histories::new(queries.clone())),
        winners: Arc::new(Winners::new(Arc::clone(&meters), queries.clone())),
        meters,
        queries,
        reasons: Reasons::new(ledger.sql.clone()),
        epochs: Arc::default(),
        operate,
        sql: ledger.sql.clone(),
        ledger: ledger.clone(),
        named,
    };
    let served = super::until_signal(settings, web, routes(direct, api)).await;
    recovery.abort();
    ended.begin();
    let projected = projector.await;
    store.close().await;
    ledger.sql.close().await;
    served?;
    Ok(projected?)
}

/// The service's own routes too, which define jackpots and look at them. Those are tried after the peer's.
fn routes(direct: Direct, api: Api) -> Routes {
    Routes {
        mount: Arc::new(move |config| {
            config
                .app_data(Data::new(direct.clone()))
                .route("/v1/jackpots/{id}/direct-entries", web::post().to(post));
            jackpot::jackpot::api::busy_routes(config, &api);
            jackpot::jackpot::api::routes(config);
        }),
        document: ApiDoc::openapi(),
        pages: Pages::default(),
    }
}

fn readiness(views: Arc<Views>) -> ReadinessFn {
    Arc::new(move || Readiness {
        ledger: Some(LedgerState {
            up: true,
            lag_events: views
                .registry
                .each()
                .iter()
                .map(|known| known.lag())
                .max()
                .unwrap_or_default(),
        }),
        ..Readiness::default()
    })
}

async fn post(
    _: auth::Play,
    PathOf(id): PathOf<Id>,
    direct: Data<Direct>,
    Body(body): Body<EntryBody>,
) -> Result<HttpResponse, Problem> {
    let played = direct.enter(&id, body).await?;
    Ok(HttpResponse::Created().json(body::answer(id, played)))
}

impl Direct {
    async fn enter(&self, id: &Id, body: EntryBody) -> Result<Played, PlayError> {
        let entry_id = body.entry_id.as_str().to_owned();
        let sent = body.sent();
        let (mut known, mut view) = self.play.views.view(id).await?;
        for _ in 0..MAX_STALE {
            let odds = view.definition.odds().at(sent.stake);
            let entry = [EnterEntry {
                entry_id: entry_id.clone(),
                sent: sent.clone(),
                rank: view.seed.rank(&entry_id, sent.client_seed.as_ref(), 0, odds),
            }];
            let fence = known.fence(&view);
            let call = scripts::enter(&self.store, &known.keys, &fence, &view.definition, &entry);
            let entered = known.observe_loss(call.await)?;
            known.observe(entered.mark);
            match (entered.replies.into_iter().next(), entered.refusal) {
                (Some(EntryReply::Taken(record) | EntryReply::Seen(record)), _) => {
                    return self.play.answer(id, &entry_id, sent, record).await;
                }
                (_, Some(Refusal::Stale)) => (known, view) = self.play.views.refresh(id).await?,
                _ => return Err(PlayError::Unsettled),
            }
        }
        Err(PlayError::Unsettled)
    }
}
