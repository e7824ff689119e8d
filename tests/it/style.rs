//! The house's rules that a compiler cannot check: length of files, leftovers, and texts that belong to one place.
//! `house.rs` checks the arrows between rooms.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{FnArg, Ident, ImplItemFn, ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStruct, ItemTrait, Pat, Signature};

/// Folders whose text files are read.
const FOLDERS: [&str; 10] = [
    "src", "crates", "tests", "benches", "lua", "scripts", "config", "docs", "deploy", "clients",
];

/// Folders below them with what generators, compilers and package managers write.
const WRITTEN: [&str; 5] = ["generated", "node_modules", "build", "dist", "__pycache__"];

/// Lines of a file: a longer one has a second purpose. Functions are limited by clippy.
const MAX_LINES: usize = 900;

/// Longer files, each with its own limit. A new line here needs a reason.
const LONGER: [(&str, usize); 0] = [];

/// Texts that no file may contain. They are written in two parts, so that this file passes too.
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("#[ig", "nore"),
];

/// Words that texts and comments do without (CONTRIBUTING.md, *Documentation*): name the actor, and say *after* for time.
const WORDS: [&str; 8] = [
    concat!("who", "ever "),
    concat!("is", " told"),
    concat!("are", " told"),
    concat!("was", " told"),
    concat!("were", " told"),
    concat!("so", " long as"),
    concat!("for so", " long"),
    concat!("behind", " event"),
];

/// Files that hold texts.
const TEXTS: [&str; 7] = ["rs", "lua", "md", "toml", "sh", "py", "ts"];

/// A test must not do this: it polls with a deadline (`support::eventually`).
const SLEEP: &str = concat!("sl", "eep(");

/// `needle` may stand in Rust files of `src/` and `crates/` only where `allowed` says; `why` is the rule.
struct Confined {
    needle: &'static str,
    allowed: fn(&str) -> bool,
    why: &'static str,
}

const CONFINED: [Confined; 5] = [
    Confined {
        needle: "jp:{",
        allowed: |path| path == "crates/kernel/src/store/keys.rs",
        why: "only store/keys.rs builds a key",
    },
    Confined {
        needle: "cp:{",
        allowed: |path| path == "crates/kernel/src/store/keys.rs",
        why: "only store/keys.rs builds a key",
    },
    Confined {
        needle: "ResponseError for",
        allowed: |path| {
            [
                "crates/kernel/src/http/problem.rs",
                "crates/pages/src/console/failure.rs",
            ]
            .contains(&path)
        },
        why: "only http/problem.rs turns an error into a status, and the console's failure.rs into a page",
    },
    Confined {
        needle: "StatusCode",
        allowed: |path| {
            let edges = [
                "crates/kernel/src/http/",
                "crates/pages/src/console/",
                "crates/simulate/",
            ];
            edges.iter().any(|edge| path.starts_with(edge))
                || ["/api.rs", "/problem.rs"].iter().any(|edge| path.ends_with(edge))
        },
        why: "statuses belong to the edge",
    },
    Confined {
        needle: "ledger::api::",
        allowed: |path| !path.starts_with("crates/jackpot/src/api/"),
        why: "the routes of play also run where those of the ledger are not mounted",
    },
];

/// Names of types that say nothing outside their module.
const VAGUE: [&str; 9] = [
    "Part", "Kind", "Taken", "Seen", "Shown", "Place", "Step", "Held", "Told",
];

/// So many types of a crate may have one of these names.
const MAX_VAGUE: usize = 2;

/// What the syntax of a file declares.
#[derive(Default)]
struct Declared {
    types: Vec<String>,
    /// Functions with a tuple in place of parameters with names. A trait of somebody else may ask for one.
    tuples: Vec<String>,
}

impl Declared {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        found.visit_file(&syn::parse_file(text).expect("it compiles"));
        found
    }

    fn function(&mut self, signature: &Signature) {
        let is_tuple = |input: &FnArg| match input {
            FnArg::Typed(input) => matches!(&*input.pat, Pat::Tuple(tuple) if !tuple.elems.is_empty()),
            FnArg::Receiver(_) => false,
        };
        if signature.inputs.iter().any(is_tuple) {
            self.tuples.push(signature.ident.to_string());
        }
    }

    fn named(&mut self, name: &Ident) {
        self.types.push(name.to_string());
    }
}

