//! How many files and connections this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit, usually 1,024, to the hard one; children inherit it.
pub fn raise() {
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, the run continues and reports "too many open files" when it needs them.
    let _kept = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

/// Files that this process may have open.
pub fn limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}
