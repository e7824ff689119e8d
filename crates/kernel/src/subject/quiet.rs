//! Subjects in which a worker found nothing to do. There is nothing until their mark changes. Pure.

use std::collections::HashMap;

use jackpot_core::ids::Id;
use jackpot_core::mark::Mark;
use tokio::time::Instant;

use super::Glance;
use super::glance::Glances;
use crate::single_flight::Read;

/// The quiet subjects, each with its mark when nothing was to do.
#[derive(Debug, Default)]
pub struct Quiet {
    at: HashMap<Id, Mark>,
    /// When the last reading of marks began that was taken.
    taken: Option<Instant>,
}

impl Quiet {
    /// Nothing was to do at this mark.
    pub fn found(&mut self, id: &Id, mark: Mark) {
        match self.at.get_mut(id) {
            Some(at) => *at = mark,
            None => _ = self.at.insert(id.clone(), mark),
        }
    }

    /// Something is to do.
    pub fn lost(&mut self, id: &Id) {
        self.at.remove(id);
    }

    /// Whether nothing was to do at this mark or a later one.
    pub fn covers(&self, id: &Id, mark: Mark) -> bool {
        self.at.get(id).is_some_and(|at| *at >= mark)
    }

    /// The subjects of a reading that are not quiet at its mark. A reading counts once.
    pub fn news<'r>(&mut self, read: &'r Read<Glances>) -> Vec<(&'r Id, Glance)> {
        if self.taken.replace(read.begun) == Some(read.begun) {
            return Vec::new();
        }
        let is_news = |(id, glance): &&'r (Id, Glance)| match glance {
            Glance::At(mark) => self.at.get(id) != Some(mark),
            Glance::Unclear => true,
        };
        read.value
            .iter()
            .filter(is_news)
            .map(|(id, glance)| (id, *glance))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_subject_is_news_once_its_mark_changes() {
        let id = |name: &str| Id::parse(name).expect("an id");
        let mark = |n| Mark::new(0, n).expect("a mark");
        let (a, b) = (id("a"), id("b"));
        let mut quiet = Quiet::default();
        let news = |quiet: &mut Quiet, value: Glances| {
            let read = Read {
                begun: Instant::now(),
                value,
            };
            let news = quiet.news(&read).into_iter().map(|(id, _)| id.to_string());
            let news = news.collect::<Vec<_>>().join(" ");
            assert!(quiet.news(&read).is_empty(), "a reading counts once");
            news
        };
        let at = |n| vec![(id("a"), Glance::At(mark(n))), (id("b"), Glance::At(mark(1)))];
        assert_eq!(news(&mut quiet, at(3)), "a b");
        quiet.found(&a, mark(3));
        quiet.found(&b, mark(1));
        assert_eq!(news(&mut quiet, at(3)), "");
        assert_eq!(news(&mut quiet, at(4)), "a");
        assert_eq!(news(&mut quiet, at(2)), "a", "Redis lost events");
        assert_eq!(news(&mut quiet, vec![(id("b"), Glance::Unclear)]), "b");
        assert!(quiet.covers(&a, mark(3)) && !quiet.covers(&a, mark(4)));
        quiet.lost(&b);
        assert_eq!(news(&mut quiet, at(3)), "b");
    }
}
