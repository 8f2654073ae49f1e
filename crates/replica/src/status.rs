//! The contents of SHOW REPLICA STATUS: one record, and its columns in MySQL's order under new and
//! old names.

use std::sync::Arc;

use os::account::State;
use sql::admin::FilterKind;

use crate::channel_name::thread_name;
use crate::config::{ChannelConfig, UseGtid};
use crate::error::ThreadError;
use crate::filter::Filters;
use crate::gtid::{GroupGtid, GroupHead};
use crate::until::UntilCondition;

/// The state of a replication thread, as the `..._Running` columns show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Running {
    /// The thread does not run.
    #[default]
    No,
    /// The receiver runs and has no connection to the source, or has lost it.
    Connecting,
    /// The thread is at work.
    Yes,
}

impl Running {
    /// Returns MySQL's word for the state.
    pub fn word(self) -> &'static str {
        match self {
            Running::No => "No",
            Running::Connecting => "Connecting",
            Running::Yes => "Yes",
        }
    }
}

/// The value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// The column is NULL.
    Null,
    /// The column is a number.
    Number(u64),
    /// The column is a text.
    Text(String),
}

/// A transaction as the tables of performance_schema show it. Times are microseconds of unix time;
/// 0 means that there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionSeen {
    /// The transaction's GTID, `ANONYMOUS`, or the empty text when it is not known.
    pub gtid: String,
    /// The time when the first server committed the transaction.
    pub original_commit_us: u64,
    /// The time when the source committed the transaction.
    pub immediate_commit_us: u64,
    /// The time when this server began to work on the transaction.
    pub begun_us: u64,
    /// The time when this server was done with the transaction.
    pub ended_us: u64,
}

impl TransactionSeen {
    /// Builds the record from a group's head. The default head stands for no transaction.
    pub(crate) fn of(head: &GroupHead, begun_us: u64, ended_us: u64) -> TransactionSeen {
        if *head == GroupHead::default() {
            return TransactionSeen::default();
        }
        TransactionSeen {
            gtid: match head.gtid {
                GroupGtid::None => "ANONYMOUS".to_string(),
                GroupGtid::Mysql(gtid) => gtid.to_string(),
                GroupGtid::Mariadb(gtid) => gtid.to_string(),
            },
            original_commit_us: head.original_commit_us,
            immediate_commit_us: head.immediate_commit_us,
            begun_us,
            ended_us,
        }
    }
}

/// The facts that SHOW REPLICA STATUS shows of a channel.
#[derive(Debug, Clone, Default)]
pub struct ReplicaStatus {
    /// The channel's name.
    pub channel: String,
    /// The channel's configuration.
    pub config: ChannelConfig,
    /// The receiver's present work in MySQL's words; empty when it does not run.
    pub io_state: String,
    /// The state of the receiver.
    pub io_running: Running,
    /// The state of the applier.
    pub sql_running: Running,
    /// The applier's present work in MySQL's words.
    pub sql_state: String,
    /// The file of the source's log up to which events have been received.
    pub read_file: String,
    /// The offset in `read_file`.
    pub read_pos: u64,
    /// The file of the relay log that the applier reads.
    pub relay_file: String,
    /// The offset in `relay_file`.
    pub relay_pos: u64,
    /// The file of the source's log up to which transactions have been applied.
    pub exec_file: String,
    /// The offset in `exec_file`.
    pub exec_pos: u64,
    /// The place of the connection's repository: a table's name or a file's path.
    pub info_file: String,
    /// The size of all relay log files together, in bytes.
    pub relay_space_bytes: u64,
    /// MySQL's lag figure, in seconds. `None` means NULL.
    pub seconds_behind: Option<u64>,
    /// The lag of what readers see now, in microseconds. `None` means that it cannot be known.
    pub lag_us: Option<u64>,
    /// The error for which the receiver stopped or waits.
    pub io_error: Option<ThreadError>,
    /// The error for which the applier stopped.
    pub sql_error: Option<ThreadError>,
    /// The system variable `sql_replica_skip_counter`, in events.
    pub skip_counter: u64,
    /// The number of times that transactions were tried again after error 1205 or 1213.
    pub transaction_retries: u64,
    /// The source's server id; 0 before the first connection.
    pub source_server_id: u32,
    /// The source's UUID; empty for MariaDB.
    pub source_uuid: String,
    /// The GTIDs received since the relay log was started.
    pub retrieved_gtid_set: String,
    /// The GTIDs executed on this server.
    pub executed_gtid_set: String,
    /// MariaDB's `gtid_slave_pos`; empty for a MySQL source.
    pub gtid_slave_pos: String,
    /// The last transaction that was received whole.
    pub last_queued: TransactionSeen,
    /// The transaction that is being received.
    pub queueing: TransactionSeen,
    /// The last applied transaction that the applier has published, which it does every few hundred
    /// transactions.
    pub last_applied: TransactionSeen,
    /// The transaction that is being applied.
    pub applying: TransactionSeen,
    /// The number of transactions that the channel has applied since the server's start.
    pub applied_transactions: u64,
    /// The number of heartbeats received.
    pub heartbeats: u64,
    /// The time of the last heartbeat, in microseconds of unix time.
    pub last_heartbeat_us: u64,
    /// The system variable `replica_parallel_workers`.
    pub workers: u64,
    /// True when everything that was received is applied.
    pub caught_up: bool,
    /// The condition of START REPLICA UNTIL, of the present or the last start.
    pub until: Option<UntilCondition>,
    /// The seconds for which SOURCE_DELAY still holds the next transaction back. `None` means that
    /// it holds none back.
    pub remaining_delay_s: Option<u64>,
    /// The channel's replication filters.
    pub filters: Arc<Filters>,
    /// The number of open temporary tables of the source's sessions (`Replica_open_temp_tables`).
    pub open_temporary_tables: usize,
}

