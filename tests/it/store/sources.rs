//! Every script fits what Lua allows, in both forms in which Redis takes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jackpot::store::{Folder, Script};

use crate::store::support::{SAFE, Server};

const ROOMS: [(&str, Folder); 3] = [
    ("jackpot", jackpot::jackpot::scripts::LUA),
    ("coupon", jackpot::coupon::scripts::LUA),
    ("room", jackpot::room::scripts::LUA),
];
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
fn every_file_is_listed_and_needed() {
    for (room, folder) in ROOMS {
        let listed: BTreeSet<String> = folder.files.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, files_in(room));
        let needed: BTreeSet<String> = sources(room).into_iter().flat_map(|source| source.parts).collect();
        let unneeded: Vec<_> = listed.difference(&needed).collect();
        assert!(unneeded.is_empty(), "no script of {room} needs {unneeded:?}");
    }
    let shared = jackpot::subject::LUA
        .iter()
        .map(|(name, _)| name.trim_start_matches("subject/").to_owned());
    assert_eq!(shared.collect::<BTreeSet<_>>(), files_in("subject"));
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
