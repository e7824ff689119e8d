//! Every script fits what Lua allows, in both forms in which Redis takes it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;

use jackpot::store::{Folder, Script};

use crate::store::support::{SAFE, Server};

const ROOMS: [(&str, &Folder); 3] = [
    ("jackpot", &jackpot::jackpot::scripts::LUA),
    ("coupon", &jackpot::coupon::scripts::LUA),
    ("room", &jackpot::room::scripts::LUA),
];
/// A type of event that no script writes.
const NO_SCRIPT: &str = "event/skipped";
/// Fewer were found: they are written in another way now, and this test reads nothing.
const AT_LEAST: usize = 40;

/// A script, and the part of it that runs in each call.
pub struct Source {
    pub script: Script,
    pub body: &'static str,
    /// The names of all its parts.
    parts: Vec<String>,
}

/// Each script of a room.
pub fn sources(room: &str) -> Vec<Source> {
    let (_, folder) = ROOMS.iter().find(|(name, _)| *name == room).expect("a room");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/{room}/src/scripts/mod.rs"));
    let text = fs::read_to_string(path).expect("the scripts of a room");
    let script = |call: &str| {
        let call = call.split(')').next().unwrap_or_default();
        let texts: Vec<&str> = call.split('"').skip(1).step_by(2).collect();
        let [name, flags, file] = texts[..] else {
            panic!("{call}");
        };
        Source {
            script: folder.script(Box::leak(name.to_owned().into_boxed_str()), flags, file),
            body: folder.text(file),
            parts: folder.needed(file).into_iter().map(str::to_owned).collect(),
        }
    };
    text.split("LUA.script(").skip(1).map(script).collect()
}

/// The names of the files below a folder of `lua/`.
fn files_in(folder: &str) -> BTreeSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua").join(folder);
    let (mut names, mut left) = (BTreeSet::new(), vec![top.clone()]);
    while let Some(directory) = left.pop() {
        for file in fs::read_dir(directory).expect("a folder of Lua") {
            let path = file.expect("a file").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(&top).expect("below it").with_extension("");
                names.insert(name.to_str().expect("a name").to_owned());
            }
        }
    }
    names
}

#[test]
fn all_lua_is_listed_and_needed() {
    for (room, folder) in ROOMS {
        let listed: BTreeSet<String> = folder.files.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, files_in(room));
        let needed: BTreeSet<String> = sources(room).into_iter().flat_map(|source| source.parts).collect();
        let made: BTreeSet<String> = folder.made.keys().filter(|name| *name != NO_SCRIPT).cloned().collect();
        let unneeded: Vec<_> = listed.union(&made).filter(|name| !needed.contains(*name)).collect();
        assert!(unneeded.is_empty(), "no script of {room} needs {unneeded:?}");
    }
    let shared = jackpot::subject::LUA
        .files
        .iter()
        .map(|(name, _)| name.trim_start_matches("subject/").to_owned());
    assert_eq!(shared.collect::<BTreeSet<_>>(), files_in("subject"));
}

/// A script must not call what it does not need, even where another one does. The whole scripts stay in `target/lua`.
#[test]
fn every_name_in_a_script_is_declared_in_it() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = top.join("target/lua");
    fs::create_dir_all(&folder).expect("a folder of target");
    let scripts = ROOMS.iter().flat_map(|(room, _)| sources(room));
    let files: Vec<_> = scripts
        .map(|source| {
            let file = folder.join(source.script.name()).with_extension("lua");
            let [whole, _] = source.script.sources();
            let (_, lua) = whole.split_once('\n').expect("the first line has the flags");
            fs::write(&file, lua).expect("a script is written");
            file
        })
        .collect();
    assert!(files.len() >= AT_LEAST, "{}", files.len());
    let check = Command::new("luacheck")
        .args(["-q", "--no-color", "--only", "1", "--config"])
        .arg(top.join(".luacheckrc"))
        .args(&files)
        .output();
    let check = check.expect("luacheck is installed: scripts/install.sh test");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}

/// Of its folder or of `lua/subject/`, or by its path. A part that is made from a declaration has no file.
#[test]
fn a_comment_names_files_that_are_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_name = |c: char| c.is_alphanumeric() || "_/.".contains(c);
    let mut missing = Vec::new();
    for (room, folder) in ROOMS {
        let places = [format!("lua/{room}"), "lua/subject".to_owned(), String::new()];
        let is_there = |name: &str| places.iter().any(|place| top.join(place).join(name).is_file());
        for (file, text) in folder.files {
            let words = text.split(|c| !is_name(c)).map(|word| word.trim_end_matches('.'));
            let named = words.filter(|word| Path::new(word).extension().is_some_and(|of| of == "lua"));
            missing.extend(
                named
                    .filter(|name| !is_there(name))
                    .map(|name| format!("{room}/{file}: {name}")),
            );
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// luacheck finds no unused function of a part, because in most scripts some of its functions are not called.
#[test]
fn every_function_of_a_part_is_called() {
    let folders = ROOMS.iter().map(|(_, folder)| *folder).chain([&jackpot::subject::LUA]);
    let texts = |folder: &'static Folder| {
        let files = folder.files.iter().map(|(_, text)| *text);
        files.chain(folder.made.values().map(String::as_str))
    };
    let all: Vec<&str> = folders.clone().flat_map(texts).collect();
    let lines = all.iter().flat_map(|text| text.lines());
    let code = lines.filter(|line| !line.trim_start().starts_with("--"));
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let mut counts = HashMap::<&str, usize>::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let name = |line: &'static str| line.strip_prefix("local function ")?.split('(').next();
    let files = folders.flat_map(|folder| folder.files.iter().map(|(_, text)| *text));
    let declared: Vec<&str> = files.flat_map(str::lines).filter_map(name).collect();
    assert!(declared.len() > 100, "{}", declared.len());
    let unused: Vec<_> = declared.iter().filter(|name| counts[*name] < 2).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[tokio::test]
async fn redis_compiles_every_script_in_both_forms() {
    let server = Server::start(&SAFE).ready();
    let mut redis = server.connection();
    let all: Vec<Script> = ROOMS
        .iter()
        .flat_map(|(room, _)| sources(room))
        .map(|source| source.script)
        .collect();
    assert!(all.len() >= AT_LEAST, "{}", all.len());
    for script in all {
        let [source, library] = script.sources();
        let known = redis::cmd("SCRIPT").arg("LOAD").arg(source).query::<String>(&mut redis);
        known.unwrap_or_else(|error| panic!("{} by EVAL: {error}", script.name()));
        let known = redis::cmd("FUNCTION")
            .arg("LOAD")
            .arg(library)
            .query::<String>(&mut redis);
        known.unwrap_or_else(|error| panic!("{} as a function: {error}", script.name()));
    }
}
