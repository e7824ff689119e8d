//! Money that an operator puts in, takes out or moves: the form, what it changes, the adjustment.

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{Path, ServiceConfig};
use jackpot_ui::money::{money, parse};
use maud::html;
use serde_json::{Value, json};

use super::action::{self, Action, Change, REASON};
use super::{Desk, Failure, Field, Form, Kind, Posted, form_routes, jackpots, links};
use jackpot_api::jackpot::{Jackpot, MeterBody};

/// The field of the id that makes a repeat harmless.
const ID: &str = "adjustment_id";
/// What can be adjusted.
const METERS: [&str; 3] = ["pool", "reserve", "overflow"];
/// The other side of money that comes from outside, or goes there.
const OUTSIDE: &str = "outside";

pub fn routes(config: &mut ServiceConfig) {
    config.configure(form_routes("/console/jackpots/{id}/adjust", get, post));
}

/// An adjustment as the form has it.
struct Wish<'a> {
    meter: &'a MeterBody,
    from: &'static str,
    to: &'static str,
    amount: i64,
}

async fn get(desk: Desk, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let mut form = Form::default();
    form.set(ID, desk.new_id()?);
    form.set("tier", jackpot.meters.first().map_or("", |meter| &meter.tier));
    form.set("from", OUTSIDE);
    form.set("to", METERS[0]);
    form.set("amount", "");
    Ok(ask(&desk, &jackpot, &form))
}

async fn post(Posted { desk, mut form }: Posted, id: Path<String>) -> Result<HttpResponse, Failure> {
    let jackpot: Jackpot = desk.get(&links::jackpot_api(&id)).await?;
    let checked = check(&desk, &jackpot, &form);
    let wish = match checked {
        Ok(wish) => wish,
        Err((name, rule)) => {
            form.refuse(name, rule);
            return Ok(ask(&desk, &jackpot, &form));
        }
    };
    if action::is_confirmed(&form) {
        let body = wish.body(form.get(ID), form.get(REASON));
        let path = format!("{}/adjustments", links::jackpot_api(&id));
        match desk.call::<Value>(Method::POST, &path, Some(&body)).await {
            Ok(answer) if answer["state"] == "held" => return Ok(action::done(&desk, &links::held(&id), "done-held")),
            Ok(_) => return Ok(action::done(&desk, &links::jackpot(&id), "done-adjust")),
            Err(problem) => form.refused_by(&problem, str::to_owned),
        }
    }
    Ok(preview(&desk, &jackpot, &wish, &form))
}

/// The step in which the operator says what to adjust.
fn ask(desk: &Desk, jackpot: &Jackpot, form: &Form) -> HttpResponse {
    let words = desk.words;
    let here = links::jackpot(&jackpot.id);
    let page = jackpots::page(desk, jackpot, "adjust-title");
    let tiers: Vec<_> = jackpot
        .meters
        .iter()
        .map(|meter| (meter.tier.to_string(), meter.tier.to_string()))
        .collect();
    let sides: Vec<_> = [OUTSIDE]
        .into_iter()
        .chain(METERS)
        .map(|side| (side.to_owned(), words.t(&format!("side-{side}"))))
        .collect();
    let unit = words.tv(
        "adjust-amount-hint",
        [("example", money(words.0, jackpot.currency.amount(12_345)).into())],
    );
    let fields = html! {
        input type="hidden" name=(ID) value=(form.get(ID));
        p { (words.t("adjust-about")) }
        div.fields {
            (Field::new("tier", &words.t("tier"), Kind::Choice(&tiers)).of(form))
            (Field::new("from", &words.t("adjust-from"), Kind::Choice(&sides)).of(form))
            (Field::new("to", &words.t("adjust-to"), Kind::Choice(&sides)).of(form))
            (Field::new("amount", &words.t("amount"), Kind::Amount).hint(&unit).of(form))
        }
    };
    action::ask(desk, page, form, &here, &fields)
}

fn check<'a>(desk: &Desk, jackpot: &'a Jackpot, form: &Form) -> Result<Wish<'a>, (&'static str, String)> {
    let words = desk.words;
    let meter = jackpot
        .meters
        .iter()
        .find(|meter| meter.tier.as_str() == form.get("tier"));
    let meter = meter.ok_or_else(|| ("tier", words.t("adjust-no-tier")))?;
    let side = |name: &'static str| {
        let known = [OUTSIDE].into_iter().chain(METERS).find(|side| *side == form.get(name));
        known.ok_or_else(|| (name, words.t("adjust-no-side")))
    };
    let (from, to) = (side("from")?, side("to")?);
    if from == to {
        return Err(("to", words.t("adjust-same-side")));
    }
    let amount = parse(form.get("amount"), jackpot.currency).filter(|amount| *amount > 0);
    let digits = u64::from(jackpot.currency.digits());
    let amount = amount.ok_or_else(|| ("amount", words.tv("adjust-no-amount", [("digits", digits.into())])))?;
    Ok(Wish {
        meter,
        from,
        to,
        amount,
    })
}

impl Wish<'_> {
    /// The body for the API.
    fn body(&self, id: &str, reason: &str) -> Value {
        let tier = &self.meter.tier;
        let (from, to, amount) = (self.from, self.to, self.amount);
        if from == OUTSIDE {
            json!({ "adjustment_id": id, "tier": tier, "meter": to, "amount": amount, "reason": reason })
        } else if to == OUTSIDE {
            json!({ "adjustment_id": id, "tier": tier, "meter": from, "amount": -amount, "reason": reason })
        } else {
            json!({ "adjustment_id": id, "tier": tier, "from": from, "to": to, "amount": amount, "reason": reason })
        }
    }

    fn before(&self, side: &str) -> u64 {
        match side {
            "pool" => self.meter.pool,
            "reserve" => self.meter.reserve,
            _ => self.meter.overflow,
        }
    }
}

/// The step that shows what will change.
fn preview(desk: &Desk, jackpot: &Jackpot, wish: &Wish<'_>, form: &Form) -> HttpResponse {
    let words = desk.words;
    let here = links::jackpot(&jackpot.id);
    let shown = |amount: i128| money(words.0, jackpot.currency.amount(amount));
    let change = |side: &str, by: i64| Change {
        what: format!("{} · {}", wish.meter.tier, words.t(&format!("side-{side}"))),
        before: shown(i128::from(wish.before(side))),
        after: shown(i128::from(wish.before(side)) + i128::from(by)),
    };
    let sides = [(wish.from, -wish.amount), (wish.to, wish.amount)];
    let changes: Vec<_> = sides
        .iter()
        .filter(|(side, _)| *side != OUTSIDE)
        .map(|(side, by)| change(side, *by))
        .collect();
    let effect = match (wish.from, wish.to) {
        (OUTSIDE, _) => "adjust-effect-fund",
        (_, OUTSIDE) => "adjust-effect-withdraw",
        _ => "adjust-effect-move",
    };
    let mut effects = vec![
        words.tv(effect, [("amount", shown(i128::from(wish.amount)).into())]),
        words.t("adjust-moves-on"),
    ];
    if let (Some(limit), OUTSIDE) = (jackpot.approval_above, wish.to) {
        effects.push(words.tv("held-from", [("limit", shown(i128::from(limit)).into())]));
    }
    let action = Action {
        page: jackpots::page(desk, jackpot, "adjust-title"),
        effects: &effects,
        changes: &changes,
        button: &words.t("adjust-do"),
        is_final: false,
        back: &format!("{here}/adjust"),
    };
    action.page(desk, form)
}
