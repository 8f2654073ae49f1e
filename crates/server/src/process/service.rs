//! Messages to a service manager, in systemd's notification protocol (`sd_notify(3)`, `Type=notify`
//! in a unit).
//!
//! In: the moments when the server is ready and when it begins to stop. Out: one datagram for each,
//! to the socket that `NOTIFY_SOCKET` names. Without that variable no message is sent.

use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

/// The environment variable in which a service manager names its socket.
const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";

/// Tells the service manager that clients can connect.
pub fn ready() {
    tell("READY=1\nSTATUS=Server is operational\n");
}

/// Tells the service manager that the server has begun to stop.
pub fn stopping() {
    tell("STOPPING=1\nSTATUS=Server shutdown in progress\n");
}

/// Sends a state to the service manager if there is one. When it cannot be reached, only a warning
/// is logged, because the server can serve its clients without it.
fn tell(state: &str) {
    let Ok(place) = std::env::var(SOCKET_VARIABLE) else { return };
    if let Err(e) = send(&place, state) {
        log::warn!("cannot tell the service manager at '{place}': {e}");
    }
}

/// Sends one datagram to a socket in the file system or, if its name begins with `@`, in the
/// abstract name space.
fn send(place: &str, state: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;

    let address = match place.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(Path::new(place))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(|_sent| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::linux::net::SocketAddrExt;

    #[test]
    fn a_state_arrives_at_the_managers_socket() {
        let name = format!("slipstream-service-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        send(&format!("@{name}"), "READY=1\n").unwrap();
        let mut received = [0; 32];
        let length = manager.recv(&mut received).unwrap();
        assert_eq!(&received[..length], b"READY=1\n");
        assert!(send("/nowhere/notify", "READY=1\n").is_err());
    }
}
