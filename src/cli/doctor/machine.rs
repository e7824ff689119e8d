//! Checks of this machine: directory, files, keys, certificate, addresses, limits.

use std::fs::{self, Metadata};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::finding::Finding;
use crate::backup::restore::refuse_unfinished;
use crate::http::server;
use crate::keys::{KeyFile, KeysError, Role};
use crate::open_files;
use crate::settings::{RedisMode, Settings};
use crate::store::DataDirLock;

/// Free space below which Redis and the ledger soon fail, in bytes: a few minutes of 20,000 entries/s.
const LITTLE_SPACE: u64 = 1 << 30;
/// Free space with which nothing can be written safely.
const NO_SPACE: u64 = 64 << 20;
/// Open files below which the service serves few connections.
const FEW_FILES: usize = 4_096;
/// How early the command names an expiry.
const SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Bits of a mode that let others than the owner in.
const OTHERS: u32 = 0o077;

pub(super) fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let running = DataDirLock::holder(&settings.data_dir);
    findings.push(match &running {
        Ok(Some(pid)) => Finding::ok("service", format!("runs here as process {pid}")),
        Ok(None) => Finding::ok("service", "does not run with this data directory"),
        Err(error) => Finding::fail("service", format!("{}: {error}", settings.data_dir.display())),
    });
    findings.extend(directory(&settings.data_dir));
    findings.extend(keys(settings));
    findings.extend(certificate(settings));
    if matches!(running, Ok(None)) {
        findings.extend(addresses(settings));
    }
    findings.extend(limits(settings));
    findings
}

fn directory(path: &Path) -> Vec<Finding> {
    const CHECK: &str = "directory";
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return vec![Finding::ok(
                CHECK,
                format!("{} is made at the first start", path.display()),
            )];
        }
        Err(error) => {
            return vec![Finding::fail(
                CHECK,
                format!("setting data_dir: {}: {error}", path.display()),
            )];
        }
    };
    if let Err(error) = refuse_unfinished(path) {
        return vec![Finding::fail(CHECK, error.to_string())];
    }
    let mut findings = files(path, &metadata);
    match rustix::fs::statvfs(path) {
        Ok(disk) => findings.push(space(path, disk.f_bavail.saturating_mul(disk.f_frsize))),
        Err(error) => findings.push(Finding::fail(CHECK, format!("{}: {error}", path.display()))),
    }
    findings
}

/// Owner and mode of the directory and of each file in it.
fn files(path: &Path, directory: &Metadata) -> Vec<Finding> {
    const CHECK: &str = "files";
    let own = rustix::process::geteuid().as_raw();
    let mut findings = Vec::new();
    let mut look = |path: &Path, metadata: &Metadata| {
        let shown = path.display();
        if metadata.uid() != own && own != 0 {
            let text = format!("{shown} belongs to user {}, and this is user {own}", metadata.uid());
            let advice = format!("run as its owner, or: chown -R {own} {shown}");
            findings.push(Finding::fail(CHECK, text).advise(advice));
        }
        if metadata.mode() & OTHERS != 0 {
            let (text, mode) = (
                format!("{shown} is open to other users (mode {:04o})", metadata.mode() & 0o7777),
                if metadata.is_dir() { "700" } else { "600" },
            );
            findings.push(Finding::warn(CHECK, text, format!("chmod {mode} {shown}")));
        }
    };
    look(path, directory);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return vec![Finding::fail(CHECK, format!("{}: {error}", path.display()))],
    };
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) {
            Ok((path, metadata)) if !metadata.is_symlink() => look(&path, &metadata),
            Ok(_) => {}
            // A running service replaces files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return vec![Finding::fail(CHECK, format!("{}: {error}", path.display()))],
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "belong to this user, who alone can read them"));
    }
    findings
}

fn space(path: &Path, free: u64) -> Finding {
    const CHECK: &str = "disk";
    let text = format!("{} MiB free below {}", free >> 20, path.display());
    let advice = "Redis and the ledger refuse entries when it is full: make room, or move data_dir to a larger disk";
    match free {
        0..NO_SPACE => Finding::fail(CHECK, text).advise(advice),
        NO_SPACE..LITTLE_SPACE => Finding::warn(CHECK, text, advice),
        LITTLE_SPACE.. => Finding::ok(CHECK, text),
    }
}

