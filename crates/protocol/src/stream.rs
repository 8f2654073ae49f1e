//! The socket under a connection, which is TCP or a Unix domain socket, with TLS and compression if
//! both ends have agreed on them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::compression::{Algorithm, Compression};
pub use crate::tls::ClientCertificate;
use crate::tls::{ClientTls, ServerTls, TlsError, cipher_name, client_session};

/// A connected socket.
#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn try_clone(&self) -> io::Result<Socket> {
        Ok(match self {
            Socket::Tcp(socket) => Socket::Tcp(socket.try_clone()?),
            Socket::Unix(socket) => Socket::Unix(socket.try_clone()?),
        })
    }

    fn shutdown(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Both),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Both),
        }
    }
}

impl Socket {
    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(socket) => socket.set_read_timeout(timeout),
            Socket::Unix(socket) => socket.set_read_timeout(timeout),
        }
    }

    fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(socket) => socket.set_write_timeout(timeout),
            Socket::Unix(socket) => socket.set_write_timeout(timeout),
        }
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.read(buf),
            Socket::Unix(socket) => socket.read(buf),
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.write(buf),
            Socket::Unix(socket) => socket.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket, with a limit of the time that all its reads and writes together may take.
struct TimedSocket {
    socket: Socket,
    /// A function that returns how much time is left until the deadline. `None` means that there is
    /// no deadline, and each read and write has the socket's own timeout.
    deadline: Option<TimeLeft>,
    /// The time that does not count for the deadline.
    own_time: Duration,
}

/// A function that returns how much time is left. Its argument is the time that does not count.
pub type TimeLeft = Box<dyn Fn(Duration) -> Duration + Send>;

impl std::fmt::Debug for TimedSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.socket.fmt(f)
    }
}

impl TimedSocket {
    fn new(socket: Socket) -> TimedSocket {
        TimedSocket { socket, deadline: None, own_time: Duration::ZERO }
    }

    /// Returns the time that is left until the deadline, `None` without a deadline. Returns an
    /// error of kind `TimedOut` when the deadline has passed.
    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(left) = &self.deadline else { return Ok(None) };
        match left(self.own_time) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for TimedSocket {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.socket.set_read_timeout(Some(left))?;
        }
        self.socket.read(buf)
    }
}

impl Write for TimedSocket {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.socket.set_write_timeout(Some(left))?;
        }
        self.socket.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A TLS session, with the bytes that were received for it before it was begun.
#[derive(Debug)]
struct Tls {
    session: rustls::Connection,
    ahead: io::Cursor<Vec<u8>>,
}

impl Tls {
    /// Lets the session read once from the socket. Returns false at the end of the stream.
    fn receive(&mut self, socket: &mut TimedSocket) -> io::Result<bool> {
        let ahead_len = self.ahead.get_ref().len() as u64;
        let got = if self.ahead.position() < ahead_len {
            self.session.read_tls(&mut self.ahead)?
        } else {
            self.session.read_tls(socket)?
        };
        if let Err(error) = self.session.process_new_packets() {
            // This sends the alert that tells the peer why. The peer may be gone already.
            let _gone = self.send(socket);
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        Ok(got > 0)
    }

    /// Sends the bytes that the session has ready.
    fn send(&mut self, socket: &mut TimedSocket) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(socket)?;
        }
        Ok(())
    }

    fn shake_hands(&mut self, socket: &mut TimedSocket) -> io::Result<()> {
        while self.session.is_handshaking() {
            self.send(socket)?;
            if self.session.is_handshaking() && !self.receive(socket)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        self.send(socket)
    }

    fn read(&mut self, socket: &mut TimedSocket, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.receive(socket)? {
                        return Ok(0);
                    }
                    self.send(socket)?;
                }
                // The peer has ended without ending the session. That is accepted, since packets
                // themselves show whether one is cut.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
        }
    }

    fn write(&mut self, socket: &mut TimedSocket, buf: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(buf)?;
        self.send(socket)?;
        Ok(taken)
    }
}

/// The facts about a connection's encryption (`Ssl_version`, `Ssl_cipher`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encryption {
    /// The version of TLS, `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The cipher suite by OpenSSL's name, which for TLS 1.3 is the standard's.
    pub cipher: String,
    /// Whether the client has taken up a session of an earlier connection again.
    pub is_resumed: bool,
}

/// A connected socket, with or without TLS.
#[derive(Debug)]
pub struct Stream {
    socket: TimedSocket,
    tls: Option<Box<Tls>>,
    compression: Option<Box<Compression>>,
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Stream {
        Stream { socket: TimedSocket::new(Socket::Tcp(socket)), tls: None, compression: None }
    }
}

impl From<UnixStream> for Stream {
    fn from(socket: UnixStream) -> Stream {
        Stream { socket: TimedSocket::new(Socket::Unix(socket)), tls: None, compression: None }
    }
}

