//! The configuration of a channel, which CHANGE REPLICATION SOURCE TO sets.

mod file;

use protocol::compression::Algorithm;
use sql::admin::SourceOptions;

use crate::error::ChannelError;
use crate::stores::names_store;

/// The account with which a receiver connects in place of the configured one (START REPLICA USER).
/// It is never stored.
#[derive(Clone)]
pub struct Login {
    /// The name of the user.
    pub user: String,
    /// The password.
    pub password: String,
}

/// The use that a channel makes of MariaDB's GTIDs (`MASTER_USE_GTID`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseGtid {
    /// The channel starts at a file and a position.
    No,
    /// The channel starts at the GTID of the last transaction that replication applied.
    SlavePos,
}

/// A channel's configuration. The fields are named like the statement's options without SOURCE_.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "each field is the option SOURCE_<name> of the statement, documented in MySQL's manual"
)]
pub struct ChannelConfig {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: String,
    pub bind: String,
    /// The source's file in which reception starts; empty means the source's first file.
    pub log_file: String,
    pub log_pos: u64,
    pub auto_position: bool,
    pub use_gtid: UseGtid,
    /// MariaDB's `gtid_slave_pos` from which to start while no commit of this epoch holds one.
    pub gtid_slave_pos: String,
    pub connect_retry_s: u32,
    pub retry_count: u64,
    pub heartbeat_period_s: f64,
    pub delay_s: u32,
    pub get_public_key: bool,
    pub public_key_path: String,
    pub ssl: bool,
    pub ssl_ca: String,
    pub ssl_capath: String,
    pub ssl_cert: String,
    pub ssl_cipher: String,
    pub ssl_key: String,
    pub ssl_verify_server_cert: bool,
    pub tls_version: String,
    /// The permitted cipher suites of TLS 1.3. `None` is SQL's NULL and permits all of them.
    pub tls_ciphersuites: Option<String>,
    pub ignore_server_ids: Vec<u32>,
    /// The list as the statement has it: `zlib`, `zstd` and `uncompressed`, the preferred one
    /// first.
    pub compression_algorithms: String,
    pub zstd_compression_level: u8,
    pub require_row_format: bool,
    /// The number of times that the starting position was changed.
    pub position_epoch: u64,
}

impl Default for ChannelConfig {
    fn default() -> ChannelConfig {
        ChannelConfig {
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            bind: String::new(),
            log_file: String::new(),
            log_pos: 4,
            auto_position: false,
            use_gtid: UseGtid::No,
            gtid_slave_pos: String::new(),
            connect_retry_s: 60,
            retry_count: 10,
            heartbeat_period_s: 30.0,
            delay_s: 0,
            get_public_key: false,
            public_key_path: String::new(),
            ssl: false,
            ssl_ca: String::new(),
            ssl_capath: String::new(),
            ssl_cert: String::new(),
            ssl_cipher: String::new(),
            ssl_key: String::new(),
            ssl_verify_server_cert: false,
            tls_version: String::new(),
            tls_ciphersuites: None,
            ignore_server_ids: Vec::new(),
            compression_algorithms: "uncompressed".to_string(),
            zstd_compression_level: 3,
            require_row_format: false,
            position_epoch: 1,
        }
    }
}

/// The shortest period of heartbeats that is not taken for none, in seconds.
pub const SHORTEST_HEARTBEAT_PERIOD_S: f64 = 0.001;

/// The longest `SOURCE_HEARTBEAT_PERIOD`, in seconds.
const MAX_HEARTBEAT_PERIOD_S: f64 = 4_294_967.0;

impl ChannelConfig {
    /// Reports whether the channel has been given a source.
    pub fn is_configured(&self) -> bool {
        !self.host.is_empty()
    }

    /// Reports whether `SOURCE_HOST` names a store in place of a server.
    pub(crate) fn follows_store(&self) -> bool {
        names_store(&self.host)
    }

    /// Reports whether the channel starts by GTID, MySQL's or MariaDB's.
    pub fn uses_gtids(&self) -> bool {
        self.auto_position || self.use_gtid != UseGtid::No
    }

