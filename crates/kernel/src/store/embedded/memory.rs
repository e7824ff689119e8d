//! The memory limit of the private server.

use std::fs;

use super::EmbeddedError;

/// Default share of the machine's memory, in percent. The rest is for the service and for the rewrite of the
/// append-only file, which copies what changes meanwhile.
const DEFAULT_PCT: u64 = 60;
const MIB: u64 = 1024 * 1024;

/// `maxmemory` in bytes for a setting in MiB; 0 means the default share.
pub(super) fn limit(max_memory_mib: u64) -> Result<u64, EmbeddedError> {
    if max_memory_mib > 0 {
        return Ok(max_memory_mib * MIB);
    }
    let meminfo = fs::read_to_string("/proc/meminfo").map_err(EmbeddedError::io(
        "can't tell the machine's memory: set redis.max_memory_mib",
    ))?;
    let machine = total(&meminfo).unwrap_or(0);
    // In a container the control group limits the memory.
    let allowed = fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|max| max.trim().parse::<u64>().ok());
    match allowed.map_or(machine, |allowed| allowed.min(machine)) / 100 * DEFAULT_PCT {
        0 => Err(EmbeddedError::io(
            "can't tell the machine's memory: set redis.max_memory_mib",
        )(std::io::Error::other("no MemTotal in /proc/meminfo"))),
        bytes => Ok(bytes),
    }
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_wins_over_the_machine() {
        assert_eq!(limit(64).unwrap(), 64 * MIB);
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16 * MIB));
        assert_eq!(total("nothing"), None);
    }
}