impl Stream {
    /// Reports whether nobody on a network can read along, because the stream is TLS or a Unix
    /// domain socket.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some() || matches!(self.socket.socket, Socket::Unix(_))
    }

    /// Returns the version and cipher that TLS has agreed on. `None` without TLS.
    pub fn encryption(&self) -> Option<Encryption> {
        let session = &self.tls.as_ref()?.session;
        let version = match session.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_2 => "TLSv1.2".to_owned(),
            rustls::ProtocolVersion::TLSv1_3 => "TLSv1.3".to_owned(),
            other => format!("{other:?}"),
        };
        let cipher = cipher_name(session.negotiated_cipher_suite()?)?;
        let is_resumed = session.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
        Some(Encryption { version, cipher, is_resumed })
    }

    /// Returns the facts about the certificate that the peer has shown and the TLS library has
    /// accepted.
    pub fn client_certificate(&self) -> Option<ClientCertificate> {
        let shown = self.tls.as_ref()?.session.peer_certificates()?;
        ClientCertificate::of(shown.first()?)
    }

    /// Does the server's side of the TLS handshake. `ahead` are the bytes that were received after
    /// the client's request for TLS.
    ///
    /// # Errors
    /// Returns an error when client and server do not agree, or when the socket fails.
    pub fn accept_tls(&mut self, tls: &ServerTls, ahead: Vec<u8>) -> io::Result<()> {
        self.begin_tls(tls.session()?.into(), ahead)
    }

    /// Does the client's side of the TLS handshake with a server of this name or address.
    ///
    /// # Errors
    /// Returns an error when the server is not trusted or does not speak TLS, or when the socket
    /// fails.
    pub fn connect_tls(&mut self, tls: &ClientTls, host: &str) -> io::Result<()> {
        let session = client_session(tls, host).map_err(|error: TlsError| io::Error::other(error))?;
        self.begin_tls(session.into(), Vec::new())
    }

    fn begin_tls(&mut self, session: rustls::Connection, ahead: Vec<u8>) -> io::Result<()> {
        let mut tls = Box::new(Tls { session, ahead: io::Cursor::new(ahead) });
        tls.shake_hands(&mut self.socket)?;
        self.tls = Some(tls);
        Ok(())
    }

    /// Begins compression: everything from here on is compressed.
    pub fn begin_compression(&mut self, algorithm: Algorithm) {
        self.compression = Some(Box::new(Compression::new(algorithm)));
    }

    /// Restarts the compressed protocol's sequence numbers, because a new command begins.
    pub fn reset_sequence(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.reset_sequence();
        }
    }

    /// Sets how long a read waits before it fails. `None` means for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.socket.set_read_timeout(timeout)
    }

    /// Sets how long a write waits before it fails. `None` means for ever.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.socket.set_write_timeout(timeout)
    }

    /// Sets a deadline: from now on all reads and writes together may take the time that is left,
    /// and fail with `TimedOut` after it. So a peer that sends a byte now and then cannot stretch
    /// the time. `None` ends the deadline; the timeouts of single reads and writes then have to be
    /// set again.
    pub fn set_deadline(&mut self, left: Option<TimeLeft>) {
        self.socket.deadline = left;
        self.socket.own_time = Duration::ZERO;
    }

    /// Adds time that does not count for the deadline, because the peer has waited for this side.
    pub fn allow_for(&mut self, own_time: Duration) {
        self.socket.own_time += own_time;
    }

    /// Returns a handle that can end the connection from another thread.
    pub fn interrupter(&self) -> io::Result<Interrupter> {
        self.socket.socket.try_clone().map(Interrupter)
    }
}

/// The stream below the compression.
struct Wire<'a> {
    socket: &'a mut TimedSocket,
    tls: &'a mut Option<Box<Tls>>,
}

impl Read for Wire<'_> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.tls {
            None => self.socket.read(buf),
            Some(tls) => tls.read(self.socket, buf),
        }
    }
}

impl Write for Wire<'_> {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self.tls {
            None => self.socket.write(buf),
            Some(tls) => tls.write(self.socket, buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut wire = Wire { socket: &mut self.socket, tls: &mut self.tls };
        match &mut self.compression {
            None => wire.read(buf),
            Some(compression) => compression.read(&mut wire, buf),
        }
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut wire = Wire { socket: &mut self.socket, tls: &mut self.tls };
        match &mut self.compression {
            None => wire.write(buf),
            Some(compression) => compression.write_all(&mut wire, buf).map(|()| buf.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends a connection from another thread.
#[derive(Debug)]
pub struct Interrupter(Socket);

impl Interrupter {
    /// Shuts the socket down in both directions, so that reads and writes of the connection's owner
    /// fail from now on. A socket that is closed already is not an error.
    pub fn interrupt(&self) {
        let _already_closed = self.0.shutdown();
    }
}
