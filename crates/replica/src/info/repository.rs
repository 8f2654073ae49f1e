//! The two repositories and their contents.

use std::str::FromStr;

use crate::status::{Cell, ReplicaStatus};

/// One of the two repositories of a channel's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    /// The connection's repository, which `master_info_repository` places.
    Connection,
    /// The applier's repository, which `relay_log_info_repository` places.
    Applier,
}

/// The place of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// The repository is a file in the data directory.
    File,
    /// The repository is a table in schema `mysql`.
    #[default]
    Table,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(word: &str) -> Result<Place, String> {
        match word {
            "FILE" => Ok(Place::File),
            "TABLE" => Ok(Place::Table),
            other => Err(other.to_string()),
        }
    }
}

/// The columns of a repository's table, which are also the lines of its file, with a channel's
/// values.
pub type InfoRow = Vec<(&'static str, Cell)>;

impl Repository {
    /// Both repositories.
    pub const ALL: [Repository; 2] = [Repository::Connection, Repository::Applier];

    /// Returns what the repository holds of a channel.
    pub fn row(self, status: &ReplicaStatus) -> InfoRow {
        match self {
            Repository::Connection => connection(status),
            Repository::Applier => applier(status),
        }
    }
}

fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

/// Returns the connection's row. The password in it is empty, so that no one can read it.
fn connection(s: &ReplicaStatus) -> InfoRow {
    let c = &s.config;
    let ids: Vec<String> = c.ignore_server_ids.iter().map(u32::to_string).collect();
    vec![
        ("Number_of_lines", Cell::Number(33)),
        ("Master_log_name", text(&s.read_file)),
        ("Master_log_pos", Cell::Number(s.read_pos)),
        ("Host", text(&c.host)),
        ("User_name", text(&c.user)),
        ("User_password", text("")),
        ("Port", Cell::Number(c.port.into())),
        ("Connect_retry", Cell::Number(c.connect_retry_s.into())),
        ("Enabled_ssl", Cell::Number(c.ssl.into())),
        ("Ssl_ca", text(&c.ssl_ca)),
        ("Ssl_capath", text(&c.ssl_capath)),
        ("Ssl_cert", text(&c.ssl_cert)),
        ("Ssl_cipher", text(&c.ssl_cipher)),
        ("Ssl_key", text(&c.ssl_key)),
        ("Ssl_verify_server_cert", Cell::Number(c.ssl_verify_server_cert.into())),
        ("Heartbeat", text(c.heartbeat_period_s.to_string())),
        ("Bind", text(&c.bind)),
        ("Ignored_server_ids", text([vec![ids.len().to_string()], ids].concat().join(" "))),
        ("Uuid", text(&s.source_uuid)),
        ("Retry_count", Cell::Number(c.retry_count)),
        ("Ssl_crl", text("")),
        ("Ssl_crlpath", text("")),
        ("Enabled_auto_position", Cell::Number(c.auto_position.into())),
        ("Channel_name", text(&s.channel)),
        ("Tls_version", text(&c.tls_version)),
        ("Public_key_path", text(&c.public_key_path)),
        ("Get_public_key", Cell::Number(c.get_public_key.into())),
        ("Network_namespace", text("")),
        ("Master_compression_algorithm", text(&c.compression_algorithms)),
        ("Master_zstd_compression_level", Cell::Number(c.zstd_compression_level.into())),
        ("Tls_ciphersuites", c.tls_ciphersuites.as_ref().map_or(Cell::Null, text)),
        ("Source_connection_auto_failover", Cell::Number(0)),
        ("Gtid_only", Cell::Number(0)),
    ]
}

fn applier(s: &ReplicaStatus) -> InfoRow {
    vec![
        ("Number_of_lines", Cell::Number(14)),
        ("Relay_log_name", text(&s.relay_file)),
        ("Relay_log_pos", Cell::Number(s.relay_pos)),
        ("Master_log_name", text(&s.exec_file)),
        ("Master_log_pos", Cell::Number(s.exec_pos)),
        ("Sql_delay", Cell::Number(s.config.delay_s.into())),
        ("Number_of_workers", Cell::Number(s.workers)),
        ("Id", Cell::Number(1)),
        ("Channel_name", text(&s.channel)),
        ("Privilege_checks_username", Cell::Null),
        ("Privilege_checks_hostname", Cell::Null),
        ("Require_row_format", Cell::Number(s.config.require_row_format.into())),
        ("Require_table_primary_key_check", text("STREAM")),
        ("Assign_gtids_to_anonymous_transactions_type", text("OFF")),
        ("Assign_gtids_to_anonymous_transactions_value", text("")),
    ]
}
