//! How a client makes a connection: the socket, the handshake, authentication.

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

/// The id of utf8mb4_general_ci, which every server since 5.5 knows.
const COLLATION_UTF8MB4_GENERAL_CI: u16 = 45;

/// The address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host and a port.
    Tcp {
        /// The host's name or address.
        host: String,
        /// The port number.
        port: u16,
    },
    /// The path of a Unix domain socket.
    Unix(PathBuf),
}

/// The options of a connection: how to connect, and which account logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The address of the server.
    pub address: Address,
    /// The name of the account.
    pub user: String,
    /// The password. An empty one stands for no password.
    pub password: String,
    /// The schema to start in, if any.
    pub schema: Option<String>,
    /// How the connection is encrypted; if it cannot be, connecting fails. `None` means that it is
    /// not encrypted.
    pub tls: Option<ClientTls>,
    /// Whether a server without TLS is spoken to in clear text even if `tls` is set
    /// (`--ssl-mode=PREFERRED`).
    pub is_tls_optional: bool,
    /// The ways to compress the stream, the best first. `None` among them means no compression. If
    /// the server offers none of them, connecting fails.
    pub compression: Vec<Option<Algorithm>>,
    /// Whether the client may ask the server for its RSA key, so that caching_sha2_password works
    /// over plain TCP.
    pub get_server_public_key: bool,
    /// The server's RSA key as PEM, if it is known. The server is then not asked for it.
    pub server_public_key: Option<String>,
    /// Whether one query may have several statements.
    pub multi_statements: bool,
    /// Whether `affected_rows` counts matched rows.
    pub found_rows: bool,
    /// Whether the server may ask for a file; see [`Client::query_with_file`].
    pub local_files: bool,
    /// Whether to log in with an expired password, to change it.
    pub can_handle_expired_passwords: bool,
    /// How long connecting may take, and each read of the handshake.
    pub connect_timeout: Duration,
    /// How long a later read waits. `None` means for ever.
    pub read_timeout: Option<Duration>,
    /// The longest packet that is accepted from the server, in bytes.
    pub max_packet_bytes: usize,
    /// The value of the connection attribute `program_name`.
    pub program_name: String,
}

impl ConnectOptions {
    /// Returns the options for a server at a TCP address: user root, no password, 10 s to connect,
    /// packets of up to 1 GB.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::new(Address::Tcp { host: host.into(), port })
    }

    /// Returns the options for a server at a Unix socket, which are otherwise those of
    /// [`ConnectOptions::tcp`].
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
            is_tls_optional: false,
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

/// Returns the first way to compress that the server offers.
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

/// Asks for TLS, and does the TLS handshake.
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

/// Returns the text of a TLS error. MySQL's clients show OpenSSL's text, which does not say why a
/// certificate was not accepted.
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

    /// Connects and authenticates. `keep` gets a handle by which another thread can end the
    /// connection even before it is authenticated. Without it, a server that sends nothing would be
    /// waited for until the timeout.
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
        let goes_without = options.is_tls_optional && greeting.capabilities & cap::SSL == 0;
        if let Some(tls) = options.tls.as_ref().filter(|_| !goes_without) {
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

    /// Changes to another account (COM_CHANGE_USER), in a schema, or in none if its name is empty.
    /// The server asks for the password afterwards.
    pub fn change_user(&mut self, user: &str, password: &str, schema: &str) -> Result<(), ClientError> {
        let mut body = Vec::new();
        put_nul_bytes(&mut body, user.as_bytes());
        // The answer to the challenge is empty, since there was none.
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

    /// Tells the server that the client quits, and closes the connection. Dropping a client closes
    /// the socket without telling.
    pub fn quit(mut self) {
        // The server may be gone already. An error does not matter then.
        let _gone = self.send_command(command::QUIT, &[]);
    }
}

/// The state of the authentication.
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
