//! The settlement desk: approve, settle, fail and void a payout, and withdraw a request to void it, each after a look at what it changes.

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Path, ServiceConfig};
use jackpot_api::payout::{ListedPayout, Payout, PayoutStepRow};
use jackpot_core::jackpot::settlement::PayoutState;
use jackpot_core::receipt::Receipt;
use jackpot_ui::Words;
use jackpot_ui::money::money;
use jackpot_ui::time::time;
use maud::{Markup, html};
use serde_json::json;

use super::action::{self, Action, Change, REASON};
use super::list::{heads, wide};
use super::{Desk, Failure, Field, Form, Kind, Page, Posted, Section, form_routes, links};
use jackpot_api::jackpot::Jackpot;

/// The field of the id that makes a repeat harmless.
const ID: &str = "settlement_id";
/// The field of the payment's reference.
const REFERENCE: &str = "reference";

pub fn routes(config: &mut ServiceConfig) {
    let path = "/console/payouts/{payout_id}/{action}";
    config.configure(form_routes(path, get, post));
}

jackpot_core::names! {
    /// What the operator may ask for.
    enum Step {
        Approve = "approve",
        Settle = "settle",
        Fail = "fail",
        Void = "void",
        Withdraw = "withdraw",
    }
}

impl Step {
    /// Whether this key may ask for it, and the payout may be where it leads to something.
    fn fits(self, desk: &Desk, state: PayoutState) -> bool {
        use PayoutState::{Due, Failed, Held, VoidRequested};
        match self {
            Self::Approve => desk.may_approve() && state == Held,
            Self::Settle | Self::Fail => desk.may_operate() && matches!(state, Due | Failed),
            Self::Void => desk.may_operate() && matches!(state, Held | Due | Failed | VoidRequested),
            Self::Withdraw => desk.may_operate() && state == VoidRequested,
        }
    }

    /// The state that it leads to. A void by the owner who asked for it leads to nothing new, which only the answer tells.
    fn leads_to(self, payout: &Payout) -> PayoutState {
        match self {
            Self::Approve => PayoutState::Due,
            Self::Settle => PayoutState::Settled,
            Self::Fail => PayoutState::Failed,
            Self::Void if payout.payout.state == PayoutState::VoidRequested => PayoutState::Void,
            Self::Void => PayoutState::VoidRequested,
            Self::Withdraw => before_request(payout),
        }
    }
}

/// Where it was before the request to void it.
fn before_request(payout: &Payout) -> PayoutState {
    let mut before = payout.steps.iter().rev().map(|step| step.state);
    before
        .find(|state| *state != PayoutState::VoidRequested)
        .unwrap_or(payout.payout.state)
}

pub fn in_words(words: Words, state: PayoutState) -> String {
    words.t(&format!("payout-state-{}", state.as_str()))
}

/// A state in words, as a badge.
pub fn badge(words: Words, state: PayoutState) -> Markup {
    let class = match state {
        PayoutState::Settled | PayoutState::Paid => "badge good",
        PayoutState::Failed => "badge bad",
        PayoutState::Held | PayoutState::VoidRequested => "badge warn",
        PayoutState::Due | PayoutState::Void => "badge",
    };
    html! { span class=(class) { (in_words(words, state)) } }
}

/// What is known of it, and what can be done.
pub fn panel(desk: &Desk, whole: &Payout) -> Markup {
    let (words, payout) = (desk.words, &whole.payout);
    let steps = Step::ALL.into_iter().filter(|step| step.fits(desk, payout.state));
    let steps: Vec<_> = steps.collect();
    let none = || words.t("none");
    html! {
        section.panel.stack {
            h2 { (words.t("define-settlements")) }
            dl.facts {
                dt { (words.t("payout-state")) } dd { (badge(words, payout.state)) }
                dt { (words.t("payout-approved-by")) } dd { (payout.approved_by.clone().unwrap_or_else(none)) }
                dt { (words.t("payout-settlement")) } dd {
                    @match &payout.settlement {
                        Some(last) => {
                            span.id { (last.settlement_id) } " · " (time(&last.at)) " · "
                            (last.reference.as_ref().or(last.reason.as_ref()).map_or("", String::as_str))
                        }
                        None => (none()),
                    }
                }
                @if let Some(void) = &payout.void_receipt {
                    dt { (words.t("payout-voided-at")) } dd { (time(&void.voided_at)) }
                }
            }
            @if !steps.is_empty() { div.row { @for step in steps {
                @let class = if step == Step::Void { "button danger" } else { "button" };
                a class=(class) href=(links::payout_step(&payout.receipt.payout_id, step.as_str())) { (words.t(&format!("payout-{}", step.as_str()))) }
            } } }
            (wide(&words.t("payout-steps"), &history(words, &whole.steps)))
        }
    }
}

/// What was done with it, oldest first.
fn history(words: Words, steps: &[PayoutStepRow]) -> Markup {
    html! { table {
        thead { tr {
            (heads(words, &["payout-state", "audit-at", "audit-who", "payout-owner", "action-reason"]))
        } }
        tbody { @for step in steps { tr {
            td { (badge(words, step.state)) }
            td { (time(&step.at)) }
            td.id { (step.who.as_deref().unwrap_or("")) }
            td.id { (step.owner.as_deref().unwrap_or("")) }
            td { (step.reason.as_deref().unwrap_or("")) }
        } } }
    } }
}

