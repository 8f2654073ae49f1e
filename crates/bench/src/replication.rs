//! The statements of replication in the syntax of each flavor: to attach a replica, to start and
//! stop its threads, and to read its progress.

use std::fmt;
use std::time::Duration;

use protocol::client::{Client, ClientError, ConnectOptions};

use crate::instance::{Flavor, Instance, USER};

/// A place in a source's binary log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The name of the file. The names of one source sort by age, because their numbers have
    /// leading zeros.
    pub file: String,
    /// The offset of the byte after the last event.
    pub offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.offset)
    }
}

/// An end of a source's binary log that a replica can begin at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The file and the offset.
    pub position: Position,
    /// MariaDB's GTIDs up to there; `None` for other sources.
    pub mariadb_gtids: Option<String>,
}

/// Where a replica begins in its source's binary log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFrom {
    /// After the GTIDs that the replica has.
    Gtid,
    /// At a place in the source's binary log.
    Position(Position),
}

/// A thread of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// The receiver, which writes the relay log.
    Io,
    /// The applier, which reads the relay log.
    Sql,
}

impl Thread {
    fn word(self) -> &'static str {
        match self {
            Thread::Io => "IO_THREAD",
            Thread::Sql => "SQL_THREAD",
        }
    }
}

/// What a replica reports about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The receiver's state: `Yes`, `No`, `Connecting`.
    pub io_running: String,
    /// The applier's state: `Yes`, `No`.
    pub sql_running: String,
    /// The position in the source's log up to which the replica has received; `None` before the
    /// first event.
    pub received: Option<Position>,
    /// The position in the source's log up to which the replica has applied; `None` before the
    /// first event.
    pub applied: Option<Position>,
    /// The last error of the receiver; empty when there is none.
    pub io_error: String,
    /// The number of the receiver's last error; 0 when there is none.
    pub io_errno: u32,
    /// The last error of the applier; empty when there is none.
    pub sql_error: String,
    /// The number of the applier's last error; 0 when there is none.
    pub sql_errno: u32,
    /// `Seconds_Behind_Source`. `None` means that it is NULL.
    pub seconds_behind: Option<u64>,
    /// `Executed_Gtid_Set`; always empty for MariaDB.
    pub executed_gtid_set: String,
}

impl Status {
    /// Returns the last error of the applier, or else that of the receiver, if there is one.
    pub fn error(&self) -> Option<&str> {
        [&self.sql_error, &self.io_error].into_iter().find(|error| !error.is_empty()).map(String::as_str)
    }
}

/// Returns the options to connect to an instance over TCP as the kit's own user.
pub fn connect_options(instance: &Instance) -> ConnectOptions {
    let mut options = ConnectOptions::tcp("127.0.0.1", instance.port()).user(USER, USER);
    options.get_server_public_key = true;
    // A server that is under full load, or that is just making its RSA key, may take long to
    // answer.
    options.connect_timeout = Duration::from_secs(60);
    options
}

/// Opens a session as the kit's own user.
pub fn connect(instance: &Instance) -> Result<Client, ClientError> {
    Client::connect(&connect_options(instance))
}

/// Makes the server a replica of the server on 127.0.0.1:`source_port`.
pub fn change_source(
    client: &mut Client,
    replica: Flavor,
    source: Flavor,
    source_port: u16,
    from: &StartFrom,
) -> Result<(), ClientError> {
    client.query(&change_source_statement(replica, source, source_port, from)).map(|_| ())
}

fn change_source_statement(replica: Flavor, source: Flavor, source_port: u16, from: &StartFrom) -> String {
    // MariaDB knows only the old syntax, and only the old syntax can ask for MariaDB's GTIDs.
    let old_words = [replica, source].contains(&Flavor::MariaDb);
    let (statement, word) =
        if old_words { ("CHANGE MASTER TO", "MASTER") } else { ("CHANGE REPLICATION SOURCE TO", "SOURCE") };
    let mut options = vec![
        format!("{word}_HOST='127.0.0.1'"),
        format!("{word}_PORT={source_port}"),
        format!("{word}_USER='{USER}'"),
        format!("{word}_PASSWORD='{USER}'"),
        format!("{word}_CONNECT_RETRY=1"),
    ];
    if replica != Flavor::MariaDb && source != Flavor::MariaDb {
        options.push("GET_SOURCE_PUBLIC_KEY=1".to_string());
    }
    match from {
        StartFrom::Gtid if old_words => options.push("MASTER_USE_GTID=slave_pos".to_string()),
        StartFrom::Gtid => options.push(format!("{word}_AUTO_POSITION=1")),
        StartFrom::Position(position) => {
            options.push(format!("{word}_LOG_FILE='{}'", position.file));
            options.push(format!("{word}_LOG_POS={}", position.offset));
        }
    }
    format!("{statement} {}", options.join(", "))
}

fn replica_word(flavor: Flavor) -> &'static str {
    if flavor == Flavor::MariaDb { "SLAVE" } else { "REPLICA" }
}

/// Starts one thread of a replica.
pub fn start(client: &mut Client, replica: Flavor, thread: Thread) -> Result<(), ClientError> {
    client.query(&format!("START {} {}", replica_word(replica), thread.word())).map(|_| ())
}

/// Stops one thread of a replica, and returns when it has stopped.
pub fn stop(client: &mut Client, replica: Flavor, thread: Thread) -> Result<(), ClientError> {
    client.query(&format!("STOP {} {}", replica_word(replica), thread.word())).map(|_| ())
}

