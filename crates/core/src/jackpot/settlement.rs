//! Settlement of payouts: their states and the steps between them, and the limit from which on a payout waits for an
//! approval (docs/decisions/0056). Pure.

use utoipa::ToSchema;

use crate::event_part;
use crate::ids::Id;
use crate::money::Minor;
use crate::names;
use crate::wire::OrDash;
use crate::words;

names! {
    /// Whether the service follows payouts until the winner has the money.
    #[derive(Default, ToSchema)]
    pub enum Settlement as "`none` or `tracked`" {
        /// A payout is `paid`, and that is all.
        #[default]
        None = "none",
        /// Operators settle each payout.
        Tracked = "tracked",
    }
}

names! {
    /// Where a tracked payout is.
    pub enum State as "`held`, `due`, `settled`, `failed`, `void-requested` or `void`" {
        /// It waits for an approval.
        Held = "held",
        /// It is to be settled.
        Due = "due",
        /// The winner has the money.
        Settled = "settled",
        /// A settlement failed. It can be settled later.
        Failed = "failed",
        /// An owner asked to take it back.
        VoidRequested = "void-requested",
        /// It was taken back.
        Void = "void",
    }
}

impl State {
    /// Where a payout of this amount begins, under these terms; `None` where payouts are not tracked.
    #[must_use]
    pub fn at_claim(terms: &Terms, amount: u64) -> Option<Self> {
        let holds = terms.approval_above.is_some_and(|limit| amount >= limit.get());
        match terms.settlement {
            Settlement::None => None,
            Settlement::Tracked if holds => Some(Self::Held),
            Settlement::Tracked => Some(Self::Due),
        }
    }
}

names! {
    /// Where a payout is.
    #[derive(ToSchema)]
    pub enum PayoutState {
        /// It is not tracked.
        Paid = "paid",
        /// It waits for an approval.
        Held = "held",
        /// It is to be settled.
        Due = "due",
        /// The winner has the money.
        Settled = "settled",
        /// An attempt to settle it failed. It can be settled later.
        Failed = "failed",
        /// An owner asked to take it back.
        VoidRequested = "void-requested",
        /// It was taken back: its amount is in the overflow of its tier.
        Void = "void",
    }
}

impl PayoutState {
    /// Where a tracked payout is.
    #[must_use]
    pub fn tracked(self) -> Option<State> {
        State::parse(self.as_str())
    }
}

impl From<State> for PayoutState {
    fn from(state: State) -> Self {
        match state {
            State::Held => Self::Held,
            State::Due => Self::Due,
            State::Settled => Self::Settled,
            State::Failed => Self::Failed,
            State::VoidRequested => Self::VoidRequested,
            State::Void => Self::Void,
        }
    }
}

names! {
    /// What changes the state of a payout.
    pub enum Step as "`approve`, `settle`, `fail`, `void-request`, `void` or `withdraw`" {
        /// Another owner than who set the limit let it go.
        Approve = "approve",
        /// The winner got the money.
        Settle = "settle",
        /// An attempt to pay the winner failed.
        Fail = "fail",
        /// The first of two owners asked to take it back.
        VoidRequest = "void-request",
        /// The second one did.
        Void = "void",
        /// The request to take it back was withdrawn.
        Withdraw = "withdraw",
    }
}

names! {
    /// How an attempt to settle ended.
    pub enum Ended as "`settled` or `failed`" {
        /// The winner has the money.
        Settled = "settled",
        /// The winner does not.
        Failed = "failed",
    }
}

event_part!(Hold);

/// An attempt to settle a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// How it ended.
    pub ended: Ended,
    /// Its id, which a jackpot uses once.
    pub settlement_id: String,
    /// The reference of the payment, or why it failed.
    pub text: String,
    /// When it was reported, ms of Redis' clock; 0 for one that is reported now.
    pub at_ms: i64,
}

impl Attempt {
    /// Whether a report with the same id has the same content.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (self.ended, &self.settlement_id, &self.text) == (other.ended, &other.settlement_id, &other.text)
    }
}

