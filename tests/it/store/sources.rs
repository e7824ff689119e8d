//! Every script fits what Lua allows, in both forms in which Redis takes it.

use std::fs;
use std::path::Path;

use jackpot::store::Script;

use crate::store::support::{SAFE, Server};

/// The parts that a script of a room begins with, beside those that it names: as `script!` of that room adds them.
const ROOMS: [(&str, &[&str]); 3] = [
    (
        "jackpot",
        &["../subject/events", "../subject/packed", "values", "state"],
    ),
    ("coupon", &["../subject/events"]),
    ("room", &["../subject/events"]),
];
/// Fewer were found: the macro is written in another way now, and this test reads nothing.
const AT_LEAST: usize = 40;

/// The text of a part.
pub fn part(room: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lua/{room}/{name}.lua"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A script, and the part of it that runs in each call.
pub struct Source {
    pub script: Script,
    pub body: String,
}

/// Each `script!` of a room.
pub fn sources(room: &str) -> Vec<Source> {
    let (_, begin) = ROOMS.iter().find(|(name, _)| *name == room).expect("a room");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/{room}/src/scripts/mod.rs"));
    let text = fs::read_to_string(path).expect("the scripts of a room");
    let script = |call: &str| {
        let call = call.split(')').next().unwrap_or_default();
        let texts: Vec<&str> = call.split('"').skip(1).step_by(2).collect();
        let [name, flags, named @ ..] = &texts[..] else {
            panic!("{call}");
        };
        let parts: Vec<String> = begin.iter().chain(named).map(|name| part(room, name)).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let name: &'static str = Box::leak((*name).to_owned().into_boxed_str());
        Source {
            script: Script::new(name, flags, &parts),
            body: parts.last().expect("a script has a part").to_string(),
        }
    };
    text.split("= script!(").skip(1).map(script).collect()
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
