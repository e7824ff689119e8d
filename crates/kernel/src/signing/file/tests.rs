//! Tests of the file of signing keys.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn in_new_dir() -> (tempfile::TempDir, SigningFile) {
    let directory = tempfile::tempdir().unwrap();
    let file = SigningFile::in_dir(directory.path());
    (directory, file)
}

fn write(file: &SigningFile, text: &str) {
    durable_file::replace(file.path(), text.as_bytes()).unwrap();
}

fn ids(ring: &Ring) -> Vec<String> {
    ring.public().map(|key| key.id().to_owned()).collect()
}

#[test]
fn it_is_made_once_private_and_with_a_header() {
    let (_directory, file) = in_new_dir();
    let first = file.read_or_make().unwrap();
    assert_eq!(ids(&file.read_or_make().unwrap()), ids(&first));
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("# Ed25519 keys") && text.contains("SECRET"), "{text}");
    let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (_other, other) = in_new_dir();
    assert_ne!(
        ids(&other.read_or_make().unwrap()),
        ids(&first),
        "each has a key of its own"
    );
}

#[test]
fn starts_at_the_same_time_agree_on_one_key() {
    let (_directory, file) = in_new_dir();
    let found: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| ids(&file.read_or_make().unwrap())))
            .collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert!(found.iter().all(|ids| *ids == found[0]), "{found:?}");
}

#[test]
fn rotation_adds_a_key_that_signs_and_keeps_the_others() {
    let (_directory, file) = in_new_dir();
    let first = file.read_or_make().unwrap();
    // An operator's comment, and a last line without a line end.
    let text = std::fs::read_to_string(file.path()).unwrap();
    write(&file, &format!("{text}# the first one\n# no end of line"));
    let second = file.rotate().unwrap();
    let third = file.rotate().unwrap();
    let after = file.read().unwrap();
    assert_eq!(after.signs.public(), &third);
    assert_eq!(ids(&after), [third.id(), second.id(), first.signs.public().id()]);
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.contains("# the first one\n"), "remarks stay");
    let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn rotation_before_the_first_start_makes_the_first_key() {
    let (_directory, file) = in_new_dir();
    let key = file.rotate().unwrap();
    assert_eq!(ids(&file.read_or_make().unwrap()), [key.id()]);
}

#[test]
fn rotations_at_the_same_time_lose_no_key() {
    let (_directory, file) = in_new_dir();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| file.rotate().unwrap());
        }
    });
    assert_eq!(ids(&file.read().unwrap()).len(), 8);
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let (_directory, file) = in_new_dir();
    file.read_or_make().unwrap();
    for mode in [0o640, 0o604, 0o620, 0o601, 0o644] {
        std::fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
        let errors = [file.read_or_make().unwrap_err(), file.rotate().unwrap_err()];
        for error in errors {
            let said = error.to_string();
            assert!(said.contains(&format!("mode {mode:04o} lets others read it")), "{said}");
        }
    }
    std::fs::set_permissions(file.path(), Permissions::from_mode(0o400)).unwrap();
    file.read().unwrap();
}

#[test]
fn a_damaged_file_is_refused_left_alone_and_not_repeated_in_the_message() {
    let (_directory, file) = in_new_dir();
    let (good, secret) = ("5f".repeat(32), "5e".repeat(31));
    for (text, reason) in [
        (String::new(), "there is no key in it"),
        ("# only a remark\n".to_owned(), "there is no key in it"),
        (format!("{good}\n{secret}\n"), "line 2: must be 64 hexadecimal digits"),
        (format!("{good}\n{secret}zz\n"), "line 2: must be 64 hexadecimal digits"),
        (format!("{good} {good}\n"), "line 1: must be 64 hexadecimal digits"),
        (format!("{good}\n\n{good}\n"), "line 3: is there already"),
        ("#".repeat(1 << 20), "must be a file of at most 262144 bytes"),
    ] {
        write(&file, &text);
        for error in [file.read_or_make().unwrap_err(), file.rotate().unwrap_err()] {
            let said = format!("{error} {error:?}");
            assert!(said.contains(reason), "{said}");
            assert!(!said.contains("5f5f") && !said.contains("5e5e"), "{said}");
        }
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
    }
}

#[test]
fn a_full_file_takes_no_more() {
    let (_directory, file) = in_new_dir();
    let seeds: Vec<String> = (0..MAX_KEYS).map(|i| format!("{i:064x}")).collect();
    let lines = seeds.join("\n") + "\n";
    write(&file, &lines);
    assert_eq!(ids(&file.read().unwrap()).len(), MAX_KEYS);
    assert!(matches!(file.rotate().unwrap_err(), SigningKeysError::Full(_)));
    write(&file, &format!("{lines}{MAX_KEYS:064x}\n"));
    assert!(file.read().unwrap_err().to_string().contains("more than 1000 keys"));
}

#[test]
fn no_debug_output_shows_a_seed() {
    let (_directory, file) = in_new_dir();
    write(&file, &format!("{}\n{}\n", "5e".repeat(32), "5f".repeat(32)));
    let shown = format!("{:?} {file:?}", file.read().unwrap());
    assert!(!shown.contains("5f5f") && !shown.contains("[95"), "{shown}");
}

#[test]
fn a_copy_of_all_keys_ends_with_the_one_that_signs() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = ("5f".repeat(32), "60".repeat(32));
    assert!(text_of_all("", directory.path()).is_err(), "none is made");
    let copied = |configured: &str| {
        let text = text_of_all(configured, directory.path()).unwrap();
        let ring = SigningFile::in_dir(directory.path()).parse(&text).unwrap();
        let older: Vec<String> = ring.older.iter().map(|key| key.id().to_owned()).collect();
        (ring.signs.public().id().to_owned(), older)
    };
    let id = |text: &str| Ring::configured(text).unwrap().signs.public().id().to_owned();
    assert_eq!(copied(&first), (id(&first), vec![]));
    let file = directory.path().join("signing.keys");
    std::fs::write(&file, format!("# a remark\n{first}\n{second}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(copied(""), (id(&second), vec![id(&first)]));
    assert_eq!(copied(&first), (id(&first), vec![id(&second)]));
    let third = "61".repeat(32);
    assert_eq!(copied(&third), (id(&third), vec![id(&first), id(&second)]));
}