/// A tracked payout, beside its receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where it is.
    pub state: State,
    /// Name of the key that approved it, and the owner of that key.
    pub approved: Option<(String, String)>,
    /// The last attempt to settle it.
    pub attempt: Option<Attempt>,
    /// The owner who asked to take it back.
    pub asked: Option<String>,
}

/// What an operator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Let it go.
    Approve,
    Report(Attempt),
    /// Take it back.
    Void,
    /// Withdraw the request to take it back.
    Withdraw {
        /// Where the payout began.
        first: State,
    },
}

/// What follows from a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: it is done, or there is nothing to do.
    Stays,
    /// This step, which leaves the payout so.
    Step(Step, Standing),
}

/// Why a wish is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It waits for an approval.
    Held,
    Settled,
    /// Somebody asked to take it back.
    VoidRequested,
    /// Nobody asks to take it back.
    NotVoidRequested,
    /// It was taken back.
    Void,
    /// Who approved it does not settle it.
    SameOwner,
}

impl Standing {
    /// Where a payout begins.
    #[must_use]
    pub fn new(state: State) -> Self {
        Self {
            state,
            approved: None,
            attempt: None,
            asked: None,
        }
    }

    /// What this wish leads to. The caller has looked for the settlement id of a report before: a known one decides first.
    /// The script looks who set the limit. `key`, `owner`: of who asks.
    pub fn decide(&self, wish: &Wish, key: &str, owner: &str) -> Result<Decision, Refusal> {
        match wish {
            Wish::Approve => self.approve(key, owner),
            Wish::Report(attempt) => self.report(attempt, owner),
            Wish::Void => self.void(owner),
            Wish::Withdraw { first } => self.withdraw(*first),
        }
    }

    fn approve(&self, key: &str, owner: &str) -> Result<Decision, Refusal> {
        match self.state {
            State::Held => {
                let after = Self {
                    state: State::Due,
                    approved: Some((key.to_owned(), owner.to_owned())),
                    ..self.clone()
                };
                Ok(Decision::Step(Step::Approve, after))
            }
            State::VoidRequested if self.approved.is_none() => Err(Refusal::VoidRequested),
            State::Void if self.approved.is_none() => Err(Refusal::Void),
            _ => Ok(Decision::Stays),
        }
    }

    fn report(&self, attempt: &Attempt, owner: &str) -> Result<Decision, Refusal> {
        let (step, state) = match attempt.ended {
            Ended::Settled => (Step::Settle, State::Settled),
            Ended::Failed => (Step::Fail, State::Failed),
        };
        match self.state {
            State::Held => Err(Refusal::Held),
            State::Settled => Err(Refusal::Settled),
            State::VoidRequested => Err(Refusal::VoidRequested),
            State::Void => Err(Refusal::Void),
            State::Due | State::Failed => {
                let approver = self.approved.as_ref().map(|(_, approver)| approver.as_str());
                if step == Step::Settle && approver == Some(owner) {
                    return Err(Refusal::SameOwner);
                }
                let after = Self {
                    state,
                    attempt: Some(attempt.clone()),
                    ..self.clone()
                };
                Ok(Decision::Step(step, after))
            }
        }
    }

    fn void(&self, owner: &str) -> Result<Decision, Refusal> {
        match self.state {
            State::Settled => Err(Refusal::Settled),
            State::Void => Ok(Decision::Stays),
            State::VoidRequested if self.asked.as_deref() == Some(owner) => Ok(Decision::Stays),
            State::VoidRequested => {
                let after = Self {
                    state: State::Void,
                    ..self.clone()
                };
                Ok(Decision::Step(Step::Void, after))
            }
            State::Held | State::Due | State::Failed => {
                let after = Self {
                    state: State::VoidRequested,
                    asked: Some(owner.to_owned()),
                    ..self.clone()
                };
                Ok(Decision::Step(Step::VoidRequest, after))
            }
        }
    }

