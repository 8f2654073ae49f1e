//! The status variables about the process: its encryption, its error log, its connections and what
//! it keeps open; and those about the encryption of one connection.

use crate::process::error_log;
use crate::server::Server;
use crate::variables;
use os::disk::uses::Sums;
use protocol::stream::Encryption;
use protocol::tls::ServerTls;
use sql::measured::Measured;

/// Returns the variables by name, unsorted.
pub fn variables(server: &Server) -> Vec<(String, String)> {
    let mut all = settings_of_tls(server);
    all.extend(resumption_of_tls(server));
    let log = error_log::figures();
    let status = &server.status;
    let has_log = u64::from(server.binlog.is_some());
    let pool = server.engine.pool();
    let pages = pool.status();
    let used = pages.pages_data + pages.pages_free;
    let lost = server.measured.as_deref().map_or(0, Measured::statements_without_digest);
    all.extend(
        [
            ("Binlog_cache_disk_use", has_log * server.engine.spilled_commits()),
            ("Binlog_cache_use", has_log * server.engine.commits()),
            ("Connection_errors_accept", status.accept_errors.get()),
            ("Connection_errors_internal", status.internal_errors.get()),
            ("Error_log_buffered_bytes", log.bytes),
            ("Error_log_buffered_events", log.lines),
            ("Error_log_expired_events", log.expired_lines),
            ("Error_log_latest_write", log.latest_us),
            ("Innodb_buffer_pool_pages_misc", pages.pages_total.saturating_sub(used)),
            ("Innodb_num_open_files", pool.open_spaces() as u64),
            ("Performance_schema_digest_lost", lost),
            ("Performance_schema_session_connect_attrs_longest_seen", status.longest_attributes.get()),
            ("Performance_schema_session_connect_attrs_lost", status.lost_attributes.get()),
            ("Ssl_accepts", status.tls_accepts.get()),
            ("Ssl_finished_accepts", status.tls_finished_accepts.get()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_string())),
    );
    let used_most = error_log::timestamp(status.max_used_connections_us.get());
    // As in MySQL without the fraction, but always UTC.
    let used_most = used_most.get(..19).unwrap_or_default().replace('T', " ");
    all.push(("Max_used_connections_time".to_owned(), used_most));
    all.extend(open_files());
    all.extend(keys(server));
    all.push(("Tls_library_version".to_owned(), "rustls".to_owned()));
    all
}

/// Returns the numbers of files that are open and were opened, without those of the engine, which
/// `Innodb_num_open_files` counts.
fn open_files() -> [(String, String); 2] {
    let mut all = Sums::default();
    let kinds = os::disk::uses::kinds();
    kinds.iter().filter(|(kind, _)| !kind.contains("/innodb/")).for_each(|(_, sums)| all.add(sums));
    [("Open_files", all.handles), ("Opened_files", all.opens)]
        .map(|(name, value)| (name.to_owned(), value.to_string()))
}

/// Returns the public key that clients may encrypt passwords with, under the names of both
/// authentication plugins, and the time for which the server's certificate is valid.
fn keys(server: &Server) -> [(String, String); 4] {
    let key = server.accounts.opened_rsa_key().map_or_else(String::new, |key| key.public_pem().to_owned());
    let of_none = [String::new(), String::new()];
    let [from, until] = server.tls.get().and_then(|tls| tls.validity()).unwrap_or(&of_none).clone();
    [
        ("Caching_sha2_password_rsa_public_key", key.clone()),
        ("Rsa_public_key", key),
        ("Ssl_server_not_before", from),
        ("Ssl_server_not_after", until),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// Returns the settings of TLS that hold for new connections.
fn settings_of_tls(server: &Server) -> Vec<(String, String)> {
    let names = ["ssl_ca", "ssl_cert", "ssl_cipher", "ssl_key", "tls_ciphersuites", "tls_version"];
    let known = names.into_iter().filter(|name| variables::find(name).is_some());
    let shown =
        |name: &str| format!("Current_tls_{}", name.trim_start_matches("ssl_").trim_start_matches("tls_"));
    known.map(|name| (shown(name), server.globals.named(name).text().to_owned())).collect()
}

/// Returns what the server asks of certificates, and what has become of the sessions of TLS that
/// clients may take up again. Sessions are kept as long as there is room for them.
fn resumption_of_tls(server: &Server) -> Vec<(String, String)> {
    let tls = server.tls.get();
    let figures = tls.map(ServerTls::resumption).unwrap_or_default();
    let [depth, _, mode] = verification(tls);
    let kept = if tls.is_some() { ServerTls::KEPT_SESSIONS } else { 0 };
    [
        ("Ssl_ctx_verify_depth", depth),
        ("Ssl_ctx_verify_mode", mode),
        ("Ssl_session_cache_hits", figures.hits),
        ("Ssl_session_cache_misses", figures.misses),
        ("Ssl_session_cache_overflows", figures.overflows),
        ("Ssl_session_cache_size", kept),
        ("Ssl_session_cache_timeout", 0),
        ("Ssl_session_cache_timeouts", 0),
        ("Ssl_used_session_cache_entries", figures.entries),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_string()))
    .into_iter()
    .chain([("Ssl_session_cache_mode".to_owned(), if tls.is_some() { "SERVER" } else { "NONE" }.to_owned())])
    .collect()
}

/// Returns how long the chain of a client's certificate may be, for how many seconds a session may
/// be taken up again, and OpenSSL's number for what is asked of clients: 0 for nothing, and 5 for a
/// certificate that is asked for once and need not be there.
fn verification(tls: Option<&ServerTls>) -> [u64; 3] {
    const ASKED_FOR_ONCE: u64 = 5;
    let Some(tls) = tls else { return [0; 3] };
    let mode = if tls.asks_for_certificates() { ASKED_FOR_ONCE } else { 0 };
    [ServerTls::VERIFY_DEPTH, ServerTls::SESSION_LIFETIME_S, mode]
}

/// Returns the variables about the encryption of one connection, which are empty or 0 without any.
pub fn of_connection(server: &Server, encryption: Option<Encryption>) -> Vec<(String, String)> {
    let tls = server.tls.get().filter(|_| encryption.is_some());
    let [depth, lifetime_s, mode] = verification(tls);
    let ciphers = tls.map(ServerTls::ciphers).unwrap_or_default().join(":");
    let of_none = || Encryption { version: String::new(), cipher: String::new(), is_resumed: false };
    let Encryption { version, cipher, is_resumed } = encryption.unwrap_or_else(of_none);
    [
        ("Ssl_cipher", cipher),
        ("Ssl_cipher_list", ciphers),
        ("Ssl_default_timeout", lifetime_s.to_string()),
        ("Ssl_sessions_reused", u8::from(is_resumed).to_string()),
        ("Ssl_verify_depth", depth.to_string()),
        ("Ssl_verify_mode", mode.to_string()),
        ("Ssl_version", version),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
