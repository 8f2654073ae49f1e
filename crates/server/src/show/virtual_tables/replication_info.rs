//! The tables of schema `mysql` in which mysqld keeps the state of replication. Here that state is
//! in the commit records and in the channels' files, and the tables are computed from it for tools
//! that read them.

use super::cells::{columns, number, of_status, table, text, values};
use crate::client::connection_host::ConnectionHost;
use replica::info::{Place, Repository};
use replica::status::ReplicaStatus;
use sql::ComputedTable;

/// Returns `mysql.gtid_executed`, with a row for each interval.
pub fn gtid_executed(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |uuid: &str, tag: &str, first: u64, last: u64| {
        vec![
            text("source_uuid", uuid),
            number("interval_start", first),
            number("interval_end", last),
            text("gtid_tag", tag),
        ]
    };
    ComputedTable::new(columns(row("", "", 0, 0)), move |rows| {
        let executed = host.server().engine.gtid_executed().to_string();
        rows.charge(executed.len())?;
        for of_source in executed.split(",").map(str::trim) {
            let mut parts = of_source.split(':');
            let (uuid, mut tag) = (parts.next().unwrap_or_default(), "");
            for part in parts {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                match (first.parse(), last.parse()) {
                    (Ok(first), Ok(last)) => rows.put(values(row(uuid, tag, first, last)))?,
                    _ => tag = part,
                }
            }
        }
        Ok(())
    })
}

/// Returns `mysql.slave_master_info`.
pub fn source(host: &ConnectionHost) -> ComputedTable<'_> {
    repository(host, Repository::Connection)
}

/// Returns `mysql.slave_relay_log_info`.
pub fn relay_log(host: &ConnectionHost) -> ComputedTable<'_> {
    repository(host, Repository::Applier)
}

/// Returns the table of a repository, which has no rows while the repository is a file.
fn repository(host: &ConnectionHost, repository: Repository) -> ComputedTable<'_> {
    let row = move |status: &ReplicaStatus| repository.row(status).into_iter().map(of_status).collect();
    table(row(&ReplicaStatus::default()), move || {
        let channels = &host.server().replica;
        let statuses = match channels.repository(repository) {
            Place::Table => channels.statuses(),
            Place::File => Vec::new(),
        };
        statuses.into_iter().map(move |status| row(&status))
    })
}

/// Returns `mysql.slave_worker_info`. It has no rows, because there is only the coordinator's
/// position, and no worker has one of its own.
pub fn workers(_host: &ConnectionHost) -> ComputedTable<'_> {
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
    table(columns, std::iter::empty)
}
