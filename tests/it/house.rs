//! The arrows between the rooms of a crate. The tables in `src/lib.rs` say which crates and rooms there are, which room
//! may use which other one of its crate, and which files are pure. Cargo keeps the arrows between crates. These tests read
//! every path of the source and fail on
//!
//! - a pair of rooms that the map does not allow, and a room that it does not have,
//! - a circle of rooms in the map, or of files that passes through two rooms,
//! - actix, Redis or SQL in a pure file or crate,
//! - a line of the map that is no longer true.
//!
//! `cargo nextest run --test it house --no-capture` prints the pairs with their numbers of uses.

mod map;
mod uses;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use map::{Map, PLACE, covers, short};
use uses::{Absolute, Source, TestModule};

/// Names and texts of the files that are checked.
pub type Tree = BTreeMap<String, String>;

/// Crates that a pure file must not use. `actix` stands for every crate of that family.
const IMPURE: [&str; 3] = ["actix", "redis", "sqlx"];

/// The name of the root package's library.
const ROOT: &str = "jackpot";

fn is_impure(name: &str) -> bool {
    IMPURE.iter().any(|impure| {
        name == *impure
            || name
                .strip_prefix(impure)
                .is_some_and(|rest| rest.starts_with(['-', '_']))
    })
}

/// One use of another room of the same crate.
struct Arrow {
    file: String,
    line: usize,
    /// The file that has it, if it is one.
    into: Option<String>,
    pair: (String, String),
    path: String,
    /// It is written with a name that a `use` brought in, which counts instead.
    by_name: bool,
}

/// The uses and files that were read.
struct House {
    map: Map,
    arrows: Vec<Arrow>,
    /// Uses of a file by another file of the same room.
    within: Vec<(String, usize, String)>,
    /// Every room, with its crate.
    rooms: BTreeSet<(String, String)>,
    /// Rooms that another crate uses.
    used_elsewhere: BTreeSet<String>,
    /// Every file, from its room: `jackpot/play`.
    modules: BTreeSet<String>,
    faults: Vec<String>,
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// The crate of a file: `src` or a folder of `crates/`.
fn crate_of(path: &str) -> &str {
    path.split_once("/src/").map_or("src", |(krate, _)| krate)
}

/// The module of a file, from `crate`.
fn module_of(path: &str) -> Absolute {
    let path = path.rsplit_once("src/").map_or(path, |(_, path)| path);
    let path = path.trim_end_matches(".rs");
    let mut module = vec!["crate".to_owned()];
    module.extend(path.split('/').map(str::to_owned));
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

/// Files that are compiled only for tests.
fn test_files(sources: &BTreeMap<&str, Source>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, source) in sources {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let within = match path.strip_suffix("/mod.rs") {
            Some(folder) => folder,
            None => path.trim_end_matches(".rs"),
        };
        for module in &source.tests {
            match module {
                TestModule::Beside(name) => {
                    found.insert(format!("{folder}/{name}"));
                }
                TestModule::Within(name) => {
                    found.insert(format!("{within}/{name}.rs"));
                    found.insert(format!("{within}/{name}/mod.rs"));
                }
            }
        }
    }
    found
}

/// The crates of `crates/`: the name of the library and the folder.
fn members(tree: &Tree) -> BTreeMap<String, String> {
    let manifests = tree.iter().filter(|(path, _)| path.ends_with("/Cargo.toml"));
    manifests
        .filter_map(|(path, text)| {
            let manifest: toml::Table = toml::from_str(text).ok()?;
            let name = manifest.get("package")?.get("name")?.as_str()?.replace('-', "_");
            Some((name, path.trim_end_matches("/Cargo.toml").to_owned()))
        })
        .collect()
}

impl House {
    fn read(tree: &Tree) -> Result<Self, String> {
        let map = Map::read(tree.get(PLACE).ok_or(format!("there is no {PLACE}"))?)?;
        let mut house = Self {
            map,
            arrows: Vec::new(),
            within: Vec::new(),
            rooms: BTreeSet::new(),
            used_elsewhere: BTreeSet::new(),
            modules: BTreeSet::new(),
            faults: Vec::new(),
        };
        let members = members(tree);
        house.read_manifests(tree, &members);
        for krate in ["src"].into_iter().chain(members.values().map(String::as_str)) {
            house.read_crate(krate, tree, &members)?;
        }
        Ok(house)
    }