    /// Returns the configuration after the statement. `applied` is the position that is reached
    /// now: if the statement names no position and the source stays the same, reception goes on
    /// from there. A statement that names the source and no heartbeat gets half of
    /// `net_timeout_s`, so that a source that has nothing to send is not taken for dead.
    ///
    /// # Errors
    /// Returns the error that MySQL has for options which are invalid, contradict each other or are
    /// not supported.
    pub fn changed(
        &self,
        options: &SourceOptions,
        applied: (&str, u64),
        net_timeout_s: u32,
    ) -> Result<ChannelConfig, ChannelError> {
        refuse_contradictions(self, options)?;
        let mut new = self.clone();
        let source_changes = options.host.as_ref().is_some_and(|h| *h != self.host)
            || options.port.is_some_and(|p| p != self.port);
        new.set_connection(options)?;
        if options.heartbeat_period_s.is_none() && (options.host.is_some() || options.port.is_some()) {
            new.heartbeat_period_s = (f64::from(net_timeout_s) / 2.0).min(MAX_HEARTBEAT_PERIOD_S);
        }
        new.set_gtid_use(options)?;
        let positions_named = options.log_file.is_some() || options.log_pos.is_some();
        if positions_named {
            new.log_file = options.log_file.clone().unwrap_or_else(|| applied.0.to_string());
            new.log_pos = options.log_pos.unwrap_or(4).max(4);
        } else if source_changes {
            // As in MySQL, a new host or port is another server, so reception starts at its first
            // log.
            (new.log_file, new.log_pos) = (String::new(), 4);
        } else {
            (new.log_file, new.log_pos) = (applied.0.to_string(), applied.1.max(4));
        }
        new.position_epoch += 1;
        Ok(new)
    }

    /// Returns `SOURCE_COMPRESSION_ALGORITHMS` in the form that the connection takes. `None` in the
    /// list means no compression.
    pub(crate) fn compression(&self) -> Vec<Option<Algorithm>> {
        let known = |word| algorithm(word, self.zstd_compression_level);
        self.compression_algorithms.split(',').filter_map(known).collect()
    }

    /// Returns the configuration with the statement's delay and nothing else of the statement.
    pub fn delayed(&self, options: &SourceOptions) -> Result<ChannelConfig, ChannelError> {
        check_delay(options)?;
        Ok(ChannelConfig { delay_s: options.delay_s.unwrap_or(self.delay_s), ..self.clone() })
    }

    fn set_connection(&mut self, options: &SourceOptions) -> Result<(), ChannelError> {
        fn set<T: Clone>(target: &mut T, given: &Option<T>) {
            if let Some(value) = given {
                target.clone_from(value);
            }
        }
        if options.host.as_deref() == Some("") {
            return Err(ChannelError::new(1210, "HY000", "Incorrect arguments to SOURCE_HOST"));
        }
        check_delay(options)?;
        check_compression(options)?;
        if options.heartbeat_period_s.is_some_and(|s| !(0.0..=MAX_HEARTBEAT_PERIOD_S).contains(&s)) {
            return Err(ChannelError::new(
                1624,
                "HY000",
                "The requested value for the heartbeat period is either negative or exceeds the maximum allowed (4294967 seconds).",
            ));
        }
        set(&mut self.host, &options.host);
        set(&mut self.port, &options.port);
        set(&mut self.user, &options.user);
        set(&mut self.password, &options.password);
        set(&mut self.bind, &options.bind);
        set(&mut self.connect_retry_s, &options.connect_retry_s);
        set(&mut self.retry_count, &options.retry_count);
        // A period of less than a millisecond switches heartbeats off.
        let period_s =
            options.heartbeat_period_s.map(|s| if s < SHORTEST_HEARTBEAT_PERIOD_S { 0.0 } else { s });
        set(&mut self.heartbeat_period_s, &period_s);
        set(&mut self.delay_s, &options.delay_s);
        set(&mut self.get_public_key, &options.get_public_key);
        set(&mut self.public_key_path, &options.public_key_path);
        set(&mut self.ssl, &options.ssl);
        set(&mut self.ssl_ca, &options.ssl_ca);
        set(&mut self.ssl_capath, &options.ssl_capath);
        set(&mut self.ssl_cert, &options.ssl_cert);
        set(&mut self.ssl_cipher, &options.ssl_cipher);
        set(&mut self.ssl_key, &options.ssl_key);
        set(&mut self.ssl_verify_server_cert, &options.ssl_verify_server_cert);
        set(&mut self.tls_version, &options.tls_version);
        set(&mut self.tls_ciphersuites, &options.tls_ciphersuites);
        set(&mut self.ignore_server_ids, &options.ignore_server_ids);
        set(&mut self.compression_algorithms, &options.compression_algorithms);
        set(&mut self.zstd_compression_level, &options.zstd_compression_level.map(|level| level as u8));
        set(&mut self.require_row_format, &options.require_row_format);
        Ok(())
    }

