//! A replication channel, as SHOW REPLICA STATUS of MySQL, Slipstream and MariaDB shows it.

use binlog::gtid::GtidSet;
use protocol::client::ResultSet;

/// The state of a replication thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// The thread does not run.
    No,
    /// The receiver runs and has no connection.
    Connecting,
    /// The thread is at work.
    Yes,
}

impl Running {
    fn of(text: &str) -> Running {
        match text {
            "Yes" => Running::Yes,
            "No" | "" => Running::No,
            // MariaDB has the words `Preparing` and `Connecting`.
            _ => Running::Connecting,
        }
    }

    /// Returns the word that is shown.
    pub fn word(self) -> &'static str {
        match self {
            Running::No => "stopped",
            Running::Connecting => "connecting",
            Running::Yes => "running",
        }
    }
}

/// An error with which a replication thread stopped or waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadError {
    /// The error's number.
    pub number: u64,
    /// The error's text.
    pub message: String,
}

/// A replication channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The channel's name, which is empty for the default channel.
    pub name: String,
    /// The host of the source.
    pub source_host: String,
    /// The port of the source.
    pub source_port: u64,
    /// The state of the receiver.
    pub receiver: Running,
    /// The state of the applier.
    pub applier: Running,
    /// The error of the receiver.
    pub receiver_error: Option<ThreadError>,
    /// The error of the applier.
    pub applier_error: Option<ThreadError>,
    /// The number of transactions that are received and not applied. `None` means that the channel
    /// does not tell its GTIDs.
    pub to_apply: Option<u64>,
    /// The lag in milliseconds: the true one of a Slipstream, or else Seconds_Behind_Source. `None`
    /// means that it is not known.
    pub lag_ms: Option<f64>,
    /// What the applier does, in the server's words.
    pub applier_state: String,
    /// What holds the applier back, in words. It is empty for a server that does not tell.
    pub held_back_by: String,
}

impl Channel {
    /// Returns the channels in the answer to SHOW REPLICA STATUS.
    pub fn all(shown: &ResultSet) -> Vec<Channel> {
        (0..shown.rows.len()).map(|row| Channel::of(&Row { shown, row })).collect()
    }

    fn of(row: &Row<'_>) -> Channel {
        let error = |number: &str, message: &str| {
            let number = row.number(&[number]).filter(|&number| number != 0)?;
            Some(ThreadError { number, message: row.text(&[message]) })
        };
        let seconds = row.number(&["Seconds_Behind_Source", "Seconds_Behind_Master"]);
        Channel {
            name: row.text(&["Channel_Name", "Connection_name"]),
            source_host: row.text(&["Source_Host", "Master_Host"]),
            source_port: row.number(&["Source_Port", "Master_Port"]).unwrap_or(0),
            receiver: Running::of(&row.text(&["Replica_IO_Running", "Slave_IO_Running"])),
            applier: Running::of(&row.text(&["Replica_SQL_Running", "Slave_SQL_Running"])),
            receiver_error: error("Last_IO_Errno", "Last_IO_Error"),
            applier_error: error("Last_SQL_Errno", "Last_SQL_Error"),
            to_apply: to_apply(row),
            lag_ms: seconds.map(|seconds| seconds as f64 * 1000.0),
            applier_state: row.text(&["Replica_SQL_Running_State", "Slave_SQL_Running_State"]),
            held_back_by: String::new(),
        }
    }

    /// Reports whether the channel has stopped, in whole or in part.
    pub fn has_stopped(&self) -> bool {
        self.receiver == Running::No || self.applier == Running::No
    }

    /// Returns the name that is shown.
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { "(default)" } else { &self.name }
    }

    /// Returns in words what is wrong with the channel.
    pub fn problems(&self) -> Vec<String> {
        let threads = [
            ("receiver", self.receiver, &self.receiver_error),
            ("applier", self.applier, &self.applier_error),
        ];
        let problem = |(thread, running, error): (&str, Running, &Option<ThreadError>)| {
            let name = self.shown_name();
            match (running, error) {
                (Running::Yes, _) => None,
                (_, Some(error)) => Some(format!(
                    "channel {name}: the {thread} is {} with error {}: {}",
                    running.word(),
                    error.number,
                    error.message
                )),
                (_, None) => Some(format!("channel {name}: the {thread} is {}", running.word())),
            }
        };
        threads.into_iter().filter_map(problem).collect()
    }
}

/// Returns how many transactions are received and not applied, by MySQL's sets of GTIDs. A set
/// begins with what was received since the relay log was started.
fn to_apply(row: &Row<'_>) -> Option<u64> {
    let mut received: GtidSet = row.text(&["Retrieved_Gtid_Set"]).parse().ok()?;
    let executed: GtidSet = row.text(&["Executed_Gtid_Set"]).parse().ok()?;
    if received.is_empty() && executed.is_empty() {
        return None;
    }
    received.subtract(&executed);
    Some(received.count())
}

/// A row of an answer, whose cells are found by the first of several names that is there.
struct Row<'a> {
    shown: &'a ResultSet,
    row: usize,
}

impl Row<'_> {
    /// Returns the text of a cell, which is empty for NULL and where there is no such column.
    fn text(&self, names: &[&str]) -> String {
        names.iter().find_map(|name| self.shown.text(self.row, name)).unwrap_or_default()
    }

    fn number(&self, names: &[&str]) -> Option<u64> {
        self.text(names).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(receiver: Running, applier_error: Option<u64>) -> Channel {
        Channel {
            name: "c".into(),
            source_host: "h".into(),
            source_port: 1,
            receiver,
            applier: if applier_error.is_some() { Running::No } else { Running::Yes },
            receiver_error: None,
            applier_error: applier_error.map(|number| ThreadError { number, message: "why".into() }),
            to_apply: None,
            lag_ms: None,
            applier_state: String::new(),
            held_back_by: String::new(),
        }
    }

    #[test]
    fn a_channel_says_which_thread_has_stopped_and_why() {
        let well = channel(Running::Yes, None);
        assert!(!well.has_stopped() && well.problems().is_empty());
        let connecting = channel(Running::Connecting, None);
        assert!(!connecting.has_stopped());
        assert_eq!(connecting.problems(), ["channel c: the receiver is connecting"]);
        let stopped = channel(Running::No, Some(1062));
        assert!(stopped.has_stopped());
        let expected =
            ["channel c: the receiver is stopped", "channel c: the applier is stopped with error 1062: why"];
        assert_eq!(stopped.problems(), expected);
    }
}