impl ReplicaStatus {
    /// Returns the name of the channel's thread of kind `kind`.
    pub fn thread_name(&self, kind: &str) -> String {
        thread_name(kind, &self.channel)
    }

    /// Returns in words what the applier waits for right now. A configured delay is named first,
    /// then missing input, then the state of the applier's threads.
    pub fn held_back_by(&self) -> String {
        if self.sql_running != Running::Yes {
            return match &self.sql_error {
                Some(error) => format!("the applier has stopped with error {}", error.number),
                None => "the applier is stopped".to_string(),
            };
        }
        if let Some(seconds) = self.remaining_delay_s {
            return format!("SOURCE_DELAY, for {seconds} more seconds");
        }
        if self.caught_up {
            return match self.io_running {
                Running::Yes => "nothing: all that was received is applied".to_string(),
                Running::Connecting => "the receiver, which has no connection to the source".to_string(),
                Running::No => "the receiver, which is stopped".to_string(),
            };
        }
        let threads = os::account::snapshot();
        let names = ["replica_sql", "replica_prepare", "replica_worker"].map(|name| self.thread_name(name));
        let appliers = threads.iter().filter(|thread| thread.tid.is_some());
        let states =
            appliers.filter(|thread| names.contains(&thread.name)).filter_map(|thread| thread.current);
        // Workers that wait for each other all wait in the end for a worker that is at work, so its
        // state is shown.
        words_for(states.max_by_key(|state| match state {
            State::WorkerWait => 0,
            State::CommitOrderWait => 1,
            state => 2 + u8::from(state.blocks()),
        }))
        .to_string()
    }

