//! A source that speaks as much of the protocol as a replica asks for, and then sends the events
//! that it was given.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use protocol::capability;
use protocol::column::Column;
use protocol::compression::Algorithm;
use protocol::handshake::Greeting;
use protocol::packet::{Channel, PacketError};
use protocol::response::{ErrPacket, OK_HEADER, OkPacket, put_eof};
use protocol::stream::Stream;
use protocol::{command, wire};

const CAPABILITIES: u32 = capability::PROTOCOL_41
    | capability::SECURE_CONNECTION
    | capability::PLUGIN_AUTH
    | capability::TRANSACTIONS
    | capability::LONG_PASSWORD;

/// What is sent to every replica that asks for a dump.
#[derive(Debug, Clone, Default)]
pub struct Play {
    /// Set if the source behaves as a MariaDB server.
    pub mariadb: bool,
    /// Set if the source offers semi-synchronous replication and puts its header before every
    /// event.
    pub semi_sync: bool,
    /// The algorithm with which everything after the login is compressed. `None` means no
    /// compression.
    pub compression: Option<Algorithm>,
    /// The packets, each of which is an event.
    pub events: Vec<Vec<u8>>,
}

/// The source, which runs until the process ends.
pub struct FakeSource {
    port: u16,
    play: Arc<Mutex<Play>>,
}

impl FakeSource {
    /// Begins to listen on a free port.
    pub fn start() -> FakeSource {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let play = Arc::new(Mutex::new(Play::default()));
        let shared = play.clone();
        os::thread::spawn("source", move || {
            for stream in listener.incoming().flatten() {
                let play = shared.lock().expect("nobody panics with it").clone();
                // A replica may go away in the middle of a session.
                os::thread::spawn("source session", move || drop(Session::serve(stream, play)));
            }
        });
        FakeSource { port, play }
    }

    /// Returns the port on which the source listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets what the next replicas are sent.
    pub fn set_play(&self, play: Play) {
        *self.play.lock().expect("nobody panics with it") = play;
    }
}

struct Session {
    channel: Channel<Stream>,
    play: Play,
}

impl Session {
    fn serve(stream: TcpStream, play: Play) -> Result<(), PacketError> {
        stream.set_nodelay(true)?;
        let mut session = Session { channel: Channel::new(stream.into(), 1 << 30), play };
        session.greet()?;
        loop {
            session.channel.reset_sequence();
            session.channel.stream_mut().reset_sequence();
            let packet = session.channel.read_packet()?.to_vec();
            let text = String::from_utf8_lossy(packet.get(1..).unwrap_or_default()).to_uppercase();
            match packet.first() {
                Some(&command::QUERY) => session.answer(&text)?,
                Some(&(command::BINLOG_DUMP | command::BINLOG_DUMP_GTID)) => return session.dump(),
                Some(&command::QUIT) => return Ok(()),
                _ => session.ok()?,
            }
            session.channel.flush()?;
        }
    }

    fn greet(&mut self) -> Result<(), PacketError> {
        let version = if self.play.mariadb { "10.11.14-MariaDB-log" } else { "9.7.4" };
        let offered = match self.play.compression {
            None => 0,
            Some(Algorithm::Zlib) => capability::COMPRESS,
            Some(Algorithm::Zstd(_)) => capability::ZSTD_COMPRESSION,
        };
        let greeting = Greeting {
            server_version: version.to_owned(),
            connection_id: 1,
            nonce: [b'n'; 20],
            capabilities: CAPABILITIES | offered,
            collation: 45,
            status: 2,
            plugin: "mysql_native_password".to_owned(),
        };
        self.channel.write_packet(|out| greeting.encode(out))?;
        self.channel.flush()?;
        self.channel.read_packet()?;
        self.ok()?;
        self.channel.flush()?;
        if let Some(algorithm) = self.play.compression {
            self.channel.stream_mut().begin_compression(algorithm);
        }
        Ok(())
    }

    fn answer(&mut self, query: &str) -> Result<(), PacketError> {
        let cell = match query {
            _ if query.starts_with("SET") => return self.ok(),
            _ if query.contains("UNIX_TIMESTAMP") => "1700000000.5",
            _ if query.contains("SERVER_ID") => "99",
            _ if query.contains("CHECKSUM") => "CRC32",
            _ if query.contains("GTID_MODE") => "ON",
            _ if query.contains("SERVER_UUID") => "3e11fa47-71ca-11e1-9e33-c80aa9429562",
            _ if query.contains("RPL_SEMI_SYNC") && self.play.semi_sync => "1",
            _ => return self.error(1193, "Unknown system variable"),
        };
        self.channel.write_packet(|out| out.push(1))?;
        let column = Column {
            schema: "".into(),
            table: "".into(),
            org_table: "".into(),
            name: "c".into(),
            org_name: "".into(),
            collation: 45,
            length_bytes: 400,
            field_type: 253,
            flags: 0,
            decimals: 0,
        };
        self.channel.write_packet(|out| column.encode(types::collation::UTF8MB4_BIN, out))?;
        self.channel.write_packet(|out| put_eof(2, 0, out))?;
        self.channel.write_packet(|out| wire::put_lenenc_bytes(out, cell.as_bytes()))?;
        self.channel.write_packet(|out| put_eof(2, 0, out))
    }

    fn ok(&mut self) -> Result<(), PacketError> {
        let ok = OkPacket { status: 2, ..OkPacket::default() };
        self.channel.write_packet(|out| ok.encode(OK_HEADER, CAPABILITIES, out))
    }

    fn error(&mut self, code: u16, message: &str) -> Result<(), PacketError> {
        let error = ErrPacket { code, state: *b"HY000", message: message.to_owned() };
        self.channel.write_packet(|out| error.encode(CAPABILITIES, types::collation::UTF8MB4_BIN, out))
    }

    /// Sends the events and then an error that stops the receiver for good, so that a test need not
    /// wait.
    fn dump(mut self) -> Result<(), PacketError> {
        for event in std::mem::take(&mut self.play.events) {
            let semi_sync = self.play.semi_sync;
            self.channel.write_packet(|out| {
                out.push(OK_HEADER);
                if semi_sync {
                    out.extend_from_slice(&[0xEF, 0]);
                }
                out.extend_from_slice(&event);
            })?;
        }
        self.error(1236, "the play is over")?;
        self.channel.flush()?;
        // The replica closes the connection.
        while self.channel.read_packet().is_ok() {}
        Ok(())
    }
}
