//! Replays transfers: the room that one needs, what the tiers give, and where it goes.

use jackpot_core::ids::Id;
use jackpot_core::jackpot::transfer;
use jackpot_core::wire::Field;
use sha2::{Digest, Sha256};

use super::Replay;
use crate::jackpot::ledger::event::{Expect, Give, Receive, Release};
use crate::proof::verify::report::{Place, Report};

/// Bytes of the digest of the parts.
const DIGEST_LEN: usize = 16;

impl Replay {
    pub(super) fn expect(&mut self, n: u64, expect: &Expect, report: &mut Report) {
        if !self
            .transfers
            .insert(transfer::room(&expect.from, &expect.transfer_id, &expect.digest))
        {
            report.wrong(
                Place::Event(n),
                format!("transfer '{}' has room before", expect.transfer_id),
            );
        }
        for part in &expect.parts {
            self.tiers.expect(part);
        }
    }

    pub(super) fn give(&mut self, n: u64, give: &Give, report: &mut Report) {
        let transfer_id = &give.transfer_id;
        if !self.transfers.insert(transfer::out(transfer_id)) {
            report.wrong(Place::Event(n), format!("transfer '{transfer_id}' was given before"));
        }
        for stated in &give.parts {
            self.cycles.gave(&stated.tier, report);
            let right = self.tiers.give(&stated.tier, &stated.to_tier);
            if right != *stated {
                let what = format!("transfer '{transfer_id}' gives '{stated}', and the tier holds '{right}'");
                report.wrong(Place::Event(n), what);
            }
        }
    }

    pub(super) fn receive(&mut self, n: u64, receive: &Receive, report: &mut Report) {
        let (from, transfer_id) = (&receive.from, &receive.transfer_id);
        if !self.transfers.insert(transfer::came_in(from, transfer_id)) {
            report.wrong(
                Place::Event(n),
                format!("transfer '{transfer_id}' of '{from}' came in before"),
            );
        }
        let digest = hex::encode(&Sha256::digest(receive.parts.text())[..DIGEST_LEN]);
        let has_room = match &receive.room {
            Some(room) => {
                let is_of_parts = room.split('!').next() == Some(&*digest);
                let is_there = is_of_parts && self.end_room(from, transfer_id, room);
                if !is_there {
                    report.wrong(
                        Place::Event(n),
                        format!("transfer '{transfer_id}' of '{from}' takes room that there is not"),
                    );
                }
                true
            }
            // An earlier version takes the first room, and says nothing of it.
            None => self.end_room(from, transfer_id, &digest),
        };
        for part in &receive.parts {
            let guarded = self.cycles.guarded_to(&part.to_tier);
            self.tiers.receive(part, has_room, guarded);
        }
    }

    pub(super) fn release(&mut self, n: u64, ends: &Release, report: &mut Report) {
        if !self.end_room(&ends.from, &ends.transfer_id, &ends.digest) {
            let what = format!("room for transfer '{}' ends that there is not", ends.transfer_id);
            report.wrong(Place::Event(n), what);
        }
        for part in &ends.parts {
            self.tiers.release(part);
        }
    }

    /// Whether there is such a room; it is there no more then.
    fn end_room(&mut self, from: &Id, transfer_id: &Id, digest: &str) -> bool {
        let is_there = self.transfers.contains(&transfer::room(from, transfer_id, digest));
        is_there && self.transfers.insert(transfer::freed(from, transfer_id, digest))
    }
}
