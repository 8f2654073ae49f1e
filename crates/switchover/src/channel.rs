//! A replication channel of a member, as SHOW REPLICA STATUS shows it.

use protocol::client::ResultSet;

/// A replication channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channel {
    /// The channel's name, which is empty for the default channel.
    pub name: String,
    /// The UUID of the source, which is empty before the first connection.
    pub source_uuid: String,
    /// The account at the source.
    pub user: String,
    /// Whether the channel goes by GTIDs.
    pub auto_position: bool,
    /// Whether the receiver has a connection.
    pub receives: bool,
    /// Whether the applier runs.
    pub applies: bool,
    /// The errors of both threads, which are empty when all is well.
    pub error: String,
    /// `Seconds_Behind_Source`; `None` when it is NULL.
    pub lag_s: Option<u64>,
    /// The delay that the applier keeps, in seconds.
    pub delay_s: u64,
    /// The replication filters, in words. They are empty when everything is replicated.
    pub filters: String,
    /// Whether the connection to the source is encrypted.
    pub is_encrypted: bool,
}

/// The columns of SHOW REPLICA STATUS that tell of filters.
const FILTERS: [&str; 7] = [
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Replicate_Rewrite_DB",
];

impl Channel {
    /// Returns the channels in the answer to SHOW REPLICA STATUS.
    pub fn all(shown: &ResultSet) -> Vec<Channel> {
        (0..shown.rows.len()).map(|row| Channel::of(shown, row)).collect()
    }

    fn of(shown: &ResultSet, row: usize) -> Channel {
        let text = |name: &str| shown.text(row, name).unwrap_or_default();
        let errors = [text("Last_IO_Error"), text("Last_SQL_Error")];
        let filters = FILTERS.iter().map(|name| (name, text(name))).filter(|(_, value)| !value.is_empty());
        Channel {
            name: text("Channel_Name"),
            source_uuid: text("Source_UUID"),
            user: text("Source_User"),
            auto_position: text("Auto_Position") == "1",
            receives: text("Replica_IO_Running") == "Yes",
            applies: text("Replica_SQL_Running") == "Yes",
            error: errors.into_iter().filter(|error| !error.is_empty()).collect::<Vec<_>>().join("; "),
            lag_s: text("Seconds_Behind_Source").parse().ok(),
            delay_s: text("SQL_Delay").parse().unwrap_or(0),
            filters: filters.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", "),
            is_encrypted: text("Source_SSL_Allowed") == "Yes",
        }
    }

    /// Reports whether both threads of the channel run.
    pub fn runs(&self) -> bool {
        self.receives && self.applies
    }

    /// Returns the end of a statement about the channel.
    pub fn clause(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!(" FOR CHANNEL {}", quoted(&self.name)) }
    }
}

/// Returns a text as a literal of SQL, for sessions whose `sql_mode` is empty, as members' are.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!([quoted("a"), quoted("a'b"), quoted("a\\'b")], ["'a'", "'a''b'", "'a\\\\''b'"]);
        assert_eq!(Channel::default().clause(), "");
        assert_eq!(Channel { name: "c".into(), ..Channel::default() }.clause(), " FOR CHANNEL 'c'");
    }
}
