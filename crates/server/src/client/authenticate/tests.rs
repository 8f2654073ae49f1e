//! Tests with both ends of the exchange in one process, over a socket pair and over TCP.

use super::*;
use crate::accounts::AccountTable;
use protocol::capability as cap;
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::handshake::{FirstPacket, Greeting};
use protocol::response::{ErrPacket, OK_HEADER, OkPacket};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
    let mut two = account("two", plugin::CACHING_SHA2, sha2(b"new"));
    two.attributes.retained_password = sha2(b"old");
    let mut blocked =
        account("blocked", plugin::NATIVE, native::authentication_string(b"right").into_bytes());
    blocked.attributes.locking = Locking { attempts: 2, days: -1 };
    accounts.replace(AccountTable::new([
        account("sha2", plugin::CACHING_SHA2, sha2(b"right")),
        account("native", plugin::NATIVE, native::authentication_string(b"right").into_bytes()),
        account("open", plugin::CACHING_SHA2, Vec::new()),
        two,
        blocked,
    ]));
    accounts
}

const OFFERED: u32 = cap::PROTOCOL_41
    | cap::SECURE_CONNECTION
    | cap::PLUGIN_AUTH
    | cap::PLUGIN_AUTH_LENENC_CLIENT_DATA
    | cap::CONNECT_ATTRS;

/// Greets one client, authenticates it and sends the answer.
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
        Err(Refusal::Error(e, _) | Refusal::Bare(e)) => {
            let err = ErrPacket { code: e.code, state: e.state, message: e.message };
            channel.write_packet(|out| err.encode(response.capabilities, types::collation::UTF8MB4_BIN, out))
        }
        Err(Refusal::Packet(_)) => return,
    };
    sent.and_then(|()| channel.flush()).unwrap();
}

/// Connects as `user` with `password`, over TCP from 127.0.0.1.
fn over_tcp(accounts: &Arc<Accounts>, user: &str, password: &str, may_ask: bool) -> Result<(), ClientError> {
    over_tcp_with(accounts, user, password, may_ask, |_| ())
}

/// Connects like [`over_tcp`], and calls `prepare` with the server's end first.
fn over_tcp_with(
    accounts: &Arc<Accounts>,
    user: &str,
    password: &str,
    may_ask: bool,
    prepare: impl FnOnce(&mut Stream) + Send + 'static,
) -> Result<(), ClientError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let accounts = accounts.clone();
    let server = os::thread::spawn("server", move || {
        let (stream, peer) = listener.accept().unwrap();
        let mut stream = Stream::from(stream);
        prepare(&mut stream);
        serve_one(stream, ClientHost::Ip { ip: peer.ip(), name: Some("localhost".into()) }, &accounts);
    });
    let options = ConnectOptions::tcp("127.0.0.1", port).user(user, password);
    // Generating the RSA key takes long on a busy machine.
    let connect_timeout = Duration::from_secs(120);
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
fn the_making_of_the_key_does_not_count_of_the_clients_time() {
    let accounts = Arc::new(accounts());
    let allowed_ns = Arc::new(AtomicU64::new(0));
    let seen = allowed_ns.clone();
    let left = move |own_time: Duration| {
        seen.store(own_time.as_nanos() as u64, Ordering::Relaxed);
        Duration::from_secs(120)
    };
    over_tcp_with(&accounts, "sha2", "right", true, move |stream| stream.set_deadline(Some(Box::new(left))))
        .unwrap();
    assert!(allowed_ns.load(Ordering::Relaxed) > 0, "the login needs the key, which is made for it");
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
}

#[test]
fn a_retained_password_is_one_until_it_is_discarded() {
    let accounts = Arc::new(accounts());
    for password in ["old", "new", "old"] {
        over_socket(&accounts, "two", password).unwrap();
    }
    // Both passwords are in the cache now.
    for password in ["old", "new"] {
        over_tcp(&accounts, "two", password, false).unwrap();
    }
    assert_eq!(over_socket(&accounts, "two", "other").unwrap_err().server_code(), Some(1045));
}

#[test]
fn wrong_passwords_block_an_account() {
    let accounts = Arc::new(accounts());
    let code = |password| over_socket(&accounts, "blocked", password).err().and_then(|e| e.server_code());
    assert_eq!((code("x"), code("right"), code("x")), (Some(1045), None, Some(1045)));
    assert_eq!((code("x"), code("right"), code("")), (Some(3955), Some(3955), Some(3955)));
    accounts.usage.forget_all_failures();
    assert_eq!(code("right"), None);
}