impl Visit<'_> for Declared {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.function(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &ItemImpl) {
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.function(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.named(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        self.named(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &ItemTrait) {
        self.named(&item.ident);
        visit::visit_item_trait(self, item);
    }
}

/// Everything wrong with one file; `path` is relative to the project.
fn violations(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let limit = LONGER
        .iter()
        .find(|(name, _)| *name == path)
        .map_or(MAX_LINES, |(_, limit)| *limit);
    let lines = text.lines().count();
    let extension = Path::new(path).extension().and_then(OsStr::to_str).unwrap_or_default();
    if lines > limit && ["rs", "lua", "sh"].contains(&extension) {
        found.push(format!("{path}: {lines} lines, at most {limit}"));
    }
    if extension == "lua" && !text.starts_with("--") {
        found.push(format!(
            "{path}: no header that says its purpose, keys, arguments and replies"
        ));
    }
    // A unit test may spell a key out: it looks at what the code under test made.
    let code_lines = text
        .lines()
        .position(|line| line.trim() == "#[cfg(test)]")
        .unwrap_or(lines);
    for (index, line) in text.lines().enumerate() {
        let mut report = |what: &str| found.push(format!("{path}:{}: {what}", index + 1));
        for leftover in LEFTOVERS.iter().filter(|leftover| line.contains(**leftover)) {
            report(&format!("{leftover} is left over"));
        }
        let lower = line.to_lowercase();
        for word in WORDS
            .iter()
            .filter(|word| TEXTS.contains(&extension) && lower.contains(**word))
        {
            report(&format!("'{}': say who does what", word.trim_end()));
        }
        let comment = line.trim_start().starts_with("//");
        if path.starts_with("tests/") && !comment && line.contains(SLEEP) {
            report("a test polls with a deadline, it does not sleep");
        }
        if (path.starts_with("src/") || path.starts_with("crates/")) && !comment && index < code_lines {
            for confined in CONFINED
                .iter()
                .filter(|confined| line.contains(confined.needle) && !(confined.allowed)(path))
            {
                report(confined.why);
            }
        }
    }
    found
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.expect("a folder of the project can be read").path()) {
        if !path.is_dir() {
            files.push(path);
        } else if !path
            .file_name()
            .is_some_and(|name| WRITTEN.iter().any(|written| name == *written))
        {
            files_below(&path, files);
        }
    }
}

/// The text files of some folders, by their paths.
fn texts(folders: &[&str]) -> BTreeMap<String, String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in folders {
        files_below(&top.join(folder), &mut files);
    }
    let texts: BTreeMap<_, _> = files
        .iter()
        .filter_map(|file| {
            Some((
                file.strip_prefix(top).ok()?.to_str()?.to_owned(),
                fs::read_to_string(file).ok()?,
            ))
        })
        .collect();
    assert!(
        ["src/lib.rs", "crates/core/src/lib.rs", "crates/simulate/src/lib.rs"]
            .iter()
            .all(|name| texts.contains_key(*name)),
        "the files were found"
    );
    texts
}

#[test]
fn the_house_keeps_its_rules() {
    let found: Vec<String> = texts(&FOLDERS)
        .iter()
        .flat_map(|(path, text)| violations(path, text))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_parameter_and_a_type_have_names_of_their_own() {
    let mut found = Vec::new();
    let mut vague = BTreeMap::<(&str, String), usize>::new();
    let texts = texts(&["src", "crates"]);
    let rust = |path: &str| Path::new(path).extension() == Some(OsStr::new("rs")) && !path.ends_with("tests.rs");
    for (path, text) in texts.iter().filter(|(path, _)| rust(path)) {
        let declared = Declared::of(text);
        let tuples = declared.tuples.iter();
        found.extend(tuples.map(|name| format!("{path}: {name} takes a tuple: give its parts names")));
        let krate = path.split_once("/src/").map_or("src", |(krate, _)| krate);
        for name in declared.types.into_iter().filter(|name| VAGUE.contains(&&**name)) {
            *vague.entry((krate, name)).or_default() += 1;
        }
    }
    let too_many = vague.iter().filter(|(_, count)| **count > MAX_VAGUE);
    found.extend(too_many.map(|((krate, name), count)| format!("{krate}: {count} types are called {name}")));
    assert!(found.is_empty(), "{}", found.join("\n"));
    let broken = Declared::of("fn f((a, b): (u8, u8)) {} trait T { fn g(&self); } struct Seen;");
    assert_eq!(
        (broken.tuples, broken.types),
        (vec!["f".to_owned()], vec!["T".to_owned(), "Seen".to_owned()])
    );
}

#[test]
fn each_rule_finds_what_breaks_it() {
    let broken = [
        (
            "crates/simulate/src/plan.rs",
            "format!(\"jp:{{{id}}}:pool\")".to_owned(),
        ),
        (
            "crates/jackpot/src/store.rs",
            "format!(\"jp:{{{id}}}:pool\")".to_owned(),
        ),
        (
            "crates/jackpot/src/error.rs",
            "impl actix_web::ResponseError for PlayError {".to_owned(),
        ),
        ("crates/kernel/src/ledger/mod.rs", "StatusCode::CONFLICT".to_owned()),
        (
            "crates/jackpot/src/api/meter.rs",
            "ledger: Data<crate::ledger::api::Api>".to_owned(),
        ),
        ("src/clock.rs", format!("// {} later", LEFTOVERS[0])),
        ("docs/README.md", format!("The user {} so.", WORDS[1])),
        ("tests/it/entries.rs", format!("tokio::time::{SLEEP}second).await;")),
        ("lua/jackpot/enter.lua", "local pool = 0".to_owned()),
        ("src/long.rs", "\n".repeat(MAX_LINES + 1)),
    ];
    for (path, text) in broken {
        assert_eq!(violations(path, &text).len(), 1, "{path}: {text}");
    }
    let sound = [
        ("crates/kernel/src/store/keys.rs", "format!(\"jp:{{{id}}}:pool\")"),
        ("crates/kernel/src/http/problem.rs", "impl ResponseError for Problem {"),
        ("crates/jackpot/src/store.rs", "use redis::Value;\n// jp:{spring}:pool"),
        ("crates/simulate/src/run.rs", "StatusCode::OK"),
        (
            "crates/kernel/src/store/script.rs",
            "#[cfg(test)]\nmod tests { const KEY: &str = \"jp:{spring}:state\"; }",
        ),
        ("lua/jackpot/enter.lua", "-- Adds an entry."),
    ];
    for (path, text) in sound {
        assert_eq!(violations(path, text), [""; 0], "{path}");
    }
}
