//! Sessions at the source.

use protocol::client::{Client, ConnectOptions, ResultSet};

use crate::error::{AttachError, Result};
use crate::log_place::LogPlace;

/// A session at the source.
pub struct Source {
    client: Client,
    has_gtids: bool,
}

/// The session's settings: texts come as they are stored, and times in UTC.
const SETTINGS: [&str; 2] = [
    "SET NAMES utf8mb4, character_set_results = NULL, time_zone = '+00:00', sql_mode = '', sql_quote_show_create = 1",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
];

impl Source {
    /// Connects to the source.
    pub fn connect(options: &ConnectOptions) -> Result<Source> {
        let refused = |what: &str| {
            let what = what.to_owned();
            move |error| AttachError::Source(what, error)
        };
        let mut client = Client::connect(options).map_err(refused("cannot connect"))?;
        for setting in SETTINGS {
            client.query(setting).map_err(refused("the session cannot be set up"))?;
        }
        let mut source = Source { client, has_gtids: false };
        source.has_gtids = !source.is_mariadb() && source.one("SELECT @@GLOBAL.gtid_mode")? == "ON";
        Ok(source)
    }

    /// Reports whether the source is a MariaDB server.
    pub fn is_mariadb(&self) -> bool {
        self.client.is_mariadb()
    }

    /// Reports whether the source is a MySQL server whose transactions have GTIDs.
    pub fn has_gtids(&self) -> bool {
        self.has_gtids
    }

    /// Reports whether the session is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.client.is_encrypted()
    }

    /// Runs a statement and returns its result.
    pub fn query(&mut self, sql: &str) -> Result<ResultSet> {
        self.client.query(sql).map_err(|error| AttachError::Source(sql.to_owned(), error))
    }

    /// Runs a query and passes its rows to `row`.
    pub fn rows(&mut self, sql: &str, row: impl FnMut(&[Option<&[u8]>])) -> Result<()> {
        let read = self.client.query_rows(sql, row);
        read.map(|_| ()).map_err(|error| AttachError::Source(sql.to_owned(), error))
    }

    /// Returns the only cell of a query's only row, which is empty for NULL and without a row.
    pub fn one(&mut self, sql: &str) -> Result<String> {
        Ok(self.query(sql)?.cell(0, 0).unwrap_or_default())
    }

    /// Returns the cells of a query's rows, which are empty for NULL.
    pub fn table(&mut self, sql: &str) -> Result<Vec<Vec<String>>> {
        Ok(texts(&self.query(sql)?))
    }

    /// Returns a text that tells the server from every other one.
    pub fn identity(&mut self) -> Result<String> {
        if !self.is_mariadb() {
            return self.one("SELECT @@GLOBAL.server_uuid");
        }
        // Only some MariaDB releases since 2024 have server_uid.
        self.one("SELECT CONCAT_WS(' ', @@GLOBAL.hostname, @@GLOBAL.port, @@GLOBAL.server_id)")
    }

    /// Returns the end of the source's binary log, behind which there is nothing that a SELECT has
    /// seen.
    pub fn log_end(&mut self) -> Result<LogPlace> {
        let shown = match self.client.query("SHOW BINARY LOG STATUS") {
            Ok(shown) => shown,
            // The statement has this name since MySQL 8.2.
            Err(_) => self.query("SHOW MASTER STATUS")?,
        };
        LogPlace::of(&shown, "File", "Position")
            .ok_or_else(|| AttachError::Unfit("the source does not say where its binary log ends".into()))
    }
}

/// Returns all cells of a result, which are empty for NULL.
pub fn texts(result: &ResultSet) -> Vec<Vec<String>> {
    let text =
        |cell: &Option<Vec<u8>>| String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned();
    result.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

/// Returns a name in backquotes.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns a text in quotes, for statements that take no introducer.
pub fn literal_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Returns a text in quotes, in a form that does not depend on what `sql_mode` says about
/// backslashes.
pub fn literal(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\'' | b'\\') || byte == b' ') {
        return format!("'{text}'");
    }
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb4 x'{digits}'")
}
