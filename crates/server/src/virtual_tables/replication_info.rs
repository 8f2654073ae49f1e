//! What mysqld keeps in tables of schema `mysql` about its replication. Here it is in the commit records and in
//! the channels' files; these are computed from there, for tools that read them.

use super::cells::{Cells, number, table, text, text_of};
use crate::connection_host::ConnectionHost;
use replica::status::ReplicaStatus;
use sql::VirtualTable;

fn one_row(host: &ConnectionHost, row: impl Fn(&ReplicaStatus) -> Cells) -> VirtualTable {
    table(row(&ReplicaStatus::default()), host.server().replica.statuses().iter().map(row))
}

/// `mysql.gtid_executed`: a row for each interval.
pub fn gtid_executed(host: &ConnectionHost) -> VirtualTable {
    let row = |uuid: &str, tag: &str, first: u64, last: u64| {
        vec![
            text("source_uuid", uuid),
            number("interval_start", first),
            number("interval_end", last),
            text("gtid_tag", tag),
        ]
    };
    let executed = host.server().engine.gtid_executed().to_string();
    let mut rows = Vec::new();
    for of_source in executed.split(",").map(str::trim) {
        let mut parts = of_source.split(':');
        let (uuid, mut tag) = (parts.next().unwrap_or_default(), "");
        for part in parts {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => rows.push(row(uuid, tag, first, last)),
                _ => tag = part,
            }
        }
    }
    table(row("", "", 0, 0), rows.into_iter())
}

/// `mysql.slave_master_info`. The password is nobody's to read.
pub fn source(host: &ConnectionHost) -> VirtualTable {
    one_row(host, |s| {
        let c = &s.config;
        let ids: Vec<String> = c.ignore_server_ids.iter().map(u32::to_string).collect();
        vec![
            number("Number_of_lines", 33),
            text("Master_log_name", &s.read_file),
            number("Master_log_pos", s.read_pos),
            text("Host", &c.host),
            text("User_name", &c.user),
            text("User_password", ""),
            number("Port", c.port.into()),
            number("Connect_retry", c.connect_retry_s.into()),
            number("Enabled_ssl", c.ssl.into()),
            text("Ssl_ca", &c.ssl_ca),
            text("Ssl_capath", &c.ssl_capath),
            text("Ssl_cert", &c.ssl_cert),
            text("Ssl_cipher", &c.ssl_cipher),
            text("Ssl_key", &c.ssl_key),
            number("Ssl_verify_server_cert", c.ssl_verify_server_cert.into()),
            text("Heartbeat", &c.heartbeat_period_s.to_string()),
            text("Bind", &c.bind),
            text("Ignored_server_ids", &[vec![ids.len().to_string()], ids].concat().join(" ")),
            text("Uuid", &s.source_uuid),
            number("Retry_count", c.retry_count),
            text("Ssl_crl", ""),
            text("Ssl_crlpath", ""),
            number("Enabled_auto_position", c.auto_position.into()),
            text("Channel_name", &s.channel),
            text("Tls_version", &c.tls_version),
            text("Public_key_path", &c.public_key_path),
            number("Get_public_key", c.get_public_key.into()),
            text("Network_namespace", ""),
            text("Master_compression_algorithm", &c.compression_algorithms),
            number("Master_zstd_compression_level", c.zstd_compression_level.into()),
            text_of("Tls_ciphersuites", c.tls_ciphersuites.as_deref()),
            number("Source_connection_auto_failover", 0),
            number("Gtid_only", 0),
        ]
    })
}

/// `mysql.slave_relay_log_info`.
pub fn relay_log(host: &ConnectionHost) -> VirtualTable {
    one_row(host, |s| {
        vec![
            number("Number_of_lines", 14),
            text("Relay_log_name", &s.relay_file),
            number("Relay_log_pos", s.relay_pos),
            text("Master_log_name", &s.exec_file),
            number("Master_log_pos", s.exec_pos),
            number("Sql_delay", s.config.delay_s.into()),
            number("Number_of_workers", s.workers),
            number("Id", 1),
            text("Channel_name", &s.channel),
            text_of("Privilege_checks_username", None),
            text_of("Privilege_checks_hostname", None),
            number("Require_row_format", s.config.require_row_format.into()),
            text("Require_table_primary_key_check", "STREAM"),
            text("Assign_gtids_to_anonymous_transactions_type", "OFF"),
            text("Assign_gtids_to_anonymous_transactions_value", ""),
        ]
    })
}

/// `mysql.slave_worker_info`: without rows, for there is one position, the coordinator's; no worker has one of its own.
pub fn workers(_host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        number("Id", 0),
        text("Relay_log_name", ""),
        number("Relay_log_pos", 0),
        text("Master_log_name", ""),
        number("Master_log_pos", 0),
        text("Checkpoint_relay_log_name", ""),
        number("Checkpoint_relay_log_pos", 0),
        text("Checkpoint_master_log_name", ""),
        number("Checkpoint_master_log_pos", 0),
        number("Checkpoint_seqno", 0),
        number("Checkpoint_group_size", 0),
        text("Checkpoint_group_bitmap", ""),
        text("Channel_name", ""),
    ];
    table(columns, std::iter::empty())
}