/// The payout and the step that a path names.
async fn named(desk: &Desk, path: &(String, String)) -> Result<(Step, Payout), Failure> {
    let no_page = || Failure::new(desk.words, StatusCode::NOT_FOUND, "failure-no-page");
    let step = Step::parse(&path.1).ok_or_else(no_page)?;
    Ok((step, desk.get(&api(&path.0)).await?))
}

fn api(payout_id: &str) -> String {
    format!("/v1/payouts/{}", links::part(payout_id))
}

async fn get(desk: Desk, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (step, payout) = named(&desk, &path).await?;
    let mut form = Form::default();
    form.set(ID, desk.new_id()?);
    if step == Step::Settle {
        form.set(REFERENCE, "");
        return Ok(ask(&desk, &payout.payout.receipt, &form));
    }
    preview(&desk, step, &payout, &form).await
}

async fn post(Posted { desk, mut form }: Posted, path: Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let (step, payout) = named(&desk, &path).await?;
    if step == Step::Settle && form.get(REFERENCE).trim().is_empty() {
        form.refuse(REFERENCE, desk.words.t("payout-reference-missing"));
        return Ok(ask(&desk, &payout.payout.receipt, &form));
    }
    if action::is_confirmed(&form) {
        let reason = form.get(REASON);
        let body = match step {
            Step::Approve | Step::Void | Step::Withdraw => json!({ "reason": reason }),
            Step::Settle => json!({ "settlement_id": form.get(ID), "reference": form.get(REFERENCE) }),
            Step::Fail => json!({ "settlement_id": form.get(ID), "reason": reason }),
        };
        // The event of a settlement has its reference alone.
        if step != Step::Settle || action::keep_reason(&desk, &mut form).await {
            let call = format!("{}/{}", api(&path.0), step.as_str());
            match desk.call::<ListedPayout>(Method::POST, &call, Some(&body)).await {
                // The payout is not held any more: an approver does not see it again.
                Ok(_) if step == Step::Approve => return Ok(action::done(&desk, links::HELD, "done-payout-approve")),
                // The answer says where the payout is: who asked for a void does not do it.
                Ok(answered) => {
                    let state = if step == Step::Withdraw {
                        "withdrawn"
                    } else {
                        answered.state.as_str()
                    };
                    return Ok(action::done(
                        &desk,
                        &links::payout(&path.0),
                        &format!("done-payout-{state}"),
                    ));
                }
                Err(problem) => form.refused_by(&problem, str::to_owned),
            }
        }
    }
    preview(&desk, step, &payout, &form).await
}

fn page(words: Words, step: Step, receipt: &Receipt) -> Page {
    let name = format!("{} #{}", receipt.jackpot_id, receipt.claim_order);
    let trail = [
        (words.t("payouts"), "/console/payouts".to_owned()),
        (name, links::payout(&receipt.payout_id)),
    ];
    Page::new(Section::Payouts, words.t(&format!("payout-{}", step.as_str()))).under(trail)
}

/// The step in which the operator says how the winner was paid.
fn ask(desk: &Desk, receipt: &Receipt, form: &Form) -> HttpResponse {
    let words = desk.words;
    let page = page(words, Step::Settle, receipt);
    let (hint, id_hint) = (words.t("payout-reference-hint"), words.t("payout-settlement-id-hint"));
    let fields = html! {
        div.fields {
            (Field::new(REFERENCE, &words.t("payout-reference"), Kind::Text).hint(&hint).of(form))
            (Field::new(ID, &words.t("payout-settlement-id"), Kind::Text).hint(&id_hint).of(form))
        }
    };
    action::ask(desk, page, form, &links::payout(&receipt.payout_id), &fields)
}

/// The step that shows what will change.
async fn preview(desk: &Desk, step: Step, payout: &Payout, form: &Form) -> Result<HttpResponse, Failure> {
    let words = desk.words;
    let (receipt, after) = (&payout.payout.receipt, step.leads_to(payout));
    let mut changes = vec![Change {
        what: words.t("payout-state"),
        before: in_words(words, payout.payout.state),
        after: in_words(words, after),
    }];
    if after == PayoutState::Void {
        let jackpot: Jackpot = desk.get(&links::jackpot_api(receipt.jackpot_id.as_str())).await?;
        let shown = |amount: u64| money(words.0, receipt.currency.amount(amount));
        let own = jackpot.meters.iter().find(|meter| meter.tier == receipt.tier);
        changes.extend(own.map(|meter| Change {
            what: format!("{} · {}", meter.tier, words.t("overflow")),
            before: shown(meter.overflow),
            after: shown(meter.overflow + receipt.amount.get()),
        }));
    }
    let amount = money(words.0, receipt.currency.amount(receipt.amount.get()));
    let about = [("amount", amount.into()), ("player", receipt.player_id.as_str().into())];
    let effect = if step == Step::Withdraw {
        "withdrawn"
    } else {
        after.as_str()
    };
    let back = links::payout(&receipt.payout_id);
    let action = Action {
        page: page(words, step, receipt),
        effects: &[words.tv(&format!("payout-effect-{effect}"), about)],
        changes: &changes,
        button: &words.t(&format!("payout-{}", step.as_str())),
        is_final: matches!(after, PayoutState::Settled | PayoutState::Void),
        back: &back,
    };
    Ok(action.page(desk, form))
}