    fn set_gtid_use(&mut self, options: &SourceOptions) -> Result<(), ChannelError> {
        if let Some(auto_position) = options.auto_position {
            self.auto_position = auto_position;
        }
        match options.use_gtid.as_deref() {
            None => {}
            Some("no") => self.use_gtid = UseGtid::No,
            Some("slave_pos" | "replica_pos") => self.use_gtid = UseGtid::SlavePos,
            Some(other) => {
                return Err(ChannelError::new(
                    1235,
                    "42000",
                    format!("This version of Slipstream doesn't yet support 'MASTER_USE_GTID={other}'"),
                ));
            }
        }
        if self.auto_position && self.use_gtid != UseGtid::No {
            return Err(ChannelError::new(
                1210,
                "HY000",
                "Incorrect arguments to SOURCE_AUTO_POSITION (MySQL) and MASTER_USE_GTID (MariaDB): one source is one of them",
            ));
        }
        Ok(())
    }
}

/// Returns the algorithm that a word names, where `Some(None)` means no compression. `None` means
/// that the word names none.
fn algorithm(word: &str, zstd_level: u8) -> Option<Option<Algorithm>> {
    match word.trim().to_ascii_lowercase().as_str() {
        "zlib" => Some(Some(Algorithm::Zlib)),
        "zstd" => Some(Some(Algorithm::Zstd(zstd_level))),
        "uncompressed" => Some(None),
        _ => None,
    }
}

fn check_compression(options: &SourceOptions) -> Result<(), ChannelError> {
    const WORDS: usize = 3;
    let refused = |code: u16, text: String| Err(ChannelError::new(code, "HY000", text));
    if let Some(list) = &options.compression_algorithms {
        if list.split(',').count() > WORDS {
            return refused(
                3924,
                format!(
                    "Specified compression algorithm list '{list}' exceeds total count of {WORDS} for channel ''."
                ),
            );
        }
        if list.split(',').any(|word| algorithm(word, 0).is_none()) {
            return refused(3920, format!("Invalid SOURCE_COMPRESSION_ALGORITHMS '{list}' for channel ''."));
        }
    }
    match options.zstd_compression_level {
        Some(level) if !(1..=22).contains(&level) => {
            refused(3921, format!("Invalid SOURCE_ZSTD_COMPRESSION_LEVEL {level} for channel ''."))
        }
        _ => Ok(()),
    }
}

fn check_delay(options: &SourceOptions) -> Result<(), ChannelError> {
    const LONGEST_S: u32 = i32::MAX as u32;
    match options.delay_s {
        Some(delay_s) if delay_s > LONGEST_S => Err(ChannelError::new(
            1729,
            "HY000",
            format!("The requested value {delay_s} for the source delay exceeds the maximum {LONGEST_S}"),
        )),
        _ => Ok(()),
    }
}