    /// Compares the table of crates with the manifests, which Cargo enforces.
    fn read_manifests(&mut self, tree: &Tree, members: &BTreeMap<String, String>) {
        for (path, text) in tree.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
            let krate = path.strip_suffix("/Cargo.toml").unwrap_or("src");
            let manifest: toml::Table = toml::from_str(text).unwrap_or_default();
            let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
            let names = dependencies.into_iter().flat_map(toml::Table::keys);
            let uses = names.filter_map(|name| members.get(&name.replace('-', "_")));
            let uses: BTreeSet<String> = uses.cloned().collect();
            if self.map.crates.get(krate) != Some(&uses) {
                let uses = Vec::from_iter(uses).join(", ");
                self.faults
                    .push(format!("{path}: {krate} uses {uses}: the map has no such row"));
            }
        }
    }

    /// The room of a module of a crate; `None` of a `lib.rs`, which only declares rooms.
    fn room_of(&self, krate: &str, module: &[String]) -> Option<String> {
        if self.map.is_room(krate) {
            return Some(short(krate).to_owned());
        }
        module.get(1).cloned()
    }

    fn read_crate(&mut self, krate: &str, tree: &Tree, members: &BTreeMap<String, String>) -> Result<(), String> {
        let mut sources = BTreeMap::new();
        for (path, text) in tree.iter().filter(|(path, _)| is_rust(path) && crate_of(path) == krate) {
            let source = Source::parse(module_of(path), text);
            sources.insert(path.as_str(), source.map_err(|error| format!("{path}: {error}"))?);
        }
        let tests = test_files(&sources);
        sources.retain(|path, _| !tests.contains(*path));
        let files: BTreeMap<Absolute, &str> = sources.keys().map(|path| (module_of(path), *path)).collect();
        let modules = files.keys().cloned().collect();
        for (path, source) in &sources {
            let module = module_of(path);
            let Some(room) = self.room_of(krate, &module) else {
                continue;
            };
            self.rooms.insert((room.clone(), krate.to_owned()));
            let mut name = module[1..].join("/");
            if self.map.is_room(krate) {
                name = format!("{room}/{name}");
            }
            let is_pure = self.map.is_pure(&name);
            self.modules.insert(name.clone());
            for used in source.uses(&modules) {
                let Some(begin) = used.path.first() else { continue };
                if is_pure && is_impure(begin) {
                    let what = used.path.join("::");
                    self.faults
                        .push(format!("{path}:{}: {name} is pure, and uses {what}", used.line));
                }
                let top = files.get(&module[..1]).map(|top| &sources[top]);
                let Some(target) = target(&used.path, &files, top) else {
                    continue;
                };
                if let Some(member) = members.get(&target[0]) {
                    self.used_elsewhere.extend(self.room_of(member, &target));
                    continue;
                }
                let Some(to) = self.room_of(krate, &target).filter(|_| target[0] == "crate") else {
                    continue;
                };
                let into = (2..=target.len()).rev().find_map(|end| files.get(&target[..end]));
                let into = into.map(|into| (*into).to_owned());
                if to != room {
                    self.arrows.push(Arrow {
                        file: (*path).to_owned(),
                        line: used.line,
                        into,
                        pair: (room.clone(), to),
                        path: used.path.join("::"),
                        by_name: used.by_name,
                    });
                } else if let Some(into) = into.filter(|into| into != path) {
                    self.within.push(((*path).to_owned(), used.line, into));
                }
            }
        }
        Ok(())
    }

