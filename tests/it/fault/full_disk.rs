//! The disk is full: Redis cannot write its append-only file, and ends rather than answer what is not durable.
//!
//! A full file system needs a mount, and a mount needs root. Instead the private server runs under a limit on the size
//! of its files (`RLIMIT_FSIZE`), which a wrapper given as `redis.server_program` sets. Writes beyond it fail as on a
//! full disk (EFBIG for ENOSPC: Redis treats any failed write alike).

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::fault::load::{Load, assert_each_counted_once};
use crate::fault::support::{create, embedded, lively};
use crate::support::prelude::*;

const JACKPOT: &str = "disk";
const PLAYERS: usize = 4;
/// Space for the functions and some thousand entries, in blocks of 512 bytes.
const FULL_AT_BLOCKS: &str = "4096";

/// A program that runs redis-server on a disk with as much space as the file `space` says at each start.
fn on_a_small_disk(directory: &Path) -> String {
    let program = directory.join("redis-server-on-a-small-disk");
    let space = directory.join("space");
    // The signal is ignored, so that a write beyond the limit fails instead of ending the process.
    let text = format!(
        "#!/bin/sh\ntrap '' XFSZ\nulimit -f \"$(cat '{}')\"\nexec redis-server \"$@\"\n",
        space.display()
    );
    std::fs::write(&program, text).expect("a file can be written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    set_space(directory, FULL_AT_BLOCKS);
    program.to_str().expect("UTF-8").to_owned()
}

fn set_space(directory: &Path, blocks: &str) {
    std::fs::write(directory.join("space"), blocks).expect("a file can be written");
}

#[tokio::test]
async fn heavy_a_full_disk_gives_503_and_loses_no_acknowledged_entry() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = on_a_small_disk(directory.path());
    let (service, url) = embedded(&[("JACKPOT__REDIS__SERVER_PROGRAM", &program)]).await;
    create(&service, lively(JACKPOT)).await;
    let load = Load::start(&service, JACKPOT, PLAYERS);
    load.until_answered(100).await;
    load.until_unavailable(2 * PLAYERS).await;
    let log = std::fs::read_to_string(service.data_dir().join("redis/redis.log")).expect("the log of Redis");
    log.says("AOF write error");

    set_space(directory.path(), "unlimited");
    load.until_answered(100).await;
    let played = load.finish().await;
    assert_each_counted_once(&service, &url, JACKPOT, &played).await;
}
