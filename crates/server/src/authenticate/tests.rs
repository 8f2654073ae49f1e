//! Both ends of the exchange in one process, over a socket pair and over TCP.

use super::*;
use crate::accounts::AccountTable;
use protocol::capability as cap;
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::handshake::{FirstPacket, Greeting};
use protocol::response::{ErrPacket, OK_HEADER, OkPacket};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

fn account(user: &str, plugin: &str, stored: Vec<u8>) -> Account {
    Account {
        user: user.into(),
        host: "%".into(),
        plugin: plugin.into(),
        authentication_string: stored,
        ..Account::default()
    }
}

fn accounts() -> Accounts {
    let sha2 = |p: &[u8]| caching_sha2::authentication_string(p, b"abcdefghijklmnopqrst");
    let accounts = Accounts::default();
    let mut locked = account("locked", plugin::NATIVE, Vec::new());
    locked.locked = true;
    accounts.replace(AccountTable::new([
        account("sha2", plugin::CACHING_SHA2, sha2(b"right")),
        account("native", plugin::NATIVE, native::authentication_string(b"right").into_bytes()),
        account("open", plugin::CACHING_SHA2, Vec::new()),
        locked,
    ]));
    accounts
}

const OFFERED: u32 = cap::PROTOCOL_41
    | cap::SECURE_CONNECTION
    | cap::PLUGIN_AUTH
    | cap::PLUGIN_AUTH_LENENC_CLIENT_DATA
    | cap::CONNECT_ATTRS;

/// Greets, authenticates, answers.
fn serve_one(stream: Stream, host: ClientHost, accounts: &Accounts) {
    let mut channel = Channel::new(stream, 1 << 20);
    let nonce = new_nonce();
    let greeting = Greeting {
        server_version: "9.7.0".into(),
        connection_id: 1,
        nonce,
        capabilities: OFFERED,
        collation: 255,
        status: 2,
        plugin: plugin::CACHING_SHA2.into(),
    };
    channel.write_packet(|out| greeting.encode(out)).unwrap();
    channel.flush().unwrap();
    let first = HandshakeResponse::decode(channel.read_packet().unwrap(), OFFERED).unwrap();
    let FirstPacket::Response(response) = first else { panic!("the client sent {first:?}") };
    let mut authentication = Authentication { accounts, host: &host, channel: &mut channel, nonce };
    let result = authentication.run(&response);
    let sent = match result {
        Ok(_) => {
            channel.write_packet(|out| OkPacket::default().encode(OK_HEADER, response.capabilities, out))
        }
        Err(Refusal::Error(e)) => {
            let err = ErrPacket { code: e.code, state: e.state, message: e.message };
            channel.write_packet(|out| err.encode(response.capabilities, out))
        }
        Err(Refusal::Packet(_)) => return,
    };
    sent.and_then(|()| channel.flush()).unwrap();
}

/// Connects as `user` with `password`, over TCP from 127.0.0.1.
fn over_tcp(accounts: &Arc<Accounts>, user: &str, password: &str, may_ask: bool) -> Result<(), ClientError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let accounts = accounts.clone();
    let server = os::thread::spawn("server", move || {
        let (stream, peer) = listener.accept().unwrap();
        serve_one(Stream::from(stream), ClientHost::Ip(peer.ip()), &accounts);
    });
    let options = ConnectOptions::tcp("127.0.0.1", port).user(user, password);
    // Generating the RSA key takes its time on a busy machine.
    let connect_timeout = std::time::Duration::from_secs(120);
    let options = ConnectOptions { get_server_public_key: may_ask, connect_timeout, ..options };
    let result = Client::connect(&options);
    server.join().unwrap();
    result.map(drop)
}

fn over_socket(accounts: &Arc<Accounts>, user: &str, password: &str) -> Result<(), ClientError> {
    let path =
        std::env::temp_dir().join(format!("slipstream-auth-{}-{}", std::process::id(), os::random::u64()));
    let listener = UnixListener::bind(&path).unwrap();
    let accounts = accounts.clone();
    let server = os::thread::spawn("server", move || {
        let (stream, _) = listener.accept().unwrap();
        serve_one(Stream::from(stream), ClientHost::Local, &accounts);
    });
    let result = Client::connect(&ConnectOptions::unix(&path).user(user, password));
    server.join().unwrap();
    os::disk::real().remove(&path).unwrap();
    result.map(drop)
}

#[test]
fn right_passwords_are_let_in_and_wrong_ones_are_not() {
    let accounts = Arc::new(accounts());
    for user in ["sha2", "native"] {
        for password in ["", "wrong", "Right"] {
            assert_eq!(over_tcp(&accounts, user, password, true).unwrap_err().server_code(), Some(1045));
            assert_eq!(over_socket(&accounts, user, password).unwrap_err().server_code(), Some(1045));
        }
        over_socket(&accounts, user, "right").unwrap();
    }
    over_tcp(&accounts, "open", "", true).unwrap();
    assert_eq!(over_tcp(&accounts, "open", "x", true).unwrap_err().server_code(), Some(1045));
    assert_eq!(over_tcp(&accounts, "nobody", "x", true).unwrap_err().server_code(), Some(1045));
    assert_eq!(over_socket(&accounts, "locked", "").unwrap_err().server_code(), Some(3118));
}

#[test]
fn the_password_travels_encrypted_once_and_then_not_at_all() {
    let accounts = Arc::new(accounts());
    let refused = over_tcp(&accounts, "sha2", "right", false).unwrap_err();
    assert!(matches!(refused, ClientError::Authentication(_)), "{refused}");
    over_tcp(&accounts, "sha2", "right", true).unwrap();
    // Cached now: the client that may not ask for the key gets in by its scramble.
    over_tcp(&accounts, "sha2", "right", false).unwrap();
    accounts.replace(accounts.table().as_ref().clone());
    assert!(over_tcp(&accounts, "sha2", "right", false).is_err());
}

/// MariaDB's library, when the greeting's plugin is one that it does not have: it names its own, leaves the answer out, and waits to be asked.
#[test]
fn a_client_that_waits_to_be_asked_is_asked() {
    let accounts = Arc::new(accounts());
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let server =
        os::thread::spawn("server", move || serve_one(Stream::from(ours), ClientHost::Local, &accounts));
    let mut client = Channel::new(Stream::from(theirs), 1 << 20);
    Greeting::decode(client.read_packet().unwrap()).unwrap();
    let response = HandshakeResponse {
        capabilities: OFFERED,
        max_packet_bytes: 1 << 20,
        collation: 45,
        user: b"native".to_vec(),
        auth_response: Vec::new(),
        schema: Vec::new(),
        plugin: plugin::NATIVE.into(),
        attributes: Vec::new(),
    };
    client.write_packet(|out| response.encode(out)).unwrap();
    client.flush().unwrap();
    let switch = AuthSwitch::decode(client.read_packet().unwrap()).unwrap();
    assert_eq!(switch.plugin, plugin::NATIVE);
    let answer = native::scramble(b"right", &switch.nonce);
    client.write_packet(|out| out.extend_from_slice(&answer)).unwrap();
    client.flush().unwrap();
    assert_eq!(client.read_packet().unwrap().first(), Some(&OK_HEADER));
    server.join().unwrap();
}