    /// How often each room uses each other one.
    fn pairs(&self) -> BTreeMap<(&str, &str), usize> {
        let mut pairs = BTreeMap::new();
        for Arrow { pair: (from, to), .. } in self.arrows.iter().filter(|arrow| !arrow.by_name) {
            *pairs.entry((from.as_str(), to.as_str())).or_default() += 1;
        }
        pairs
    }

    /// Everything that is wrong.
    fn violations(&self) -> Vec<String> {
        let mut found = self.faults.clone();
        for Arrow {
            file,
            line,
            pair: (from, to),
            path,
            by_name,
            ..
        } in &self.arrows
        {
            if !by_name && self.map.rooms.contains_key(from) && !self.map.allows(from, to) {
                found.push(format!("{file}:{line}: {from} → {to} is not in the map ({path})"));
            }
        }
        found.extend(self.map_violations());
        found.extend(self.circles_of_files());
        found
    }

    fn map_violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        let used = self.pairs();
        for (from, to, line) in self.map.pairs() {
            if !used.contains_key(&(from, to)) {
                found.push(format!(
                    "{PLACE}:{line}: {from} → {to} is in the map, and no code uses it"
                ));
            }
        }
        for (room, krate) in &self.rooms {
            if !self.map.rooms.contains_key(room) {
                found.push(format!("{PLACE}: the map lacks the room '{room}' of {krate}"));
            }
        }
        for (room, row) in &self.map.rooms {
            let (line, krate) = (row.line, &row.krate);
            if !self.rooms.contains(&(room.clone(), krate.clone())) {
                found.push(format!("{PLACE}:{line}: there is no room '{room}' in {krate}"));
            }
            if row.is_base && !used.keys().any(|(_, to)| to == room) && !self.used_elsewhere.contains(room) {
                found.push(format!("{PLACE}:{line}: nobody uses '{room}'"));
            }
        }
        for (line, pure) in &self.map.pure {
            if !self.modules.iter().any(|module| covers(pure, module)) {
                found.push(format!("{PLACE}:{line}: there is no file '{pure}'"));
            }
        }
        let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, row) in &self.map.rooms {
            let allowed = self
                .map
                .rooms
                .keys()
                .filter(|to| *to != from && self.map.allows(from, to));
            arrows.entry(from).or_default().extend(allowed.map(String::as_str));
            arrows
                .entry(from)
                .or_default()
                .extend(row.may_use.iter().map(String::as_str));
        }
        for circle in circles(&arrows) {
            let line = self.map.rooms[circle[0]].line;
            found.push(format!(
                "{PLACE}:{line}: the map has a circle of rooms: {}",
                circle.join(" → ")
            ));
        }
        found
    }

    /// The shortest circles through two rooms or more. No file is in two of these circles.
    fn circles_of_files(&self) -> Vec<String> {
        let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut lines = BTreeMap::new();
        let across = self.arrows.iter();
        let across = across.filter_map(|arrow| Some((arrow.file.as_str(), arrow.line, arrow.into.as_deref()?)));
        let across: Vec<_> = across.collect();
        let within = self.within.iter();
        let within = within.map(|(file, line, into)| (file.as_str(), *line, into.as_str()));
        for (file, line, into) in across.iter().copied().chain(within) {
            arrows.entry(file).or_default().insert(into);
            lines.entry((file, into)).or_insert(line);
        }
        // Each circle has an arrow from room to room.
        let pairs: BTreeSet<_> = across.into_iter().map(|(file, _, into)| (file, into)).collect();
        let back = pairs
            .into_iter()
            .filter_map(|(file, into)| Some((file, way(into, file, &arrows)?)));
        let mut circles: Vec<Vec<&str>> = back.map(|(file, back)| [&[file], &back[..]].concat()).collect();
        circles.sort_by_key(Vec::len);
        let (mut found, mut named) = (Vec::new(), BTreeSet::new());
        for circle in circles {
            if circle.iter().any(|file| named.contains(file)) {
                continue;
            }
            let room = |file: &&str| self.room_of(crate_of(file), &module_of(file));
            let rooms: BTreeSet<_> = circle.iter().filter_map(room).collect();
            let rooms = rooms.into_iter().collect::<Vec<_>>().join(", ");
            let steps = circle
                .windows(2)
                .map(|step| format!("{}:{}", step[0], lines[&(step[0], step[1])]));
            let steps = steps.collect::<Vec<_>>().join(" → ");
            found.push(format!("{steps} → {}: a circle of files across {rooms}", circle[0]));
            named.extend(circle);
        }
        found
    }
}

