//! Sessions at the new replica, whose changes go to no binary log.

use std::collections::BTreeMap;

use protocol::client::{Asked, Client, ClientError, ConnectOptions, ResultSet};

use crate::error::{AttachError, Result};
use crate::log_place::LogPlace;

/// A session at the new replica.
pub struct Local {
    client: Client,
}

/// The session's settings: no trigger runs, and no foreign key is checked, because rows come as the
/// source has them.
const SETTINGS: &str = "SET NAMES utf8mb4, sql_log_bin = 0, time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO', \
                        foreign_key_checks = 0, slipstream_fire_triggers = 0";

impl Local {
    /// Connects to the new replica.
    pub fn connect(options: &ConnectOptions) -> Result<Local> {
        let options = ConnectOptions { local_files: true, ..options.clone() };
        let connected = Client::connect(&options);
        let client = connected.map_err(|error| AttachError::Local("cannot connect".into(), error))?;
        let mut local = Local { client };
        local.query(SETTINGS)?;
        Ok(local)
    }

    /// Connects to the new replica to load rows. Those of MariaDB may have a history and periods,
    /// which are taken as they come.
    pub fn for_rows(options: &ConnectOptions, of_mariadb: bool) -> Result<Local> {
        let mut local = Local::connect(options)?;
        if of_mariadb {
            local.query("SET slipstream_dialect = 'MARIADB'")?;
        }
        Ok(local)
    }

    /// Runs a statement and returns its result.
    pub fn query(&mut self, sql: &str) -> Result<ResultSet> {
        self.client.query(sql).map_err(|error| AttachError::Local(sql.to_owned(), error))
    }

    /// Runs a statement that may be refused. Returns the refused statement with the reason, or
    /// `None`.
    pub fn refusal(&mut self, sql: &str) -> Result<Option<String>> {
        match self.query(sql) {
            Ok(_) => Ok(None),
            Err(AttachError::Local(sql, error)) if error.server_code().is_some() => {
                Ok(Some(format!("{sql}: {error}")))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the only cell of a query's only row, which is empty for NULL and without a row.
    pub fn one(&mut self, sql: &str) -> Result<String> {
        Ok(self.query(sql)?.cell(0, 0).unwrap_or_default())
    }

    /// Runs a statement and returns the number of rows that it has changed.
    pub fn changed(&mut self, sql: &str) -> Result<u64> {
        Ok(self.query(sql)?.affected_rows())
    }

    /// Runs a LOAD DATA LOCAL statement, which gets these rows as its file. Returns how many rows
    /// it has changed.
    pub fn load(&mut self, sql: &str, rows: &[u8]) -> Result<u64> {
        let loaded = self.client.query_with_file(sql, rows);
        loaded.map(|done| done.affected_rows()).map_err(|error| AttachError::Local(sql.to_owned(), error))
    }

    /// Begins a LOAD DATA LOCAL statement, which gets its rows while they are read at the source.
    pub fn begin_load(&mut self, sql: String) -> Result<Loading<'_>> {
        match self.client.begin_file(&sql) {
            Ok(Asked::File) => {
                let buffer = Vec::with_capacity(2 * SENT_BYTES);
                Ok(Loading { client: &mut self.client, sql, buffer, bytes: 0, failed: None })
            }
            Ok(Asked::Nothing(_)) => {
                Err(AttachError::Unfit(format!("this server did not ask for the rows of: {sql}")))
            }
            Err(error) => Err(AttachError::Local(sql, error)),
        }
    }

    /// Returns the GTIDs that have been applied.
    pub fn executed(&mut self) -> Result<String> {
        Ok(self.one("SELECT @@GLOBAL.gtid_executed")?.replace('\n', ""))
    }

    /// Returns the ids that the engine has given the tables, by schema and name with a slash
    /// between them.
    pub fn table_ids(&mut self) -> Result<BTreeMap<String, String>> {
        let found = self.query("SELECT NAME, TABLE_ID FROM information_schema.INNODB_TABLES")?;
        let pair = |row| Some((found.cell(row, 0)?, found.cell(row, 1)?));
        Ok((0..found.rows.len()).filter_map(pair).collect())
    }

    /// Returns the progress of replication, from SHOW REPLICA STATUS.
    pub fn replica_status(&mut self) -> Result<Status> {
        let shown = self.query("SHOW REPLICA STATUS")?;
        let text = |column: &str| shown.text(0, column).unwrap_or_default();
        let error = [text("Last_IO_Error"), text("Last_SQL_Error")].into_iter().find(|text| !text.is_empty());
        Ok(Status {
            applied: LogPlace {
                file: text("Relay_Source_Log_File"),
                position: text("Exec_Source_Log_Pos").parse().unwrap_or_default(),
            },
            is_applying: text("Replica_SQL_Running") == "Yes",
            is_receiving: text("Replica_IO_Running") != "No",
            error,
        })
    }
}

/// The number of bytes that are sent at once while rows are loaded.
const SENT_BYTES: usize = 64 << 10;

/// A LOAD DATA LOCAL statement under way. Until it has ended, its session is used for nothing else.
/// One that is dropped before leaves a session that can only be closed, and nothing is loaded.
pub struct Loading<'l> {
    client: &'l mut Client,
    sql: String,
    buffer: Vec<u8>,
    /// The number of bytes that were put.
    bytes: usize,
    /// The first error of sending. What is put after it is dropped.
    failed: Option<ClientError>,
}

impl Loading<'_> {
    /// Puts rows into the file by `append`, and sends them when there are enough.
    pub fn put(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        let before = self.buffer.len();
        append(&mut self.buffer);
        assert!(self.buffer.len() >= before, "rows are appended");
        self.bytes += self.buffer.len() - before;
        if self.buffer.len() >= SENT_BYTES {
            self.send();
        }
    }

    fn send(&mut self) {
        if self.failed.is_none() {
            self.failed = self.client.send_of_file(&self.buffer).err();
        }
        self.buffer.clear();
    }

    /// Ends the file. Returns its size in bytes when its rows are loaded.
    pub fn end(mut self) -> Result<usize> {
        self.send();
        match self.failed.map_or_else(|| self.client.end_file(), Err) {
            Ok(_) => Ok(self.bytes),
            Err(error) => Err(AttachError::Local(self.sql, error)),
        }
    }
}

/// The progress of replication.
pub struct Status {
    /// The position in the source's log up to which transactions have been applied.
    pub applied: LogPlace,
    pub is_applying: bool,
    pub is_receiving: bool,
    /// The error for which one of the threads stopped.
    pub error: Option<String>,
}
