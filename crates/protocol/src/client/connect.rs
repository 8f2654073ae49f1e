//! Making a connection: the socket, the handshake, authentication.

use super::error::ClientError;
use super::link::Client;
use crate::auth::{caching_sha2, native, plugin};
use crate::capability as cap;
use crate::command;
use crate::compression::Algorithm;
use crate::handshake::{AUTH_MORE_DATA, AuthSwitch, Greeting, HandshakeResponse, put_tls_request};
use crate::packet::Channel;
use crate::response::{ERR_HEADER, ErrPacket, OK_HEADER, OkPacket};
use crate::rsa_exchange;
use crate::stream::{Interrupter, Stream};
use crate::tls::ClientTls;
use crate::wire::{put_lenenc_int, put_nul_bytes};
use rsa::rand_core::{OsRng, RngCore};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// utf8mb4_general_ci, which every server since 5.5 knows.
const COLLATION_UTF8MB4_GENERAL_CI: u16 = 45;

/// The address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Host name or address, and port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// Path of a Unix domain socket.
    Unix(PathBuf),
}

/// How to connect, and which account logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The server.
    pub address: Address,
    /// Account name.
    pub user: String,
    /// Password; empty for none.
    pub password: String,
    /// The schema to start in.
    pub schema: Option<String>,
    /// Encrypts the connection, or it fails; `None` leaves it as it is.
    pub tls: Option<ClientTls>,
    /// Ways to compress what is sent, the best first. `None` among them is not to; when there is no
    /// other left the connection fails.
    pub compression: Vec<Option<Algorithm>>,
    /// Allows asking the server for its RSA key, so that caching_sha2_password works over plain
    /// TCP.
    pub get_server_public_key: bool,
    /// The server's RSA key as PEM, where it is known: it is not asked for then.
    pub server_public_key: Option<String>,
    /// Several statements in one query.
    pub multi_statements: bool,
    /// `affected_rows` counts matched rows.
    pub found_rows: bool,
    /// The server may ask for a file; see [`Client::query_with_file`].
    pub local_files: bool,
    /// Comes in with a password that has expired, to change it.
    pub can_handle_expired_passwords: bool,
    /// How long connecting may take, and each read and write of the handshake.
    pub connect_timeout: Duration,
    /// How long a later read waits; `None` waits for ever.
    pub read_timeout: Option<Duration>,
    /// The longest packet that is accepted from the server, in bytes.
    pub max_packet_bytes: usize,
    /// Connection attribute `program_name`.
    pub program_name: String,
}

impl ConnectOptions {
    /// Options for a server at a TCP address: user root, no password, 10 s to connect, packets up
    /// to 1 GB.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::new(Address::Tcp { host: host.into(), port })
    }

    /// Options for a server at a Unix socket, otherwise like [`ConnectOptions::tcp`].
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::new(Address::Unix(path.into()))
    }

    fn new(address: Address) -> Self {
        ConnectOptions {
            address,
            user: "root".into(),
            password: String::new(),
            schema: None,
            tls: None,
            compression: vec![None],
            get_server_public_key: true,
            server_public_key: None,
            multi_statements: false,
            found_rows: false,
            local_files: false,
            can_handle_expired_passwords: false,
            connect_timeout: Duration::from_secs(10),
            read_timeout: None,
            max_packet_bytes: 1 << 30,
            program_name: "slipstream".into(),
        }
    }

    /// Sets the account.
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = user.into();
        self.password = password.into();
        self
    }

    /// Sets the schema to start in.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    fn capabilities(&self) -> cap::Capabilities {
        let mut wanted = cap::LONG_PASSWORD
            | cap::LONG_FLAG
            | cap::PROTOCOL_41
            | cap::TRANSACTIONS
            | cap::SECURE_CONNECTION
            | cap::MULTI_RESULTS
            | cap::PS_MULTI_RESULTS
            | cap::PLUGIN_AUTH
            | cap::PLUGIN_AUTH_LENENC_CLIENT_DATA
            | cap::CONNECT_ATTRS
            | cap::DEPRECATE_EOF;
        if self.schema.is_some() {
            wanted |= cap::CONNECT_WITH_DB;
        }
        if self.multi_statements {
            wanted |= cap::MULTI_STATEMENTS;
        }
        if self.found_rows {
            wanted |= cap::FOUND_ROWS;
        }
        if self.local_files {
            wanted |= cap::LOCAL_FILES;
        }
        if self.can_handle_expired_passwords {
            wanted |= cap::CAN_HANDLE_EXPIRED_PASSWORDS;
        }
        wanted
    }
}

/// The first way to compress that the server offers.
fn choose_compression(
    wanted: &[Option<Algorithm>],
    offered: cap::Capabilities,
) -> Result<Option<Algorithm>, ClientError> {
    let found =
        wanted.iter().find(|way| offered & compression_capability(**way) == compression_capability(**way));
    found.copied().ok_or_else(|| {
        ClientError::Protocol("Compression protocol supported by server and client do not match".into())
    })
}