fn keys(settings: &Settings) -> Vec<Finding> {
    const CHECK: &str = "keys";
    let file = KeyFile::of(settings);
    let keys = match file.read() {
        Ok(keys) => keys,
        Err(KeysError::Secret(error)) if error.is_missing() => {
            return vec![Finding::ok(
                CHECK,
                format!("{} is made at the first start", file.path().display()),
            )];
        }
        Err(error) => return vec![Finding::fail(CHECK, format!("API keys: {error}"))],
    };
    let now = Timestamp::now();
    let lasts = |until: Timestamp| {
        keys.iter()
            .filter(move |key| key.expires_at.is_none_or(|at| at > until))
    };
    let mut findings = vec![Finding::ok(
        CHECK,
        format!("{} of {} are valid", lasts(now).count(), keys.len()),
    )];
    if !lasts(now).any(|key| key.role == Role::Operate) {
        let advice = "jackpot key new --role operate --name NAME";
        findings.push(Finding::warn(
            CHECK,
            "no valid key may operate: nobody can define or pause anything",
            advice,
        ));
    }
    for key in lasts(now).filter(|key| key.expires_at.is_some_and(|at| at <= now + SOON)) {
        let (name, at) = (key.name.as_str(), key.expires_at.unwrap_or(now));
        let text = format!("the key {name} ends at {at}");
        findings.push(Finding::warn(CHECK, text, "make another one in time: jackpot key new"));
    }
    findings
}

fn certificate(settings: &Settings) -> Option<Finding> {
    const CHECK: &str = "tls";
    match server::certificate_ends(&settings.http) {
        Ok(None) => None,
        Ok(Some(at)) if at <= Timestamp::now() + SOON => Some(Finding::warn(
            CHECK,
            format!("the certificate ends at {at}"),
            "put a new one in place: a running service reads it",
        )),
        Ok(Some(at)) => Some(Finding::ok(CHECK, format!("the certificate is valid until {at}"))),
        Err(error) => Some(Finding::fail(CHECK, error.to_string())),
    }
}

/// Only while no service runs here: it would have them.
fn addresses(settings: &Settings) -> Vec<Finding> {
    const CHECK: &str = "address";
    let http = &settings.http;
    let metrics = Some(("http.metrics_listen", http.metrics_listen.clone())).filter(|(_, address)| !address.is_empty());
    let all = [("http.listen", http.listen.to_string())].into_iter().chain(metrics);
    let look = |(setting, address): (&str, String)| match TcpListener::bind(&address) {
        Ok(_) => Finding::ok(CHECK, format!("{address} is free")),
        Err(error) => {
            let text = format!("setting {setting}: {address}: {error}");
            Finding::fail(CHECK, text).advise(format!("set {setting} to another address, or end what uses this one"))
        }
    };
    all.map(look).collect()
}

fn limits(settings: &Settings) -> Vec<Finding> {
    const CHECK: &str = "limits";
    let mut findings = Vec::new();
    // As the service does at its start.
    open_files::raise();
    match open_files::limit() {
        few @ 0..FEW_FILES => {
            let text = format!("{few} files may be open, and each connection and stream takes one");
            findings.push(Finding::warn(
                CHECK,
                text,
                "raise the hard limit: ulimit -Hn, LimitNOFILE= in systemd",
            ));
        }
        files => findings.push(Finding::ok(CHECK, format!("{files} files may be open"))),
    }
    if settings.redis.mode == RedisMode::Embedded && read_number("/proc/sys/vm/overcommit_memory") == Some(0) {
        let text = "vm.overcommit_memory is 0: Redis can't rewrite its file when it uses more than half of the memory";
        let advice = "sysctl vm.overcommit_memory=1, and the same in /etc/sysctl.d/";
        findings.push(Finding::warn(CHECK, text, advice));
    }
    findings
}

fn read_number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