/// Returns what `SHOW REPLICA STATUS` tells.
pub fn status(client: &mut Client, replica: Flavor) -> Result<Status, ClientError> {
    let result = client.query(&format!("SHOW {} STATUS", replica_word(replica)))?;
    if result.rows.is_empty() {
        return Err(ClientError::Protocol("the server is no replica: SHOW REPLICA STATUS is empty".into()));
    }
    let old_words = replica == Flavor::MariaDb;
    let text = |new: &str, old: &str| result.text(0, if old_words { old } else { new }).unwrap_or_default();
    let number = |new: &str, old: &str| text(new, old).parse().ok();
    let position = |file: String, offset: Option<u64>| {
        let offset = offset.filter(|_| !file.is_empty())?;
        Some(Position { file, offset })
    };
    Ok(Status {
        io_running: text("Replica_IO_Running", "Slave_IO_Running"),
        sql_running: text("Replica_SQL_Running", "Slave_SQL_Running"),
        received: position(
            text("Source_Log_File", "Master_Log_File"),
            number("Read_Source_Log_Pos", "Read_Master_Log_Pos"),
        ),
        applied: position(
            text("Relay_Source_Log_File", "Relay_Master_Log_File"),
            number("Exec_Source_Log_Pos", "Exec_Master_Log_Pos"),
        ),
        io_error: text("Last_IO_Error", "Last_IO_Error"),
        io_errno: number("Last_IO_Errno", "Last_IO_Errno").unwrap_or(0) as u32,
        sql_error: text("Last_SQL_Error", "Last_SQL_Error"),
        sql_errno: number("Last_SQL_Errno", "Last_SQL_Errno").unwrap_or(0) as u32,
        seconds_behind: number("Seconds_Behind_Source", "Seconds_Behind_Master"),
        executed_gtid_set: if old_words { String::new() } else { text("Executed_Gtid_Set", "") },
    })
}

/// Returns the end of a source's binary log, with the GTIDs if the source is MariaDB.
pub fn end_of_log(client: &mut Client, source: Flavor) -> Result<LogEnd, ClientError> {
    let position = source_position(client, source)?;
    let mariadb_gtids = match source {
        Flavor::MariaDb => client.query("SELECT @@global.gtid_binlog_pos")?.cell(0, 0),
        Flavor::MySql | Flavor::Slipstream => None,
    };
    Ok(LogEnd { position, mariadb_gtids })
}

/// Makes a replica whose threads are stopped forget what it has received, executed and logged, and
/// makes it begin at `end`: a MariaDB replica of a MariaDB source by GTID, others by position.
pub fn begin_anew(
    client: &mut Client,
    replica: Flavor,
    source: (Flavor, u16),
    end: &LogEnd,
) -> Result<(), ClientError> {
    let (statements, from) = match (&end.mariadb_gtids, replica) {
        (Some(gtids), Flavor::MariaDb) => {
            let set = format!("SET GLOBAL gtid_slave_pos = '{gtids}'");
            (vec!["RESET SLAVE".to_string(), set], StartFrom::Gtid)
        }
        _ => (vec![], StartFrom::Position(end.position.clone())),
    };
    if replica != Flavor::MariaDb {
        client.query("RESET BINARY LOGS AND GTIDS")?;
    } else if client.query("SELECT @@global.log_bin")?.cell(0, 0).as_deref() == Some("1") {
        client.query("RESET MASTER")?;
    }
    statements.iter().try_for_each(|sql| client.query(sql).map(|_| ()))?;
    change_source(client, replica, source.0, source.1, &from)
}

/// Returns the end of a source's binary log.
pub fn source_position(client: &mut Client, source: Flavor) -> Result<Position, ClientError> {
    let result = client.query(match source {
        Flavor::MariaDb => "SHOW MASTER STATUS",
        Flavor::MySql | Flavor::Slipstream => "SHOW BINARY LOG STATUS",
    })?;
    let offset = result.text(0, "Position").and_then(|text| text.parse().ok());
    match (result.text(0, "File"), offset) {
        (Some(file), Some(offset)) => Ok(Position { file, offset }),
        _ => Err(ClientError::Protocol("the server keeps no binary log".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_spoken_to_in_its_own_words() {
        let position = StartFrom::Position(Position { file: "binlog.000002".into(), offset: 157 });
        let statement = |replica, source, from| change_source_statement(replica, source, 3306, from);
        let mysql = statement(Flavor::Slipstream, Flavor::MySql, &StartFrom::Gtid);
        assert!(mysql.starts_with("CHANGE REPLICATION SOURCE TO SOURCE_HOST="), "{mysql}");
        assert!(mysql.ends_with("GET_SOURCE_PUBLIC_KEY=1, SOURCE_AUTO_POSITION=1"), "{mysql}");
        let mariadb = statement(Flavor::Slipstream, Flavor::MariaDb, &StartFrom::Gtid);
        assert!(mariadb.starts_with("CHANGE MASTER TO MASTER_HOST="), "{mariadb}");
        assert!(mariadb.ends_with("MASTER_USE_GTID=slave_pos"), "{mariadb}");
        let placed = statement(Flavor::MariaDb, Flavor::MariaDb, &position);
        assert!(placed.ends_with("MASTER_LOG_FILE='binlog.000002', MASTER_LOG_POS=157"), "{placed}");
    }

    #[test]
    fn positions_sort_by_age() {
        let at = |file: &str, offset| Position { file: file.into(), offset };
        assert!(at("binlog.000002", 4) > at("binlog.000001", 9_000));
        assert!(at("binlog.000002", 4) < at("binlog.000002", 5));
    }
}
