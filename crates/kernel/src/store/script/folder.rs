//! The Lua of a capability, and what of it a script is made of.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Script;

/// A line of this form in a file names what has the functions that it calls: files of its own folder and `subject/…` of
/// `lua/subject/`, or what is made from declarations.
const NEEDS: &str = "-- needs: ";

/// In every script, before all others.
const FIRST: &str = "subject/events";

/// Texts that are made from declarations: of replies, events and records.
pub type Made = BTreeMap<String, String>;

/// Lua, by the names under which files need it.
#[derive(Debug)]
pub struct Folder {
    pub files: &'static [(&'static str, &'static str)],
    pub made: &'static LazyLock<Made>,
    /// Where the names that it does not have are looked for.
    pub shared: Option<&'static Folder>,
}

/// The files of a folder: its path from the crate, what their names begin with, and their names.
#[macro_export]
macro_rules! lua_files {
    ($folder:literal, $prefix:literal : $($file:literal)+) => {
        &[$((
            concat!($prefix, $file),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $file, ".lua")),
        )),+]
    };
}

impl Folder {
    /// A script: this file, after all that it needs.
    ///
    /// # Panics
    /// When something that is needed is not there.
    pub fn script(&self, name: &'static str, flags: &str, file: &str) -> Script {
        let names = self.needed(file);
        let parts: Vec<&str> = names.iter().map(|name| self.text(name)).collect();
        Script::new(name, flags, &parts)
    }

    /// The names of a script's parts, in order: what a part needs comes before it, and `file` is the last.
    pub fn needed<'f>(&self, file: &'f str) -> Vec<&'f str>
    where
        Self: 'f,
    {
        let mut names = vec![FIRST];
        self.add(file, &mut names);
        names
    }

    /// The text of this name.
    ///
    /// # Panics
    /// When there is none.
    pub fn text(&self, name: &str) -> &'static str {
        let found = self.find(name);
        found.unwrap_or_else(|| panic!("no Lua is called {name}"))
    }

    fn find(&self, name: &str) -> Option<&'static str> {
        let file = self.files.iter().find(|(of, _)| *of == name);
        let made = || self.made.get(name).map(String::as_str);
        let shared = || self.shared.and_then(|shared| shared.find(name));
        file.map(|(_, text)| *text).or_else(made).or_else(shared)
    }

    fn add<'f>(&self, file: &'f str, names: &mut Vec<&'f str>) {
        let lines = self.text(file).lines().filter_map(|line| line.strip_prefix(NEEDS));
        for needed in lines.flat_map(str::split_whitespace) {
            if !names.contains(&needed) {
                self.add(needed, names);
            }
        }
        names.push(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SHARED: Folder = Folder {
        files: &[("subject/events", "local events"), ("subject/sent", "local sent")],
        made: &NOTHING,
        shared: None,
    };
    static NOTHING: LazyLock<Made> = LazyLock::new(Made::new);
    static MADE: LazyLock<Made> = LazyLock::new(|| Made::from([("moved".to_owned(), "local moved".to_owned())]));
    static FOLDER: Folder = Folder {
        files: &[
            (
                "body",
                "-- A script.\n-- needs: tiers subject/sent\n-- needs: moved\nreturn 1",
            ),
            ("tiers", "-- needs: moved\nlocal tiers"),
            ("other", "local other"),
        ],
        made: &MADE,
        shared: Some(&SHARED),
    };

    #[test]
    fn each_file_comes_once_and_after_those_that_it_needs() {
        let names = ["subject/events", "moved", "tiers", "subject/sent", "body"];
        assert_eq!(FOLDER.needed("body"), names);
        let script = FOLDER.script("body", "", "body");
        let [source, _] = script.sources();
        assert!(
            source.contains("local events\nlocal moved\n-- needs: moved\nlocal tiers\nlocal sent\n"),
            "{source}"
        );
        assert!(!source.contains("local other"), "{source}");
    }

    #[test]
    #[should_panic(expected = "no Lua is called nothing")]
    fn a_name_that_nothing_has_is_a_mistake() {
        let _ = FOLDER.text("nothing");
    }
}
