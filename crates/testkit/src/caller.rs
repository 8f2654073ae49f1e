//! A client that connects from an address of its choice and sends anything, packet by packet.

use protocol::handshake::{AuthSwitch, Greeting, HandshakeResponse};
use protocol::response::{ERR_HEADER, ErrPacket, OK_HEADER};
use protocol::{auth, capability as cap};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::fd::FromRawFd;
use std::time::Duration;

/// How long a read waits for an answer. The time is long, because it only ends tests that have
/// failed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// A connection to a server, of which the test reads and writes every packet itself.
pub struct Caller {
    socket: TcpStream,
    /// The number of the next packet to write. The numbers of received packets are not checked,
    /// because a server that has given up on a client begins them anew.
    sequence: u8,
}

/// What a server has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An OK packet.
    Ok,
    /// An error packet: the number, the SQLSTATE or an empty text, and the message.
    Error(u16, String, String),
    /// Any other packet.
    Packet(Vec<u8>),
    /// Nothing, because it has closed the connection.
    Nothing,
}

fn address(ip: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    // SAFETY: a structure of numbers may be all zeros.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
    address
}

/// Returns a socket that is bound to `from` and connected to a port of this machine.
/// `receive_bytes` sets the size of its receive buffer.
fn connect(from: Ipv4Addr, port: u16, receive_bytes: Option<i32>) -> io::Result<TcpStream> {
    let (here, there) = (address(from, 0), address(Ipv4Addr::LOCALHOST, port));
    let len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    let done = |code: libc::c_int| if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nobody else owns it.
    let stream = unsafe { TcpStream::from_raw_fd(fd) };
    if let Some(bytes) = receive_bytes {
        // SAFETY: pointer and length describe `bytes`, which outlives the call.
        done(unsafe {
            libc::setsockopt(
                fd,
                libc::SOL_SOCKET,
                libc::SO_RCVBUF,
                std::ptr::from_ref(&bytes).cast(),
                size_of::<i32>() as libc::socklen_t,
            )
        })?;
    }
    // SAFETY: pointer and length describe `here`, which outlives the call.
    done(unsafe { libc::bind(fd, std::ptr::from_ref(&here).cast(), len) })?;
    // SAFETY: pointer and length describe `there`, which outlives the call.
    done(unsafe { libc::connect(fd, std::ptr::from_ref(&there).cast(), len) })?;
    Ok(stream)
}

impl Caller {
    /// Connects from an address of this machine to a port of 127.0.0.1.
    pub fn from(ip: Ipv4Addr, port: u16) -> Caller {
        Caller::with(ip, port, None)
    }

    /// Does the work of [`Caller::from`] with a socket whose receive buffer is small, so that the
    /// server's writes soon block.
    pub fn of_small_buffer(ip: Ipv4Addr, port: u16) -> Caller {
        Caller::with(ip, port, Some(4096))
    }

    fn with(ip: Ipv4Addr, port: u16, receive_bytes: Option<i32>) -> Caller {
        let socket = connect(ip, port, receive_bytes).unwrap_or_else(|e| panic!("{port} from {ip}: {e}"));
        socket.set_read_timeout(Some(ANSWERS_WITHIN)).expect("a socket that is open");
        Caller { socket, sequence: 0 }
    }

    /// Reads a packet. `None` means that the connection has ended.
    fn read_packet(&mut self) -> Option<Vec<u8>> {
        let mut read = |bytes: &mut [u8]| match self.socket.read_exact(bytes) {
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                panic!("the server says nothing")
            }
            other => other.ok(),
        };
        let mut header = [0; 4];
        read(&mut header)?;
        let [a, b, c, number] = header;
        let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        read(&mut payload)?;
        self.sequence = number.wrapping_add(1);
        Some(payload)
    }

    /// Reads a packet and classifies it.
    pub fn hear(&mut self) -> Said {
        let Some(packet) = self.read_packet() else { return Said::Nothing };
        match packet.first() {
            Some(&OK_HEADER) => Said::Ok,
            Some(&ERR_HEADER) => {
                let has_state = packet.get(3) == Some(&b'#');
                let error = ErrPacket::decode(&packet).expect("an error packet");
                let state = if has_state {
                    String::from_utf8_lossy(&error.state).into_owned()
                } else {
                    String::new()
                };
                Said::Error(error.code, state, error.message)
            }
            _ => Said::Packet(packet),
        }
    }

    /// Writes a packet of less than 16 MB. If the server has closed the connection, only the next
    /// read shows it.
    pub fn say(&mut self, payload: &[u8]) {
        let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
        let packet = [&[a, b, c, self.sequence], payload].concat();
        self.sequence = self.sequence.wrapping_add(1);
        self.shout(&packet);
    }

    /// Writes bytes, which need not form a packet.
    pub fn shout(&mut self, bytes: &[u8]) {
        let _gone = self.socket.write_all(bytes);
    }

    /// Closes the connection for writing. What the server sends can still be read.
    pub fn stop_talking(&mut self) {
        self.socket.shutdown(Shutdown::Write).expect("a socket that is open");
    }

    /// Sends a command.
    pub fn command(&mut self, payload: &[u8]) {
        self.sequence = 0;
        self.say(payload);
    }

    /// Reads the greeting and answers it as this user without a password. It returns what the
    /// server sends then.
    pub fn log_in(&mut self, user: &str, schema: &str) -> Said {
        self.log_in_with(user, schema, &[], auth::plugin::CACHING_SHA2)
    }

    /// Does the work of [`Caller::log_in`] with this answer to the challenge, in the name of this
    /// plugin. When the server asks for another plugin, the client sends an empty packet.
    pub fn log_in_with(&mut self, user: &str, schema: &str, answer: &[u8], plugin: &str) -> Said {
        match self.hear() {
            Said::Packet(packet) => drop(Greeting::decode(&packet).expect("a greeting")),
            other => return other,
        }
        let response = response(user, schema, answer, plugin);
        let mut payload = Vec::new();
        response.encode(&mut payload);
        self.say(&payload);
        self.hear_of_login()
    }

    /// Returns what the server sends at the end of an authentication. When it asks for another
    /// plugin, the client sends an empty packet.
    pub fn hear_of_login(&mut self) -> Said {
        loop {
            match self.hear() {
                Said::Packet(packet) if packet.first() == Some(&AuthSwitch::HEADER) => self.say(&[]),
                other => return other,
            }
        }
    }
}

/// Returns the packet of a login.
pub fn response(user: &str, schema: &str, answer: &[u8], plugin: &str) -> HandshakeResponse {
    let mut capabilities = cap::PROTOCOL_41 | cap::SECURE_CONNECTION | cap::PLUGIN_AUTH | cap::TRANSACTIONS;
    if !schema.is_empty() {
        capabilities |= cap::CONNECT_WITH_DB;
    }
    HandshakeResponse {
        capabilities,
        max_packet_bytes: 1 << 24,
        collation: 45,
        user: user.into(),
        auth_response: answer.to_vec(),
        schema: schema.into(),
        plugin: plugin.into(),
        attributes: Vec::new(),
    }
}