    /// Returns the columns of SHOW REPLICA STATUS of MySQL 9, in MySQL's order. With `old_names`
    /// the names are those of SHOW SLAVE STATUS. For a MariaDB source, MariaDB's columns
    /// Using_Gtid, Gtid_IO_Pos and Gtid_Slave_Pos follow at the end.
    pub fn columns(&self, old_names: bool) -> Vec<(&'static str, Cell)> {
        let named = |new: &'static str, old: &'static str| if old_names { old } else { new };
        let text = |s: &str| Cell::Text(s.to_string());
        let yes_no = |b: bool| text(if b { "Yes" } else { "No" });
        let none = || text("");
        let filter = |kind: FilterKind| text(&self.filters.text(kind));
        let config = &self.config;
        let until = self.until.as_ref().map_or(("None", "", 0), UntilCondition::shown);
        let (io_number, io_message, io_time) = error_cells(self.io_error.as_ref());
        let (sql_number, sql_message, sql_time) = error_cells(self.sql_error.as_ref());
        let ids: Vec<String> = config.ignore_server_ids.iter().map(u32::to_string).collect();
        let mut columns = vec![
            (named("Replica_IO_State", "Slave_IO_State"), text(&self.io_state)),
            (named("Source_Host", "Master_Host"), text(&config.host)),
            (named("Source_User", "Master_User"), text(&config.user)),
            (named("Source_Port", "Master_Port"), Cell::Number(config.port.into())),
            ("Connect_Retry", Cell::Number(config.connect_retry_s.into())),
            (named("Source_Log_File", "Master_Log_File"), text(&self.read_file)),
            (named("Read_Source_Log_Pos", "Read_Master_Log_Pos"), Cell::Number(self.read_pos)),
            ("Relay_Log_File", text(&self.relay_file)),
            ("Relay_Log_Pos", Cell::Number(self.relay_pos)),
            (named("Relay_Source_Log_File", "Relay_Master_Log_File"), text(&self.exec_file)),
            (named("Replica_IO_Running", "Slave_IO_Running"), text(self.io_running.word())),
            (named("Replica_SQL_Running", "Slave_SQL_Running"), text(self.sql_running.word())),
            ("Replicate_Do_DB", filter(FilterKind::DoDb)),
            ("Replicate_Ignore_DB", filter(FilterKind::IgnoreDb)),
            ("Replicate_Do_Table", filter(FilterKind::DoTable)),
            ("Replicate_Ignore_Table", filter(FilterKind::IgnoreTable)),
            ("Replicate_Wild_Do_Table", filter(FilterKind::WildDoTable)),
            ("Replicate_Wild_Ignore_Table", filter(FilterKind::WildIgnoreTable)),
            ("Last_Errno", sql_number.clone()),
            ("Last_Error", sql_message.clone()),
            ("Skip_Counter", Cell::Number(self.skip_counter)),
            (named("Exec_Source_Log_Pos", "Exec_Master_Log_Pos"), Cell::Number(self.exec_pos)),
            ("Relay_Log_Space", Cell::Number(self.relay_space_bytes)),
            ("Until_Condition", text(until.0)),
            ("Until_Log_File", text(until.1)),
            ("Until_Log_Pos", Cell::Number(until.2)),
            (named("Source_SSL_Allowed", "Master_SSL_Allowed"), yes_no(config.ssl)),
            (named("Source_SSL_CA_File", "Master_SSL_CA_File"), text(&config.ssl_ca)),
            (named("Source_SSL_CA_Path", "Master_SSL_CA_Path"), text(&config.ssl_capath)),
            (named("Source_SSL_Cert", "Master_SSL_Cert"), text(&config.ssl_cert)),
            (named("Source_SSL_Cipher", "Master_SSL_Cipher"), text(&config.ssl_cipher)),
            (named("Source_SSL_Key", "Master_SSL_Key"), text(&config.ssl_key)),
            (
                named("Seconds_Behind_Source", "Seconds_Behind_Master"),
                self.seconds_behind.map_or(Cell::Null, Cell::Number),
            ),
            (
                named("Source_SSL_Verify_Server_Cert", "Master_SSL_Verify_Server_Cert"),
                yes_no(config.ssl_verify_server_cert),
            ),
        ];
        columns.extend([
            ("Last_IO_Errno", io_number),
            ("Last_IO_Error", io_message),
            ("Last_SQL_Errno", sql_number),
            ("Last_SQL_Error", sql_message),
            ("Replicate_Ignore_Server_Ids", text(&ids.join(", "))),
            (named("Source_Server_Id", "Master_Server_Id"), Cell::Number(self.source_server_id.into())),
            (named("Source_UUID", "Master_UUID"), text(&self.source_uuid)),
            (named("Source_Info_File", "Master_Info_File"), text(&self.info_file)),
            ("SQL_Delay", Cell::Number(config.delay_s.into())),
            ("SQL_Remaining_Delay", self.remaining_delay_s.map_or(Cell::Null, Cell::Number)),
            (named("Replica_SQL_Running_State", "Slave_SQL_Running_State"), text(&self.sql_state)),
            (named("Source_Retry_Count", "Master_Retry_Count"), Cell::Number(config.retry_count)),
            (named("Source_Bind", "Master_Bind"), text(&config.bind)),
            ("Last_IO_Error_Timestamp", io_time),
            ("Last_SQL_Error_Timestamp", sql_time),
            (named("Source_SSL_Crl", "Master_SSL_Crl"), none()),
            (named("Source_SSL_Crlpath", "Master_SSL_Crlpath"), none()),
            ("Retrieved_Gtid_Set", text(&self.retrieved_gtid_set)),
            ("Executed_Gtid_Set", text(&self.executed_gtid_set)),
            ("Auto_Position", Cell::Number(config.auto_position.into())),
            ("Replicate_Rewrite_DB", filter(FilterKind::RewriteDb)),
            ("Channel_Name", text(&self.channel)),
            (named("Source_TLS_Version", "Master_TLS_Version"), text(&config.tls_version)),
            (named("Source_public_key_path", "Master_public_key_path"), text(&config.public_key_path)),
            (
                named("Get_Source_public_key", "Get_master_public_key"),
                Cell::Number(config.get_public_key.into()),
            ),
            ("Network_Namespace", none()),
        ]);
        if config.use_gtid == UseGtid::SlavePos {
            columns.extend([
                ("Using_Gtid", text("Slave_Pos")),
                ("Gtid_IO_Pos", text(&self.retrieved_gtid_set)),
                ("Gtid_Slave_Pos", text(&self.gtid_slave_pos)),
            ]);
        }
        columns
    }
}

