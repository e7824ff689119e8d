//! The rules of a jackpot, as a player must be told them: numbers, and English sentences beside them.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use jackpot_core::currency::Currency;
use jackpot_core::ids::Id;
use jackpot_core::jackpot::document::{Contribution, Document, DrawnBy, OddsTable, Tier};
use jackpot_core::jackpot::expected_return::ExpectedReturn;
use jackpot_core::jackpot::must_hit::MustHitBy;
use jackpot_core::money::Minor;
use jackpot_ui::Language;
use jackpot_ui::rules::{Rules, Terms};
use serde::Serialize;
use utoipa::ToSchema;

use super::Api;
use super::definitions::stored;
use super::shared::MAX_AGE_S;
use jackpot_kernel::http::auth::Anyone;
use jackpot_kernel::http::cached::Page;
use jackpot_kernel::http::{PathOf, Problem, cached};

/// The rules of a jackpot, by the definition in force.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesBody<'a> {
    #[schema(value_type = String, example = "spring")]
    jackpot_id: &'a Id,
    #[schema(example = "Spring wheel")]
    name: &'a str,
    #[schema(value_type = String, example = "KRW")]
    currency: Currency,
    /// Version of the definition in force.
    #[schema(example = 3)]
    version: u64,
    contribution: Contribution,
    tiers: Vec<RulesTier<'a>>,
    #[serde(serialize_with = "OddsTable::serialize_whole")]
    odds: OddsTable,
    expected_return_ppm: ExpectedReturn,
    /// How winners of the same moment are paid.
    #[schema(
        example = "Every play is drawn once. Players who win at the same moment are paid in the order that the service recorded: the first takes the prize from the pool, the next from what the pool then holds."
    )]
    simultaneous_wins: String,
    /// What happens with a prize that is refused.
    #[schema(example = "A prize that can't be given is drawn again, up to 16 times.")]
    redraws: String,
    /// Where draws are checked.
    #[schema(
        example = "You need not trust us. Every draw can be recomputed: /v1/jackpots/spring/fairness has the commitments and, once an epoch has ended, its seed; /j/spring#check draws any entry again."
    )]
    fairness: String,
}

/// A pool, as the rules tell it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RulesTier<'a> {
    #[schema(value_type = String, example = "grand")]
    tier: &'a Id,
    /// Amount with which the pool restarts after a take of all, as far as reserve and overflow reach.
    #[schema(value_type = u64, example = 0)]
    seed: Minor,
    /// The most that the pool can reach; null: no limit.
    #[schema(value_type = Option<u64>)]
    cap: Option<Minor>,
    /// Smallest amount that a pool prize pays.
    #[schema(value_type = u64, example = 100)]
    min_payout: Minor,
    /// By when the pool must be hit; null: it need not be.
    #[schema(value_type = Option<MustHitBy>)]
    must_hit_by: Option<&'a MustHitBy>,
}

impl<'a> RulesTier<'a> {
    fn of(tier: &'a Tier) -> Self {
        Self {
            tier: &tier.tier,
            seed: tier.seed,
            cap: tier.cap,
            min_payout: tier.min_payout,
            must_hit_by: tier.must_hit_by.as_ref(),
        }
    }
}

impl<'a> RulesBody<'a> {
    fn of(document: &'a Document, version: u64) -> Self {
        let definition = Terms {
            currency: document.currency,
            contribution: document.contribution,
            tiers: &document.tiers,
            odds: &document.odds,
            max_redraws: document.max_redraws,
            min_stake: document.min_stake(),
            max_stake: document.max_stake,
            reverse_within_s: document.reverse_within_s,
        };
        let rules = Rules {
            words: Language::En.words(),
            definition,
        };
        let some_external = document.sources.values().any(|source| source.draw == DrawnBy::External);
        Self {
            jackpot_id: &document.id,
            name: &document.name,
            currency: document.currency,
            version,
            contribution: document.contribution,
            tiers: document.tiers.iter().map(RulesTier::of).collect(),
            odds: document.odds.clone(),
            expected_return_ppm: definition.expected_return(),
            simultaneous_wins: rules.simultaneous_wins(),
            redraws: rules.redraws(),
            fairness: rules.fairness_of(document.id.as_str(), some_external),
        }
    }
}

/// What a player must be told: how the pools are funded, where they restart, what they can reach, the chances, what a
/// play gets back on average, and how wins, redraws and checks work.
///
/// Needs no key if the jackpot's `public_meter` is set. It is the definition in force; a waiting one is not in it.
/// Without a key, a private jackpot and a missing one are both 401.
#[utoipa::path(get, path = "/v1/jackpots/{id}/rules", operation_id = "get_rules", tag = "jackpots", security((), ("bearer" = [])), params(("id" = String, Path)),
    responses((status = 200, description = "The rules", body = RulesBody, headers(
            ("Cache-Control" = String, description = "`public, max-age=1` without a key, `no-store` with one"),
            ("ETag" = String, description = "Weak; without a key"))),
        (status = 304, description = "`If-None-Match` has the tag of the current answer")))]
pub(crate) async fn get(
    caller: Anyone,
    PathOf(id): PathOf<Id>,
    request: HttpRequest,
    api: Data<Api>,
) -> Result<HttpResponse, Problem> {
    if !caller.has_key() {
        let version = api.meters.public(&id).await?.version;
        let definition = stored(&api, &id, version).await?;
        let body = RulesBody::of(definition.document(), version);
        let page = Page::new(serde_json::to_string(&body).expect("plain data is JSON"));
        return Ok(page.answer_without_key(&request, "application/json", MAX_AGE_S));
    }
    let shown = api.meters.current(&id).await?;
    if !shown.is_public() {
        caller.require_read()?;
    }
    let definition = stored(&api, &id, shown.version).await?;
    Ok(cached::private(RulesBody::of(definition.document(), shown.version)))
}
