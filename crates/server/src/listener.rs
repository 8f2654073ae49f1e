//! Listening on TCP addresses and the Unix socket, with one accepting thread each. Each connection
//! gets a thread of its own (docs/decisions/0002-thread-per-connection.md).

use crate::connection::{self, Origin};
use crate::server::Server;
use os::account::{State, enter};
use os::disk::Disk;
use os::thread::JoinHandle;
use protocol::stream::Stream;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// One socket that listens.
pub enum Listener {
    /// A TCP socket, with the version with which clients are greeted where it is another one than
    /// `@@version`.
    Tcp(TcpListener, Option<&'static str>),
    /// The Unix socket, with its path.
    Unix(UnixListener, PathBuf),
}

/// Listens on the addresses of `bind_address`, a list separated by commas. `*` means every address,
/// IPv6 and IPv4. Clients are greeted with `version`; `None` means `@@version`.
pub fn bind_tcp(bind_address: &str, port: u16, version: Option<&'static str>) -> io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for address in bind_address.split(',').map(str::trim).filter(|a| !a.is_empty()) {
        let candidates: Vec<SocketAddr> = match address {
            // The IPv6 wildcard takes IPv4 too where there is IPv6 at all.
            "*" => vec![(IpAddr::from([0u16; 8]), port).into(), (IpAddr::from([0u8; 4]), port).into()],
            _ => (address, port).to_socket_addrs().map_err(|e| placed("resolve", address, &e))?.collect(),
        };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no address");
        let bound = candidates.iter().find_map(|a| TcpListener::bind(a).map_err(|e| last = e).ok());
        listeners.push(Listener::Tcp(
            bound.ok_or_else(|| placed("bind TCP/IP port", &format!("{address}:{port}"), &last))?,
            version,
        ));
    }
    Ok(listeners)
}

/// Listens on the Unix socket. A socket file that a dead server left is replaced.
///
/// # Errors
/// Returns an error when another server answers on the socket, or when it cannot be bound.
pub fn bind_unix(disk: &dyn Disk, path: &Path) -> io::Result<Listener> {
    if disk.exists(path)? {
        if UnixStream::connect(path).is_ok() {
            let message = format!("another server is running on the Unix socket {}", path.display());
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        }
        disk.remove(path)?;
    }
    let listener =
        UnixListener::bind(path).map_err(|e| placed("bind Unix socket", &path.display().to_string(), &e))?;
    let anybody = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777);
    std::fs::set_permissions(path, anybody)?;
    Ok(Listener::Unix(listener, path.to_owned()))
}

fn placed(what: &str, place: &str, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("cannot {what} {place}: {e}"))
}

impl Listener {
    /// Returns the TCP port, which differs from the option's value when that is 0. `None` means the
    /// Unix socket.
    pub fn port(&self) -> Option<u16> {
        match self {
            Listener::Tcp(l, _) => l.local_addr().ok().map(|a| a.port()),
            Listener::Unix(..) => None,
        }
    }

    fn version(&self) -> Option<&'static str> {
        match self {
            Listener::Tcp(_, version) => *version,
            Listener::Unix(..) => None,
        }
    }

    fn fd(&self) -> RawFd {
        match self {
            Listener::Tcp(l, _) => l.as_raw_fd(),
            Listener::Unix(l, _) => l.as_raw_fd(),
        }
    }

    fn accept(&self) -> io::Result<(Stream, Origin)> {
        let version = self.version();
        match self {
            Listener::Tcp(l, _) => {
                let (stream, peer) = l.accept()?;
                stream.set_nodelay(true)?;
                Ok((stream.into(), Origin { peer: Some(peer), version }))
            }
            Listener::Unix(l, _) => {
                let (stream, _) = l.accept()?;
                Ok((stream.into(), Origin { peer: None, version }))
            }
        }
    }
}

/// The threads that accept connections.
pub struct Accepting {
    threads: Vec<(Arc<Listener>, JoinHandle<()>)>,
}

/// Begins to accept connections on all listeners.
pub fn accept(server: &Arc<Server>, listeners: Vec<Listener>) -> Accepting {
    let start = |listener: Listener| {
        let listener = Arc::new(listener);
        let (of_thread, server) = (listener.clone(), server.clone());
        let thread = os::thread::spawn("listener", move || run(&server, &of_thread));
        (listener, thread)
    };
    Accepting { threads: listeners.into_iter().map(start).collect() }
}

fn run(server: &Arc<Server>, listener: &Listener) {
    while !server.is_stopping() {
        let accepted = {
            let _waiting = enter(State::Idle);
            listener.accept()
        };
        match accepted {
            Ok(_) if server.is_stopping() => return,
            Ok((stream, origin)) => connection::start(server, stream, origin),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if server.is_stopping() => return,
            Err(e) => {
                // Too many open files are one cause, which passes. An immediate retry would only
                // burn time.
                log::error!("Error in accept: {e}");
                server.status.accept_errors.add_one();
                os::clock::sleep(Duration::from_millis(100));
            }
        }
    }
}

impl Accepting {
    /// Ends the threads and removes the Unix socket. The server must be stopping.
    pub fn stop(self, disk: &dyn Disk) {
        for (listener, thread) in self.threads {
            // SAFETY: the descriptor is open, `listener` owns it; shutdown takes no pointers.
            let shut = unsafe { libc::shutdown(listener.fd(), libc::SHUT_RDWR) };
            if shut != 0 {
                log::warn!("cannot shut a listener down: {}", io::Error::last_os_error());
            }
            if thread.join().is_err() {
                log::error!("a listener's thread has panicked");
            }
            if let Listener::Unix(_, path) = &*listener
                && let Err(e) = disk.remove(path)
            {
                log::warn!("{e}");
            }
        }
    }
}
