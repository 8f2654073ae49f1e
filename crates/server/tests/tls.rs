//! Tests of connections over TLS, on a whole server.

use bench::instance::{Flavor, Settings, USER};
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::scalar::Scalar;
use protocol::tls::{Trust, make_certificates};
use testkit::Server;

fn start(options: &[&str]) -> Server {
    let extra = options.iter().map(ToString::to_string).collect();
    Server::start(Flavor::Slipstream, &Settings { extra, ..Settings::default() })
}

fn over_tls(server: &Server, trust: Trust) -> ConnectOptions {
    let plain = ConnectOptions::tcp("127.0.0.1", server.port()).user(USER, USER);
    // With TLS, the RSA key must not be needed for a password that the server has not cached yet.
    ConnectOptions { tls: Some(trust.into()), get_server_public_key: false, ..plain }
}

fn authority(server: &Server) -> Trust {
    let datadir = server.rows("SELECT @@datadir").remove(0);
    let pem = os::disk::real().read(&std::path::Path::new(&datadir).join("ca.pem"));
    Trust::Authorities(pem.expect("the server has made it"))
}

#[test]
fn a_session_goes_over_tls() {
    let server = start(&[]);
    let mut client = Client::connect(&over_tls(&server, Trust::Anybody)).unwrap();
    let status = client.query("SHOW STATUS LIKE 'Ssl_version'").unwrap();
    assert_eq!(status.cell(0, 1).as_deref(), Some("TLSv1.3"));
    let cipher = client.query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap().cell(0, 1).unwrap();
    assert!(cipher.starts_with("TLS_"), "{cipher}");
    // The data is long in both directions: it takes many records, and packets that continue each
    // other.
    client.query("CREATE DATABASE p").unwrap();
    client.query("CREATE TABLE p.t (id INT PRIMARY KEY, b LONGBLOB)").unwrap();
    let insert = client.prepare("INSERT INTO p.t VALUES (1, ?)").unwrap();
    let bytes: Vec<u8> = (0..17 << 20).map(|i| (i % 251) as u8).collect();
    client.execute_discard(&insert, &[Scalar::Bytes(&bytes)]).unwrap();
    let back = client.query("SELECT b FROM p.t").unwrap();
    assert!(back.rows[0][0].as_deref() == Some(&bytes[..]), "17 MB came back different");
    // A connection that waits for its client ends when it is killed.
    let id = client.connection_id();
    server.run(&format!("KILL {id}"));
    assert!(client.query("SELECT 1").is_err());
    let plain = server.connect().query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
    assert_eq!(plain.cell(0, 1).as_deref(), Some(""));
}

#[test]
fn the_status_tells_of_the_encryption() {
    let server = start(&[]);
    let mut client = Client::connect(&over_tls(&server, Trust::Anybody)).unwrap();
    let mut status =
        |name: &str| client.query(&format!("SHOW STATUS LIKE '{name}'")).unwrap().cell(0, 1).unwrap();
    // This client begins a session of its own each time, which it might take up again.
    assert_eq!((status("Ssl_sessions_reused"), status("Ssl_session_cache_hits")), ("0".into(), "0".into()));
    assert_ne!(status("Ssl_used_session_cache_entries"), "0");
    let cipher = status("Ssl_cipher");
    assert!(status("Ssl_cipher_list").split(':').any(|listed| listed == cipher), "{cipher} is not listed");
    assert_eq!((status("Ssl_verify_depth"), status("Ssl_default_timeout")), ("6".into(), "86400".into()));
    let modes = [status("Ssl_verify_mode"), status("Ssl_ctx_verify_mode")];
    let has_authorities = server.rows("SELECT @@ssl_ca <> ''") == ["1"];
    assert_eq!(modes, if has_authorities { ["5", "5"] } else { ["0", "0"] });
}

#[test]
fn clients_can_tell_the_server_by_its_certificate() {
    let server = start(&[]);
    Client::connect(&over_tls(&server, authority(&server))).unwrap();
    let other = make_certificates("elsewhere").unwrap().authority;
    let refused = Client::connect(&over_tls(&server, Trust::Authorities(other.into_bytes()))).unwrap_err();
    assert!(matches!(refused, ClientError::Tls(_)), "{refused}");
    let mode = |file: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = server.rows("SELECT @@datadir").remove(0) + file;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("server-key.pem"), 0o600);
    assert_eq!(mode("ca-key.pem"), 0o600);
    // Other users of the machine must not read the tables either.
    assert_eq!(mode("mysql.ibd") & 0o007, 0);
    // The certificate is the same after a restart.
    let trust = authority(&server);
    let mut server = server;
    server.shut_down();
    server.come_back();
    Client::connect(&over_tls(&server, trust)).unwrap();
}

#[test]
fn plain_connections_can_be_refused_and_tls_can_be_off() {
    let server = start(&["--require-secure-transport=OFF"]);
    server.run("SET GLOBAL require_secure_transport = ON");
    assert_eq!(server.try_connect().map(drop).unwrap_err().server_code(), Some(3159));
    let mut secure = Client::connect(&over_tls(&server, Trust::Anybody)).unwrap();
    Client::connect(&ConnectOptions::unix(server.socket()).user(USER, USER)).unwrap();
    secure.query("SET GLOBAL require_secure_transport = OFF").unwrap();
    server.connect();

    let without = start(&["--tls-version="]);
    let refused = Client::connect(&over_tls(&without, Trust::Anybody)).unwrap_err().to_string();
    assert!(refused.contains("SSL is required but the server doesn't support it"), "{refused}");
    without.connect();
}

#[test]
fn what_is_no_handshake_ends_the_connection_and_nothing_else() {
    use std::io::{Read, Write};
    let server = start(&[]);
    let mut socket = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let mut greeting = [0; 4];
    socket.read_exact(&mut greeting).unwrap();
    let mut rest = vec![0; usize::from(greeting[0])];
    socket.read_exact(&mut rest).unwrap();
    // The client asks for TLS and then sends no TLS.
    let mut wish = vec![32, 0, 0, 1];
    protocol::handshake::put_tls_request(0x000f_aa00 | 0x8a00, 1 << 24, 45, &mut wish);
    wish.extend_from_slice(&[0x17; 600]);
    socket.write_all(&wish).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut answer = Vec::new();
    // The answer is an alert at most, or a reset if the server closed with our bytes unread.
    let _end = socket.read_to_end(&mut answer);
    assert!(answer.len() < 100, "{answer:?}");
    server.connect();
}