    /// Back to where it was before the request, which its other fields tell.
    fn withdraw(&self, first: State) -> Result<Decision, Refusal> {
        if self.state != State::VoidRequested {
            return Err(Refusal::NotVoidRequested);
        }
        let state = match (&self.attempt, &self.approved) {
            (Some(_), _) => State::Failed,
            (None, Some(_)) => State::Due,
            (None, None) => first,
        };
        let after = Self {
            state,
            asked: None,
            ..self.clone()
        };
        Ok(Decision::Step(Step::Withdraw, after))
    }
}

/// Under what payouts are tracked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether they are.
    pub settlement: Settlement,
    /// The amount from which on a payout waits for an approval; `None`: none does.
    pub approval_above: Option<Minor>,
}

words! {
    /// Under what payouts of a jackpot are tracked, in the field `hold` of its state. It is there from the first PUT on that
    /// tracks payouts or has a limit.
    pub struct Hold as "hold" by ' ' {
        /// Whether payouts are tracked.
        pub settlement: Settlement,
        /// The amount from which on a payout waits for an approval, minor units; `-` for none.
        pub above: OrDash<Minor>,
        /// Owner of the last PUT that changed that amount, also of one that waits.
        pub owner: String,
        /// Version of the first PUT whose terms wait for an approval; `-` for none.
        pub asked: OrDash<u64>,
        /// Its `settlement`; `-` for none.
        pub asked_settlement: OrDash<Settlement>,
        /// Its amount; `-` for none.
        pub asked_above: OrDash<Minor>,
    }
}

words! {
    /// What payouts of a tier were taken back, in the field `voided` of the state.
    pub struct Voided as "voided" by ' ' each ';' {
        /// The tier.
        pub tier: Id,
        /// Minor units. The meter `funded` counts it too.
        pub amount: u64,
    }
}

impl Hold {
    /// The terms in force.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms {
            settlement: self.settlement,
            approval_above: self.above.0,
        }
    }

    /// The terms that wait for an approval.
    #[must_use]
    pub fn asked_terms(&self) -> Option<Terms> {
        self.asked.0?;
        Some(Terms {
            settlement: self.asked_settlement.0.unwrap_or_default(),
            approval_above: self.asked_above.0,
        })
    }

    /// The terms after a PUT, as `put_hold` in `lua/jackpot/limit.lua` works them out. `None`: the jackpot uses none of this.
    #[must_use]
    pub fn put(was: Option<&Self>, wanted: Terms, owner: &str, version: u64) -> Option<Self> {
        let before = was.map(Self::terms).unwrap_or_default();
        let target = was.and_then(Self::asked_terms).unwrap_or(before);
        if wanted == target {
            return was.cloned();
        }
        let set_by = was.filter(|_| wanted.approval_above == target.approval_above);
        let set_by = set_by.map_or(owner, |was| was.owner.as_str()).to_owned();
        let stops = wanted.settlement == Settlement::None && before.settlement == Settlement::Tracked;
        let raises = before
            .approval_above
            .is_some_and(|limit| wanted.approval_above.is_none_or(|wanted| wanted > limit) || stops);
        Some(Self {
            settlement: if raises && stops {
                before.settlement
            } else {
                wanted.settlement
            },
            above: OrDash(if raises {
                before.approval_above
            } else {
                wanted.approval_above
            }),
            owner: set_by,
            asked: OrDash(raises.then_some(version)),
            asked_settlement: OrDash(raises.then_some(wanted.settlement)),
            asked_above: OrDash(wanted.approval_above.filter(|_| raises)),
        })
    }

    /// The terms after what waits was approved; `None`: nothing waits.
    #[must_use]
    pub fn approved(&self) -> Option<Self> {
        let Terms {
            settlement,
            approval_above,
        } = self.asked_terms()?;
        Some(Self {
            settlement,
            above: OrDash(approval_above),
            owner: self.owner.clone(),
            asked: OrDash(None),
            asked_settlement: OrDash(None),
            asked_above: OrDash(None),
        })
    }
}

#[cfg(test)]
mod tests;