fn compression_capability(way: Option<Algorithm>) -> cap::Capabilities {
    match way {
        None => 0,
        Some(Algorithm::Zlib) => cap::COMPRESS,
        Some(Algorithm::Zstd(_)) => cap::ZSTD_COMPRESSION,
    }
}

/// Asks for TLS, and begins it.
fn begin_tls(
    channel: &mut Channel<Stream>,
    options: &ConnectOptions,
    tls: &ClientTls,
    capabilities: cap::Capabilities,
    offered: cap::Capabilities,
) -> Result<(), ClientError> {
    if offered & cap::SSL == 0 {
        return Err(ClientError::Tls("SSL is required but the server doesn't support it".into()));
    }
    let max_packet_bytes = options.max_packet_bytes.try_into().unwrap_or(u32::MAX);
    channel.write_packet(|out| {
        put_tls_request(capabilities, max_packet_bytes, COLLATION_UTF8MB4_GENERAL_CI, out);
    })?;
    channel.flush()?;
    let host = match &options.address {
        Address::Tcp { host, .. } => host,
        Address::Unix(_) => "localhost",
    };
    let (stream, _) = channel.stream_and_rest();
    stream.connect_tls(tls, host).map_err(|error| ClientError::Tls(tls_failure(&error)))
}

/// MySQL's clients show what OpenSSL says. Of a certificate that is not taken, they never say why.
fn tls_failure(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "error:0A000086:SSL routines::certificate verify failed".to_owned()
        }
        _ => error.to_string(),
    }
}

fn open(options: &ConnectOptions) -> io::Result<Stream> {
    let stream = match &options.address {
        Address::Unix(path) => Stream::from(UnixStream::connect(path)?),
        Address::Tcp { host, port } => Stream::from(connect_tcp(host, *port, options.connect_timeout)?),
    };
    stream.set_read_timeout(Some(options.connect_timeout))?;
    Ok(stream)
}

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("no address for host '{host}'"));
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(e) => last = e,
        }
    }
    Err(last)
}

impl Client {
    /// Connects and authenticates.
    pub fn connect(options: &ConnectOptions) -> Result<Client, ClientError> {
        Client::connect_interruptibly(options, |_| ())
    }

    /// Connects and authenticates. `keep` gets a handle by which another thread ends the connection
    /// before it authenticates: a server that says nothing would be waited for until the time is
    /// over.
    pub fn connect_interruptibly(
        options: &ConnectOptions,
        keep: impl FnOnce(Interrupter),
    ) -> Result<Client, ClientError> {
        let stream = open(options)?;
        keep(stream.interrupter()?);
        let mut channel = Channel::new(stream, options.max_packet_bytes);
        let first = channel.read_packet()?;
        if first.first() == Some(&ERR_HEADER) {
            return Err(ErrPacket::decode(first)?.into());
        }
        let greeting = Greeting::decode(first)?;
        let compression = choose_compression(&options.compression, greeting.capabilities)?;
        let capabilities =
            (options.capabilities() & greeting.capabilities) | compression_capability(compression);
        if capabilities & cap::PROTOCOL_41 == 0 {
            return Err(ClientError::Protocol("the server does not speak protocol 4.1".into()));
        }
        if let Some(tls) = &options.tls {
            begin_tls(&mut channel, options, tls, capabilities | cap::SSL, greeting.capabilities)?;
        }
        let mut login = Login {
            password: options.password.as_bytes(),
            plugin: greeting.plugin.clone(),
            nonce: greeting.nonce.to_vec(),
            is_secure: channel.stream().is_secure(),
            may_ask_for_key: options.get_server_public_key,
            known_key: options.server_public_key.as_deref(),
        };
        if !matches!(login.plugin.as_str(), plugin::NATIVE | plugin::CACHING_SHA2) {
            login.plugin = plugin::CACHING_SHA2.into();
        }
        let response = HandshakeResponse {
            capabilities,
            max_packet_bytes: options.max_packet_bytes.try_into().unwrap_or(u32::MAX),
            collation: COLLATION_UTF8MB4_GENERAL_CI,
            user: options.user.clone().into_bytes(),
            auth_response: login.answer()?,
            schema: options.schema.clone().unwrap_or_default().into_bytes(),
            plugin: login.plugin.clone().into_bytes(),
            attributes: vec![(b"program_name".to_vec(), options.program_name.clone().into_bytes())],
        };
        channel.write_packet(|out| {
            response.encode(out);
            if let Some(Algorithm::Zstd(level)) = compression {
                out.push(level);
            }
        })?;
        channel.flush()?;
        let ok = login.run(&mut channel, capabilities)?;
        if let Some(algorithm) = compression {
            channel.stream_mut().begin_compression(algorithm);
        }
        channel.stream().set_read_timeout(options.read_timeout)?;
        Ok(Client {
            channel,
            capabilities,
            server_version: greeting.server_version,
            connection_id: greeting.connection_id,
            status: ok.status,
        })
    }

