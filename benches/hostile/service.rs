//! The attacked service: a build of the product with its embedded Redis and default settings, except for the port, the
//! directory, and what the attack needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Args, Outcome};

/// Time for a start on a loaded machine, and for a stop.
const LIMIT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);

/// The jackpot that is played.
pub(crate) const JACKPOT: &str = "hostile";

/// The running process. Dropping it stops it in order and removes its directory.
pub(crate) struct Service {
    process: Child,
    _directory: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
}

impl Service {
    pub(crate) fn start(args: &Args, more: &Value) -> Outcome<Service> {
        std::fs::create_dir_all(&args.directory)?;
        let directory = tempfile::Builder::new().prefix("jb-").tempdir_in(&args.directory)?;
        let at = std::path::absolute(directory.path())?;
        let address = SocketAddr::from(([127, 0, 0, 1], jackpot_simulate::free_port()?));
        let mut http = json!({"listen": address});
        if let (Value::Object(http), Value::Object(more)) = (&mut http, more) {
            http.extend(more.clone());
        }
        // An older build does not have the newer settings.
        let file = at.join("settings.toml");
        std::fs::write(&file, toml::to_string(&json!({"data_dir": at, "http": http}))?)?;
        let log = std::fs::File::create(at.join("log"))?;
        let program = args.service.clone().unwrap_or(env!("CARGO_BIN_EXE_jackpot").into());
        let mut command = Command::new(program);
        // The environment of this process may have settings of another service.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("JACKPOT_")) {
            command.env_remove(name);
        }
        let process = command
            .arg("serve")
            .arg("--config")
            .arg(file)
            .current_dir(&at)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut service = Service {
            process,
            _directory: directory,
            address,
            key: String::new(),
        };
        let begun = Instant::now();
        while service.call("GET", "/readyz", "").is_err() {
            if begun.elapsed() > LIMIT || service.process.try_wait()?.is_some() {
                return Err(std::fs::read_to_string(at.join("log"))?.into());
            }
            std::thread::sleep(POLL);
        }
        std::fs::read_to_string(at.join("operator.key"))?
            .trim()
            .clone_into(&mut service.key);
        let definition = json!({
            "id": JACKPOT, "name": "Hostile", "currency": "KRW", "status": "open", "contribution": {"fixed": 1},
            "tiers": [{"tier": "grand", "share_ppm": 1_000_000, "min_payout": 100, "seed": 0, "reserve_ppm": 0,
                       "cap": null, "must_hit_by": null}],
            "odds": {"total": 1_000_000, "ranks": []}, "public_meter": true,
        });
        service.call("PUT", &format!("/v1/jackpots/{JACKPOT}"), &definition.to_string())?;
        Ok(service)
    }

    /// One request on a connection of its own, which must succeed.
    fn call(&self, method: &str, path: &str, body: &str) -> Outcome {
        let mut stream = TcpStream::connect_timeout(&self.address, LIMIT)?;
        stream.set_read_timeout(Some(LIMIT))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.key,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.get(9..10) {
            Some("2") => Ok(()),
            _ => Err(answer.into()),
        }
    }

    pub(crate) fn resident_kib(&self) -> Outcome<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.ok_or("no VmRSS")?.parse()?)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let begun = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) {
            if begun.elapsed() > LIMIT {
                eprintln!("the service did not stop within {LIMIT:?}");
                let _gone = self.process.kill();
            }
            std::thread::sleep(POLL);
        }
    }
}
