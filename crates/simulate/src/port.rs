//! Ports for programs that this process starts, and may start again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// Below the range from which kernels give ports to connections (from 32,768), so no connection takes one while its program
/// is not running. The ports 10,000 above are for the buses of cluster nodes, and end below that range too.
const LOWEST: u16 = 11_000;
const COUNT: u16 = 10_000;
/// What a node of a Redis cluster adds to its port for the bus.
const BUS_OFFSET: u16 = 10_000;
/// Tries at random before the ports are taken for used up.
const TRIES: usize = 1_000;

/// A free port of the loopback address, whose bus port is free too. It stays this process' until its end: another process
/// that asks here does not get it, also while nothing listens on it.
///
/// # Errors
/// When no port was found in many tries.
pub fn free_port() -> io::Result<u16> {
    // A socket of the other protocol: the system lets go of it with the process, however that ends.
    static TAKEN: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    for _ in 0..TRIES {
        let at_random = RandomState::new().build_hasher().finish() % u64::from(COUNT);
        let port = LOWEST + u16::try_from(at_random).unwrap_or_default();
        let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if let Ok(taken) = UdpSocket::bind(("127.0.0.1", port))
            && is_free(port)
            && is_free(port + BUS_OFFSET)
        {
            TAKEN.lock().unwrap_or_else(PoisonError::into_inner).push(taken);
            return Ok(port);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        format!("no port from {LOWEST} to {} is free", LOWEST + COUNT - 1),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_gets_a_port_that_was_given() {
        let port = free_port().expect("a port");
        assert!(UdpSocket::bind(("127.0.0.1", port)).is_err());
        assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());
    }
}
