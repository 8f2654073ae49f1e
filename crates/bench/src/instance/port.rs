//! The ports of the servers that the kit starts. Each is reserved against every other run on this
//! machine.
//!
//! Ports that the kernel chooses are not enough. Between the choice of a port and the server's
//! first listen, or while a server is down, another run could get the same port and would take the
//! greeting of the wrong server for that of its own.

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

use os::disk::LockGuard;

use super::error::InstanceError;

/// The first port that the kit gives to servers.
const FIRST: u16 = 16_384;

/// The number of ports that the kit gives to servers. They end below 32,768, where the ports begin
/// that Linux gives to outgoing connections.
const COUNT: u16 = 16_384;

/// The number of ports that this process has tried. Only its progress matters.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port on 127.0.0.1 that no other value of this type has, in any process of this machine.
/// Dropping the value releases the port.
pub struct Port {
    number: u16,
    /// The lock on the port's file. The file is empty and is never removed.
    _lock: LockGuard,
}

impl Port {
    /// Reserves a port that nothing listens on.
    pub fn reserve() -> Result<Port, InstanceError> {
        // Processes begin at different ports, so that they rarely try the same one.
        let start = std::process::id() as u16 % COUNT;
        for _ in 0..COUNT {
            let step = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
            let number = FIRST + (start + step) % COUNT;
            if let Some(port) = Port::take(number) {
                return Ok(port);
            }
        }
        let all = io::Error::new(io::ErrorKind::AddrInUse, "each of the kit's ports is taken");
        Err(InstanceError::Io("looking for a free port".into(), all))
    }

    /// Reserves this port. It returns `None` when another process has reserved it or listens there.
    fn take(number: u16) -> Option<Port> {
        let lock = locked(number).ok()?;
        let is_free = TcpListener::bind(("127.0.0.1", number)).is_ok();
        is_free.then_some(Port { number, _lock: lock })
    }

    /// Returns the number of the port.
    pub fn number(&self) -> u16 {
        self.number
    }
}

/// Locks the file of this port. The lock is released when the value is dropped or the process ends.
fn locked(number: u16) -> io::Result<LockGuard> {
    let directory = std::env::temp_dir().join("slipstream-ports");
    std::fs::create_dir_all(&directory)?;
    os::disk::real().lock(&directory.join(number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_once_while_it_is_held() {
        let first = Port::reserve().expect("a port");
        assert!(Port::take(first.number()).is_none(), "another run could have it too");
        let others: Vec<Port> = (0..50).map(|_| Port::reserve().expect("a port")).collect();
        assert!(others.iter().all(|other| other.number() != first.number()));
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_not_given() {
        let port = Port::reserve().expect("a port");
        let number = port.number();
        let _listener = TcpListener::bind(("127.0.0.1", number)).expect("the port that is reserved");
        drop(port);
        assert!(Port::take(number).is_none());
    }
}