fn words_for(state: Option<State>) -> &'static str {
    match state {
        Some(State::RowLockWait) => "a lock that a session of this server holds",
        Some(State::WorkerWait) => "its workers, which have not begun",
        Some(State::CommitOrderWait) => "commits of this server's own before it",
        Some(State::PageRead) => "reading pages that are not in the buffer pool",
        Some(State::FreePageWait | State::SinglePageFlush | State::DoublewriteWait) => {
            "the buffer pool, which has no free page"
        }
        Some(State::PageWrite | State::PageSync) => "writing pages",
        Some(State::LogSpaceWait | State::Checkpoint) => "the redo log, which is full until a checkpoint",
        Some(State::LogBufferWait | State::LogWriteWait | State::LogWrite) => "the redo log's buffer",
        Some(State::LogSync | State::LogFlush) => "a sync of the redo log",
        Some(State::RelayLogWait) => "the relay log, which the receiver is writing",
        Some(_) => "nothing but its own work",
        None => "its thread, which has not begun",
    }
}

fn error_cells(error: Option<&ThreadError>) -> (Cell, Cell, Cell) {
    match error {
        None => (Cell::Number(0), Cell::Text(String::new()), Cell::Text(String::new())),
        Some(error) => (
            Cell::Number(error.number.into()),
            Cell::Text(error.message.clone()),
            Cell::Text(format_timestamp(error.at_us)),
        ),
    }
}

/// Returns the time of an error in MySQL's form, `YYMMDD hh:mm:ss`, in UTC.
fn format_timestamp(at_us: u64) -> String {
    let seconds = at_us / 1_000_000;
    let (year, month, day) = civil_date((seconds / 86_400) as i64);
    let of_day = seconds % 86_400;
    format!(
        "{:02}{month:02}{day:02} {:02}:{:02}:{:02}",
        year % 100,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Returns year, month and day of a day of the Gregorian calendar that is counted from 1970-01-01.
fn civil_date(days: i64) -> (i64, i64, i64) {
    // The days are counted from 0000-03-01, so that the leap day is the last day of its year. An
    // era is 400 years, which are 146097 days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_mysql_9() {
        let names: Vec<&str> = ReplicaStatus::default().columns(false).iter().map(|c| c.0).collect();
        assert_eq!(names.len(), 60);
        assert_eq!(
            (names[0], names[32], names[59]),
            ("Replica_IO_State", "Seconds_Behind_Source", "Network_Namespace")
        );
        let old: Vec<&str> = ReplicaStatus::default().columns(true).iter().map(|c| c.0).collect();
        assert_eq!(
            (old[0], old[10], old[32]),
            ("Slave_IO_State", "Slave_IO_Running", "Seconds_Behind_Master")
        );
    }

    #[test]
    fn error_times_are_mysqls() {
        assert_eq!(format_timestamp(1_709_164_799_000_000), "240228 23:59:59");
        assert_eq!(format_timestamp(1_709_164_800_000_000), "240229 00:00:00");
        assert_eq!(format_timestamp(0), "700101 00:00:00");
    }
}