fn refuse_contradictions(current: &ChannelConfig, options: &SourceOptions) -> Result<(), ChannelError> {
    let positions_named = options.log_file.is_some()
        || options.log_pos.is_some()
        || options.relay_log_file.is_some()
        || options.relay_log_pos.is_some();
    if positions_named && options.auto_position.unwrap_or(current.auto_position) {
        return Err(ChannelError::new(
            1776,
            "HY000",
            "Parameters SOURCE_LOG_FILE, SOURCE_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be set when SOURCE_AUTO_POSITION is active.",
        ));
    }
    if options.relay_log_file.is_some() || options.relay_log_pos.is_some() {
        return Err(ChannelError::new(
            1235,
            "42000",
            "This version of Slipstream doesn't yet support 'RELAY_LOG_FILE and RELAY_LOG_POS'",
        ));
    }
    // An empty or zero value requests nothing, so it is accepted.
    let asked_for = |(_, value): &&(String, String)| {
        !matches!(value.to_ascii_uppercase().as_str(), "" | "0" | "NULL" | "OFF" | "STREAM")
    };
    if let Some((name, value)) = options.other.iter().find(asked_for) {
        return Err(ChannelError::new(
            1235,
            "42000",
            format!("This version of Slipstream doesn't yet support '{name}={value}'"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured() -> ChannelConfig {
        let options = SourceOptions {
            host: Some("db1".into()),
            port: Some(3307),
            user: Some("repl".into()),
            password: Some("a=b\\n\nc".into()),
            log_file: Some("binlog.000007".into()),
            log_pos: Some(1234),
            ..SourceOptions::default()
        };
        ChannelConfig::default().changed(&options, ("", 4), 60).expect("is allowed")
    }

    #[test]
    fn the_heartbeat_is_half_of_the_timeout_unless_the_statement_says_another_one() {
        let of = |port, heartbeat_period_s| {
            let options = SourceOptions { port, heartbeat_period_s, ..Default::default() };
            configured().changed(&options, ("", 4), 9).expect("is allowed").heartbeat_period_s
        };
        assert_eq!([of(Some(1), None), of(Some(1), Some(0.0)), of(None, Some(2.0))], [4.5, 0.0, 2.0]);
        assert_eq!(configured().heartbeat_period_s, 30.0);
    }

    #[test]
    fn positions_follow_the_statement() {
        let config = configured();
        let same = config.changed(
            &SourceOptions { user: Some("x".into()), ..Default::default() },
            ("binlog.000008", 99),
            60,
        );
        let same = same.expect("is allowed");
        assert_eq!((same.log_file.as_str(), same.log_pos), ("binlog.000008", 99));
        assert!(same.position_epoch > config.position_epoch);
        let moved = config.changed(
            &SourceOptions { host: Some("db2".into()), ..Default::default() },
            ("binlog.000008", 99),
            60,
        );
        let moved = moved.expect("is allowed");
        assert_eq!((moved.log_file.as_str(), moved.log_pos), ("", 4));
    }

    #[test]
    fn compression_is_a_list_of_known_words() {
        let with = |list: &str, level| SourceOptions {
            compression_algorithms: Some(list.into()),
            zstd_compression_level: level,
            ..SourceOptions::default()
        };
        let refused = |options| configured().changed(&options, ("", 4), 60).expect_err("is refused").code;
        assert_eq!(refused(with("lz4", None)), 3920);
        assert_eq!(refused(with("zlib,zstd,uncompressed,zlib", None)), 3924);
        assert_eq!(refused(with("zstd", Some(23))), 3921);
        let config =
            configured().changed(&with("zstd, ZLIB,uncompressed", Some(7)), ("", 4), 60).expect("is allowed");
        assert_eq!(config.compression(), [Some(Algorithm::Zstd(7)), Some(Algorithm::Zlib), None]);
        assert_eq!(configured().compression(), [None]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let other = |value: &str| SourceOptions {
            other: vec![("SSL_CRL".into(), value.into())],
            ..SourceOptions::default()
        };
        let refused = configured().changed(&other("/crl.pem"), ("", 4), 60).expect_err("is refused");
        assert_eq!(refused.code, 1235);
        configured().changed(&other(""), ("", 4), 60).expect("asks for nothing");
    }

    #[test]
    fn auto_position_and_positions_exclude_each_other() {
        let options = SourceOptions { auto_position: Some(true), log_pos: Some(4), ..Default::default() };
        assert_eq!(configured().changed(&options, ("", 4), 60).expect_err("is refused").code, 1776);
    }
}
