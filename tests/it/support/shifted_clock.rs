//! A clock that a test sets forward or back for a private server process, while the server runs.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Source of the library that `cc` makes; see there.
const SHIM: &str = include_str!("shifted_clock.c");

/// The clock of the processes that are started with [`environment`](Self::environment).
pub struct ShiftedClock {
    directory: TempDir,
}

impl ShiftedClock {
    /// A clock that shows the machine's time.
    ///
    /// # Panics
    /// Without a C compiler, which linking these tests takes as well.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jackpot-clock-")
            .tempdir()
            .expect("a directory");
        let source = directory.path().join("clock.c");
        std::fs::write(&source, SHIM).expect("written");
        let clock = Self { directory };
        let made = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .args([clock.library(), source])
            .output()
            .expect("cc is needed on PATH: apt-get install gcc");
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{said}");
        std::fs::write(clock.file(), 0_i64.to_ne_bytes()).expect("written");
        clock
    }

    fn library(&self) -> PathBuf {
        self.directory.path().join("clock.so")
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("shift")
    }

    /// The environment that makes a process use this clock.
    pub fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [("LD_PRELOAD", self.library()), ("JACKPOT_TEST_CLOCK", self.file())]
    }

    /// From now on the clock is this many seconds ahead of the machine's (behind it when negative).
    pub fn set_s(&self, seconds: i64) {
        // In place: the file is mapped.
        let file = OpenOptions::new().write(true).open(self.file()).expect("opened");
        file.write_all_at(&(seconds * 1_000_000).to_ne_bytes(), 0)
            .expect("written");
    }
}