/// Where a path leads: from `crate`, or from another crate whose names `lib.rs` (`top`) passes on.
fn target(path: &[String], files: &BTreeMap<Absolute, &str>, top: Option<&Source>) -> Option<Absolute> {
    let root = path.first()?.as_str();
    // `main.rs` uses the library by its name.
    let of_library = root == ROOT && files.contains_key(&vec!["crate".to_owned(), path.get(1)?.clone()]);
    if root != "crate" && !of_library {
        return Some(path.to_vec());
    }
    let path = [&["crate".to_owned()], &path[1..]].concat();
    if (2..=path.len()).any(|end| files.contains_key(&path[..end])) {
        return Some(path);
    }
    let passed_on = top?.alias(path.get(1)?).filter(|to| to[0] != "crate")?;
    Some([passed_on, &path[2..]].concat())
}

/// The circles of a graph: one closed and shortest circle for each set of nodes that reach one another.
fn circles<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for start in arrows.keys() {
        if done.contains(start) {
            continue;
        }
        if let Some(circle) = way(start, start, arrows) {
            // All nodes that share a circle with it belong to the same set.
            let reached = reach(start, arrows);
            done.extend(reached.into_iter().filter(|node| reach(node, arrows).contains(start)));
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(start: &str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&'a str> = arrows.get(start).into_iter().flatten().copied().collect();
    while let Some(node) = next.pop() {
        if reached.insert(node) {
            next.extend(arrows.get(node).into_iter().flatten().copied());
        }
    }
    reached
}

/// The shortest way of at least one step, including both ends.
fn way<'a>(from: &'a str, to: &str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for next in arrows.get(node).into_iter().flatten().copied() {
            if next == to {
                let mut way = vec![next, node];
                while let Some(earlier) = way.last().and_then(|last| before.get(last)) {
                    way.push(earlier);
                }
                way.reverse();
                return Some(way);
            }
            if next != from && !before.contains_key(next) {
                before.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

pub fn read_tree(top: &Path) -> Tree {
    let manifest = fs::read_to_string(top.join("Cargo.toml")).expect("the manifest");
    let mut tree = Tree::from([("Cargo.toml".to_owned(), manifest)]);
    let mut folders = vec![top.join("src"), top.join("crates")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("a folder of the project can be read").path()) {
            let name = path.strip_prefix(top).expect("below the top").display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if is_rust(&name) || name.ends_with("Cargo.toml") {
                tree.insert(name, fs::read_to_string(&path).expect("source is text"));
            }
        }
    }
    tree
}

#[test]
fn the_rooms_keep_to_the_map() {
    let house = House::read(&read_tree(Path::new(env!("CARGO_MANIFEST_DIR")))).expect("a house");
    println!("| from | to | uses |\n| --- | --- | ---: |");
    for ((from, to), uses) in house.pairs() {
        println!("| {from} | {to} | {uses} |");
    }
    assert!(house.arrows.len() > 500, "the source was read");
    let found = house.violations();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A sound house: `shop → till → money`, and a crate of one room.
fn sound() -> Tree {
    let files = [
        (
            "src/lib.rs",
            "//! | crate | what | uses |\n\
             //! | --- | --- | --- |\n\
             //! | `src` | the house | `crates/core` |\n\
             //! | `crates/core` | the rest | |\n\
             //!\n\
             //! | room | crate | what | may use |\n\
             //! | --- | --- | --- | --- |\n\
             //! | `main` | `src` | starts | `shop` |\n\
             //! | [`shop`] | `src` | sells | `till` |\n\
             //! | [`till`] | `src` | takes money | |\n\
             //! | [`money`] | `src` | amounts | everyone uses it |\n\
             //! | `core` | `crates/core` | the rest | everyone uses it |\n\
             //!\n\
             //! | room | pure files |\n\
             //! | --- | --- |\n\
             //! | `till` | `sum` |\n\
             //! | `core` | `all` |\n\
             pub mod money; pub mod shop; pub mod till;\n\
             pub use house_core::odds;\n",
        ),
        ("src/main.rs", "fn main() { jackpot::shop::open(); }"),
        (
            "src/shop/mod.rs",
            "use crate::till::Till;\npub mod api;\npub fn open() {}",
        ),
        (
            "src/shop/api.rs",
            "use super::open;\nuse crate::odds::Odds;\nuse actix_web::web;",
        ),
        (
            "src/till/mod.rs",
            "pub mod sum;\nuse crate::money::Minor;\nuse redis::Cmd;\npub struct Till;",
        ),
        (
            "src/till/sum.rs",
            "use super::Till;\n#[cfg(test)]\nmod tests { use crate::shop::open; use redis::Cmd; }",
        ),
        ("src/money.rs", "pub struct Minor;"),
        (
            "Cargo.toml",
            "[package]\nname = \"house\"\n[dependencies]\nhouse-core.workspace = true\n",
        ),
        (
            "crates/core/Cargo.toml",
            "[package]\nname = \"house-core\"\n[dependencies]\nserde.workspace = true\n",
        ),
        ("crates/core/src/lib.rs", "mod odds;\npub struct Odds;"),
        ("crates/core/src/odds.rs", "use crate::Odds;"),
    ];
    files.map(|(path, text)| (path.to_owned(), text.to_owned())).into()
}

/// The violations when `text` replaces a file, or is added to it if it begins with `+`.
fn found(changes: &[(&str, &str)]) -> Vec<String> {
    let mut tree = sound();
    for (path, text) in changes {
        let file = tree.entry((*path).to_owned()).or_default();
        match text.strip_prefix('+') {
            Some(more) => file.extend(["\n", more]),
            None => (*text).clone_into(file),
        }
    }
    House::read(&tree).map_or_else(|error| vec![error], |house| house.violations())
}

#[test]
fn a_sound_house_has_no_violation() {
    assert_eq!(found(&[]), [""; 0]);
}

#[test]
fn a_pair_that_the_map_does_not_allow_is_named_wherever_it_is_written() {
    let written = [
        "use crate::shop::open;",
        "use crate::{money, shop::open};",
        "use super::super::shop;",
        "fn f() { crate::shop::open() }",
        "fn f(x: Option<crate::shop::Shop>) {}",
        "fn f() { println!(\"{}\", crate::shop::NAME) }",
        "#[derive(Serialize)] struct S { #[serde(with = \"crate::shop::form\")] s: u8 }",
        "#[openapi(paths(crate::shop::get))] struct S;",
        "impl crate::shop::Shop for S {}",
        "mod inner { use super::super::super::shop; }",
    ];
    for text in written {
        let found = found(&[("src/till/sum.rs", text)]);
        assert!(
            found
                .iter()
                .any(|found| found.starts_with("src/till/sum.rs:1: till → shop is not in the map (")),
            "{text}: {found:?}"
        );
    }
    let renamed = found(&[("src/money.rs", "+use crate::till as t;\nfn f() { t::sum::add() }")]);
    let wanted = "src/money.rs:2: money → till is not in the map (crate::till)";
    assert_eq!(
        renamed
            .iter()
            .filter(|found| found.starts_with("src/money.rs:2: "))
            .collect::<Vec<_>>(),
        [wanted]
    );
}

#[test]
fn a_circle_of_rooms_in_the_map_is_named() {
    let tree = sound();
    let map = tree[PLACE].replace("takes money | |", "takes money | `shop` |");
    let found = found(&[(PLACE, &map), ("src/till/mod.rs", "+use crate::shop::open;")]);
    assert!(
        found.contains(&"src/lib.rs:9: the map has a circle of rooms: shop → till → shop".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_circle_of_files_across_rooms_is_named() {
    let circle = [
        ("src/till/mod.rs", "+use sum::Sum;"),
        ("src/till/sum.rs", "+use crate::shop::open;"),
    ];
    let wanted = "src/shop/mod.rs:1 → src/till/mod.rs:5 → src/till/sum.rs:4 → src/shop/mod.rs: a circle of files across shop, till";
    assert!(found(&circle).contains(&wanted.to_owned()), "{:?}", found(&circle));
    // A circle within a room is allowed, and hides no other.
    let within = ("src/shop/mod.rs", "+use api::Api;");
    assert_eq!(found(&[within]), [""; 0]);
    let both = found(&[circle[0], circle[1], within]);
    assert!(both.contains(&wanted.to_owned()), "{both:?}");
}

#[test]
fn io_in_a_pure_file_or_crate_is_named() {
    for (text, what) in [
        ("use actix_web::web;", "actix_web::web"),
        ("use redis;", "redis"),
        ("fn f() { sqlx::query() }", "sqlx::query"),
        ("#[derive(sqlx::FromRow)] struct Row;", "sqlx::FromRow"),
    ] {
        let found = found(&[("src/till/sum.rs", text)]);
        assert_eq!(found, [format!("src/till/sum.rs:1: till/sum is pure, and uses {what}")]);
    }
    let found = found(&[("crates/core/src/odds.rs", "+use redis::Cmd;")]);
    assert_eq!(
        found,
        ["crates/core/src/odds.rs:2: core/odds is pure, and uses redis::Cmd"]
    );
}

#[test]
fn a_map_that_is_no_longer_true_is_named() {
    let unused = found(&[("src/shop/mod.rs", "pub fn open() {}")]);
    assert_eq!(unused, ["src/lib.rs:9: shop → till is in the map, and no code uses it"]);
    let new = found(&[("src/cellar.rs", "pub struct Wine;")]);
    assert_eq!(new, ["src/lib.rs: the map lacks the room 'cellar' of src"]);
    let map = sound()[PLACE].replace("| [`till`] |", "| [`till`], `attic` |");
    assert_eq!(
        found(&[(PLACE, &map)]),
        ["src/lib.rs:10: there is no room 'attic' in src"]
    );
    let map = sound()[PLACE].replace("| `sum` |", "| `sum`, `rest` |");
    assert_eq!(found(&[(PLACE, &map)]), ["src/lib.rs:16: there is no file 'till/rest'"]);
    let idle = found(&[("src/till/mod.rs", "pub mod sum;\npub struct Till;")]);
    assert_eq!(idle, ["src/lib.rs:11: nobody uses 'money'"]);
}

#[test]
fn a_crate_uses_what_the_map_says() {
    let more = found(&[("crates/core/Cargo.toml", "+house-core.workspace = true")]);
    assert_eq!(
        more,
        ["crates/core/Cargo.toml: crates/core uses crates/core: the map has no such row"]
    );
    let other = "[package]\nname = \"play\"\n[dependencies]\nhouse-core.workspace = true\n";
    let other = found(&[("crates/play/Cargo.toml", other)]);
    assert_eq!(
        other,
        ["crates/play/Cargo.toml: crates/play uses crates/core: the map has no such row"]
    );
}