    /// Goes on as another account, in a schema or with an empty name in none (COM_CHANGE_USER). The
    /// server asks for the password afterwards.
    pub fn change_user(&mut self, user: &str, password: &str, schema: &str) -> Result<(), ClientError> {
        let mut body = Vec::new();
        put_nul_bytes(&mut body, user.as_bytes());
        // No answer to any challenge.
        body.push(0);
        put_nul_bytes(&mut body, schema.as_bytes());
        body.extend_from_slice(&COLLATION_UTF8MB4_GENERAL_CI.to_le_bytes());
        put_nul_bytes(&mut body, plugin::CACHING_SHA2.as_bytes());
        put_lenenc_int(&mut body, 0);
        self.send_command(command::CHANGE_USER, &body)?;
        let mut login = Login {
            password: password.as_bytes(),
            plugin: plugin::CACHING_SHA2.into(),
            nonce: Vec::new(),
            is_secure: self.channel.stream().is_secure(),
            may_ask_for_key: true,
            known_key: None,
        };
        let ok = login.run(&mut self.channel, self.capabilities)?;
        self.status = ok.status;
        Ok(())
    }

    /// Says good-bye and closes the connection. Dropping a client closes the socket without the
    /// word.
    pub fn quit(mut self) {
        // The server may be gone already; there is nobody to tell.
        let _gone = self.send_command(command::QUIT, &[]);
    }
}

/// The state of authentication.
struct Login<'a> {
    password: &'a [u8],
    plugin: String,
    nonce: Vec<u8>,
    is_secure: bool,
    may_ask_for_key: bool,
    known_key: Option<&'a str>,
}

impl Login<'_> {
    fn answer(&self) -> Result<Vec<u8>, ClientError> {
        match self.plugin.as_str() {
            plugin::NATIVE => Ok(native::scramble(self.password, &self.nonce)),
            plugin::CACHING_SHA2 => Ok(caching_sha2::scramble(self.password, &self.nonce)),
            plugin::CLEAR if self.is_secure => {
                let mut clear = self.password.to_vec();
                clear.push(0);
                Ok(clear)
            }
            other => Err(ClientError::Authentication(format!(
                "Authentication plugin '{other}' cannot be used by this client"
            ))),
        }
    }

    fn run(&mut self, channel: &mut Channel<Stream>, capabilities: u32) -> Result<OkPacket, ClientError> {
        loop {
            let packet = channel.read_packet()?;
            match packet.first() {
                Some(&OK_HEADER) => return Ok(OkPacket::decode(packet, capabilities)?),
                Some(&ERR_HEADER) => return Err(ErrPacket::decode(packet)?.into()),
                Some(&AuthSwitch::HEADER) if packet.len() > 1 => {
                    let switch = AuthSwitch::decode(packet)?;
                    self.plugin = switch.plugin;
                    self.nonce = switch.nonce;
                    let answer = self.answer()?;
                    send(channel, &answer)?;
                }
                Some(&AUTH_MORE_DATA) if self.plugin == plugin::CACHING_SHA2 => {
                    let more = packet[1..].to_vec();
                    self.more(channel, &more)?;
                }
                _ => return Err(ClientError::Protocol("unexpected packet during authentication".into())),
            }
        }
    }

    fn more(&self, channel: &mut Channel<Stream>, data: &[u8]) -> Result<(), ClientError> {
        match data {
            [caching_sha2::FAST_AUTH_SUCCESS] => Ok(()),
            [caching_sha2::PERFORM_FULL_AUTHENTICATION] if self.is_secure => {
                let mut clear = self.password.to_vec();
                clear.push(0);
                send(channel, &clear)
            }
            [caching_sha2::PERFORM_FULL_AUTHENTICATION] => match self.known_key {
                Some(key) => self.send_encrypted(channel, key),
                None if self.may_ask_for_key => send(channel, &[caching_sha2::REQUEST_PUBLIC_KEY]),
                None => Err(ClientError::Authentication(
                    "Authentication plugin 'caching_sha2_password' reported error: Authentication requires \
                     secure connection."
                        .into(),
                )),
            },
            key => {
                let key = std::str::from_utf8(key)
                    .map_err(|_| ClientError::Protocol("the server's public key is not PEM".into()))?;
                self.send_encrypted(channel, key)
            }
        }
    }

    fn send_encrypted(&self, channel: &mut Channel<Stream>, key: &str) -> Result<(), ClientError> {
        let fill = |buf: &mut [u8]| OsRng.fill_bytes(buf);
        let encrypted = rsa_exchange::encrypt_password(self.password, &self.nonce, key, fill)
            .map_err(|e| ClientError::Authentication(e.to_string()))?;
        send(channel, &encrypted)
    }
}

fn send(channel: &mut Channel<Stream>, payload: &[u8]) -> Result<(), ClientError> {
    channel.write_packet(|out| out.extend_from_slice(payload))?;
    Ok(channel.flush()?)
}
