//! Lua that `make mutants` runs in place of ours, to see which test notices. Only debug builds have this module.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable with the directory. Tests hand it to the services that they start.
///
/// A file there named `<SHA-1 of a part>.lua` replaces that part. The file `used` gets the SHA-1 of every part of every
/// script that the process makes, so `make mutants` learns which tests a part concerns.
const DIRECTORY: &str = "JACKPOT_TEST_LUA";

/// The parts to run: the same ones where the variable is not set.
pub(super) fn replaced<'p>(parts: &[&'p str]) -> Vec<&'p str> {
    match std::env::var_os(DIRECTORY) {
        Some(directory) => replaced_from(&PathBuf::from(directory), parts),
        None => parts.to_vec(),
    }
}

fn replaced_from<'p>(directory: &Path, parts: &[&'p str]) -> Vec<&'p str> {
    let hashes: Vec<String> = parts.iter().map(|part| hash(part)).collect();
    let used = File::options().create(true).append(true).open(directory.join("used"));
    let written = used.and_then(|mut used| used.write_all((hashes.join("\n") + "\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("{DIRECTORY}: {error}"));
    let other = |hash: String| fs::read_to_string(directory.join(format!("{hash}.lua"))).ok();
    // A process makes each script once, so what leaks here is small.
    let all = parts.iter().zip(hashes);
    all.map(|(part, hash)| other(hash).map_or(*part, |text| text.leak()))
        .collect()
}

fn hash(part: &str) -> String {
    redis::Script::new(part).get_hash().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_by_the_file_that_its_hash_names_and_all_are_noted() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(format!("{}.lua", hash("return 1")));
        fs::write(file, "return 2").expect("the mutant is written");
        let parts = replaced_from(directory.path(), &["local a", "return 1"]);
        assert_eq!(parts, ["local a", "return 2"]);
        let used = fs::read_to_string(directory.path().join("used")).expect("the list of parts");
        assert_eq!(used, format!("{}\n{}\n", hash("local a"), hash("return 1")));
    }
}
