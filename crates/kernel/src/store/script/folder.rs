//! The Lua files of a folder, and which of them a script is made of.

use super::Script;

/// A line of this form in a file names those whose functions it calls: files of its own folder, and `subject/…` of
/// `lua/subject/`.
const NEEDS: &str = "-- needs: ";

/// In every script, before all others.
const FIRST: &str = "subject/events";

/// Lua files, by the names under which files need them.
#[derive(Debug, Clone, Copy)]
pub struct Folder {
    pub files: &'static [(&'static str, &'static str)],
    /// Where the names that it does not have are looked for.
    pub shared: &'static [(&'static str, &'static str)],
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
    /// When a needed file is not there.
    #[must_use]
    pub fn script(&self, name: &'static str, flags: &str, file: &str) -> Script {
        let names = self.needed(file);
        let parts: Vec<&str> = names.iter().map(|name| self.text(name)).collect();
        Script::new(name, flags, &parts)
    }

    /// The files of a script, by name. Each file follows the files that it needs, so this one is the last.
    #[must_use]
    pub fn needed<'f>(&self, file: &'f str) -> Vec<&'f str>
    where
        Self: 'f,
    {
        let mut names = vec![FIRST];
        self.add(file, &mut names);
        names
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn text(&self, name: &str) -> &'static str {
        let mut files = self.files.iter().chain(self.shared);
        let found = files.find(|(of, _)| *of == name);
        found.unwrap_or_else(|| panic!("no file of Lua is called {name}")).1
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

    const FOLDER: Folder = Folder {
        files: &[
            (
                "body",
                "-- A script.\n-- needs: tiers subject/sent\n-- needs: moved\nreturn 1",
            ),
            ("tiers", "-- needs: moved\nlocal tiers"),
            ("moved", "local moved"),
            ("other", "local other"),
        ],
        shared: &[("subject/events", "local events"), ("subject/sent", "local sent")],
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
    #[should_panic(expected = "no file of Lua is called nothing")]
    fn a_name_that_no_file_has_is_a_mistake() {
        let _ = FOLDER.text("nothing");
    }
}
