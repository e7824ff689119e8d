//! The map of the house, as the crate docs in `src/lib.rs` declare it: three tables that people and this test read.

use std::collections::{BTreeMap, BTreeSet};

/// Where the map is.
pub const PLACE: &str = "src/lib.rs";

/// The head of the table of crates.
const CRATES: &str = "| crate | what | uses |";
/// The head of the table of rooms.
const ROOMS: &str = "| room | crate | what | may use |";
/// The head of the table of pure files.
const PURE: &str = "| room | pure files |";
/// In the last column: every room may use this one.
const BASE: &str = "everyone uses it";

/// The crate of a room, what else there the room may use, and the line of its row.
#[derive(Debug, Default)]
pub struct Row {
    pub line: usize,
    pub krate: String,
    pub may_use: BTreeSet<String>,
    pub is_base: bool,
}

/// The map.
#[derive(Debug, Default)]
pub struct Map {
    /// What each crate uses.
    pub crates: BTreeMap<String, BTreeSet<String>>,
    pub rooms: BTreeMap<String, Row>,
    /// Modules without I/O, such as `jackpot/draw`, with the parts below them; each with its line.
    pub pure: Vec<(usize, String)>,
}

impl Map {
    /// Reads all tables; a row that can't be read is a violation.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut map = Self::default();
        let mut table = None;
        for (index, line) in text.lines().enumerate() {
            let row = line.strip_prefix("//!").map(str::trim).unwrap_or_default();
            match (row, table) {
                (CRATES | ROOMS | PURE, _) => table = Some(row),
                (row, _) if !row.starts_with('|') => table = None,
                (row, Some(CRATES)) if !row.contains("---") => map.krate(row),
                (row, Some(ROOMS)) if !row.contains("---") => map.room(index + 1, row)?,
                (row, Some(_)) if !row.contains("---") => map.pure(index + 1, row),
                _ => {}
            }
        }
        if map.crates.is_empty() || map.rooms.is_empty() || map.pure.is_empty() {
            return Err(format!(
                "{PLACE}: lacks one of the tables '{CRATES}', '{ROOMS}', '{PURE}'"
            ));
        }
        Ok(map)
    }

    fn krate(&mut self, row: &str) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        if let [name, _, uses] = cells[..] {
            let uses: BTreeSet<String> = names_in(uses).collect();
            self.crates.extend(names_in(name).map(|name| (name, uses.clone())));
        }
    }

    fn room(&mut self, line: usize, row: &str) -> Result<(), String> {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [names, krate, _, may_use] = cells[..] else {
            return Err(format!("{PLACE}:{line}: a row of rooms has four cells"));
        };
        for room in names_in(names) {
            let row = Row {
                line,
                krate: names_in(krate).collect(),
                may_use: names_in(may_use).collect(),
                is_base: may_use.contains(BASE),
            };
            if self.rooms.insert(room.clone(), row).is_some() {
                return Err(format!("{PLACE}:{line}: '{room}' is twice in the map"));
            }
        }
        Ok(())
    }

    fn pure(&mut self, line: usize, row: &str) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [rooms, names] = cells[..] else { return };
        for room in names_in(rooms) {
            for name in names_in(names) {
                let path = if name == "all" {
                    room.clone()
                } else {
                    format!("{room}/{name}")
                };
                self.pure.push((line, path));
            }
        }
    }

    /// Whether `from` may use `to`.
    pub fn allows(&self, from: &str, to: &str) -> bool {
        let row = self.rooms.get(from);
        let is_base = |room: &str| self.rooms.get(room).is_some_and(|row| row.is_base);
        (is_base(to) && !is_base(from)) || row.is_some_and(|row| row.may_use.contains(to))
    }

    /// Every pair that the map allows by name.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        let rows = self.rooms.iter();
        rows.flat_map(|(from, row)| row.may_use.iter().map(move |to| (from.as_str(), to.as_str(), row.line)))
    }

    /// Whether a crate is one room, which has its name.
    pub fn is_room(&self, krate: &str) -> bool {
        let row = self.rooms.get(short(krate));
        row.is_some_and(|row| row.krate == krate)
    }

    /// Whether a module or a crate is pure: it is named, or something above it is.
    pub fn is_pure(&self, module: &str) -> bool {
        self.pure.iter().any(|(_, name)| covers(name, module))
    }
}

/// Whether `module` is `name` or a part of it.
pub fn covers(name: &str, module: &str) -> bool {
    module
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The name of a crate without its folder.
pub fn short(krate: &str) -> &str {
    krate.rsplit('/').next().unwrap_or(krate)
}

/// What stands between backticks.
fn names_in(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}
