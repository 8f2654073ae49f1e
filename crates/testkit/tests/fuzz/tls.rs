//! The fuzzer of TLS: changed commands inside sound records, and records that are damaged on their
//! way to the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use protocol::capability as cap;
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::stream::Stream;
use protocol::tls::Trust;
use testkit::Server;

use crate::pipe::{Damage, Pipe};

/// How long a client waits after a record that the server has not understood.
const ANSWERED_WITHIN: Duration = Duration::from_millis(500);

/// Returns a connection that has agreed on TLS, after the server's greeting was read. `login` is
/// the beginning of the client's first packet.
pub fn begin(mut socket: TcpStream, login: &[u8]) -> std::io::Result<Stream> {
    let mut request = login[..32].to_vec();
    request[1] |= (cap::SSL >> 8) as u8;
    socket.write_all(&[32, 0, 0, 1])?;
    socket.write_all(&request)?;
    let mut stream = Stream::from(socket);
    stream.connect_tls(&Trust::Anybody.into(), "localhost")?;
    Ok(stream)
}

/// Reads until the server has answered or closed the connection, and returns which of these came.
pub fn hear(stream: &mut Stream) -> &'static str {
    let (mut answer, mut heard) = (vec![0; 1 << 16], 0);
    loop {
        match stream.read(&mut answer) {
            Ok(0) => return if heard == 0 { "closed" } else { "answered, closed" },
            Ok(got) => heard += got,
            Err(_) => return if heard == 0 { "silent" } else { "answered" },
        }
    }
}

/// Runs a correct client, one of whose records is damaged on its way, and returns the outcome.
pub fn talk(server: &Server, pipe: &Pipe, damage: Damage) -> &'static str {
    pipe.set(server.port(), Some(damage));
    let mut options = ConnectOptions::tcp("127.0.0.1", pipe.port()).user("raw", "");
    options.tls = Some(Trust::Anybody.into());
    options.connect_timeout = ANSWERED_WITHIN;
    options.read_timeout = Some(ANSWERED_WITHIN);
    let outcome = Client::connect(&options).and_then(|mut client| {
        for _ in 0..4 {
            client.query("SELECT * FROM fuzzed.t")?;
        }
        Ok(())
    });
    match outcome {
        Ok(()) => "TLS: whole",
        Err(ClientError::Server(_)) => "TLS: refused",
        Err(_) => "TLS: broken",
    }
}