#[test]
fn the_password_travels_encrypted_once_and_then_not_at_all() {
    let accounts = Arc::new(accounts());
    let refused = over_tcp(&accounts, "sha2", "right", false).unwrap_err();
    assert!(matches!(refused, ClientError::Authentication(_)), "{refused}");
    over_tcp(&accounts, "sha2", "right", true).unwrap();
    // The password is cached now, so a client that may not ask for the key gets in by its scramble.
    over_tcp(&accounts, "sha2", "right", false).unwrap();
    // A change of other accounts leaves the password in the cache; FLUSH PRIVILEGES does not.
    accounts.replace(accounts.table().as_ref().clone());
    over_tcp(&accounts, "sha2", "right", false).unwrap();
    accounts.forget_passwords();
    assert!(over_tcp(&accounts, "sha2", "right", false).is_err());
}

/// MariaDB's library names its own plugin when it does not have the greeting's, leaves the answer
/// out, and waits to be asked.
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

/// Returns what a client sees at a login: the kind of each packet, and the text of the last one
/// without the user's name.
fn exchange(accounts: &Arc<Accounts>, is_tcp: bool, user: &str, first: &str, password: &[u8]) -> Vec<String> {
    let (ours, theirs, host) = if is_tcp {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The client's address is no loopback, so that no password is taken in clear text.
        (
            Stream::from(listener.accept().unwrap().0),
            Stream::from(theirs),
            ClientHost::Ip { ip: [192, 0, 2, 1].into(), name: None },
        )
    } else {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        (Stream::from(ours), Stream::from(theirs), ClientHost::Local)
    };
    let for_server = accounts.clone();
    let server = os::thread::spawn("server", move || serve_one(ours, host, &for_server));
    let mut client = Channel::new(theirs, 1 << 20);
    let nonce = Greeting::decode(client.read_packet().unwrap()).unwrap().nonce;
    let scramble = |plugin: &str, nonce: &[u8]| match plugin {
        plugin::NATIVE => native::scramble(password, nonce),
        _ => caching_sha2::scramble(password, nonce),
    };
    let response = HandshakeResponse {
        capabilities: OFFERED,
        user: user.into(),
        auth_response: scramble(first, &nonce),
        plugin: first.into(),
        ..HandshakeResponse::default()
    };
    client.write_packet(|out| response.encode(out)).unwrap();
    let mut seen = Vec::new();
    loop {
        client.flush().unwrap();
        let packet = client.read_packet().unwrap().to_vec();
        let answer = match packet.first() {
            Some(&AuthSwitch::HEADER) => {
                let switch = AuthSwitch::decode(&packet).unwrap();
                seen.push(format!("switch to {}", switch.plugin));
                scramble(&switch.plugin, &switch.nonce)
            }
            Some(&AUTH_MORE_DATA) => {
                seen.push(format!("more of {} bytes, {}", packet.len(), packet[1]));
                match packet.len() {
                    2 if is_tcp => vec![caching_sha2::REQUEST_PUBLIC_KEY],
                    2 => [password, b"\0"].concat(),
                    _ => vec![7; RSA_CIPHER_BYTES],
                }
            }
            _ => {
                seen.push(String::from_utf8_lossy(&packet).replace(user, "user"));
                break;
            }
        };
        client.write_packet(|out| out.extend_from_slice(&answer)).unwrap();
    }
    server.join().unwrap();
    seen
}

#[test]
fn names_of_nobody_cannot_be_told_from_those_of_accounts() {
    let accounts = Arc::new(accounts());
    // This puts the account's password into the cache.
    over_tcp(&accounts, "sha2", "right", true).unwrap();
    let nobody = |plugin: &str| {
        let mut names = (0..1000).map(|n| format!("nobody{n}"));
        names.find(|name| accounts.nobody(name).plugin == plugin).unwrap()
    };
    for (known, plugin) in [("sha2", plugin::CACHING_SHA2), ("native", plugin::NATIVE)] {
        let unknown = nobody(plugin);
        for is_tcp in [true, false] {
            for first in [plugin::CACHING_SHA2, plugin::NATIVE, ""] {
                for password in [&b""[..], b"wrong"] {
                    let see = |user: &str| exchange(&accounts, is_tcp, user, first, password);
                    assert_eq!(see(known), see(&unknown), "{plugin} first {first} TCP {is_tcp}");
                }
            }
        }
    }
    // An account without a password can be told only by trying no password.
    for is_tcp in [true, false] {
        let see = |user: &str| exchange(&accounts, is_tcp, user, plugin::CACHING_SHA2, b"wrong");
        assert_eq!(see("open"), see(&nobody(plugin::CACHING_SHA2)));
    }
}
