//! `/ready`: whether a load balancer may send clients to this server.

use crate::server::Server;
use replica::status::{ReplicaStatus, Running};

/// What a request asks for beside that the server serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The largest lag of a channel, in milliseconds.
    pub max_lag_ms: Option<u64>,
    /// The role that the server must have.
    pub role: Option<Role>,
}

/// The role of a server, as the parameter `role` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The server takes changes: `read_only` is OFF.
    Source,
    /// The server has a replication channel, or `read_only` is ON.
    Replica,
}

impl Wanted {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// Returns in words which parameter is unknown or has no valid value. An unknown one is
    /// refused, because a condition that is misspelled must not be taken for one that holds.
    pub fn of(parameters: &[(String, String)]) -> Result<Wanted, String> {
        let mut wanted = Wanted::default();
        for (name, value) in parameters {
            match (name.as_str(), value.as_str()) {
                ("max_lag_ms", number) => {
                    let number = number.parse().map_err(|_| "max_lag_ms must be a number of milliseconds")?;
                    wanted.max_lag_ms = Some(number);
                }
                ("role", "source") => wanted.role = Some(Role::Source),
                ("role", "replica") => wanted.role = Some(Role::Replica),
                ("role", _) => return Err("role must be source or replica".to_owned()),
                _ => return Err("the parameters are max_lag_ms and role".to_owned()),
            }
        }
        Ok(wanted)
    }
}

/// The facts about a server that decide whether it is ready.
#[derive(Debug, Default)]
pub struct Facts {
    /// True when the server is stopping.
    pub is_stopping: bool,
    /// The variable `offline_mode`.
    pub is_offline: bool,
    /// The variable `read_only`.
    pub is_read_only: bool,
    /// The channels that have a source.
    pub channels: Vec<ReplicaStatus>,
}

impl Facts {
    /// Returns the facts as they are now.
    pub fn of(server: &Server) -> Facts {
        Facts {
            is_stopping: server.is_stopping(),
            is_offline: server.globals.named("offline_mode").is_on(),
            is_read_only: server.globals.is_read_only(),
            channels: server.replica.statuses(),
        }
    }

    /// Returns in words why no clients may be sent to the server. `None` means that they may be.
    /// The words leave out the texts of errors, which may hold data.
    pub fn hindrance(&self, wanted: Wanted) -> Option<String> {
        if self.is_stopping {
            return Some("the server is stopping".to_owned());
        }
        if self.is_offline {
            return Some("offline_mode is ON".to_owned());
        }
        match wanted.role {
            Some(Role::Source) if self.is_read_only => return Some("read_only is ON".to_owned()),
            Some(Role::Replica) if self.channels.is_empty() && !self.is_read_only => {
                return Some("the server has no replication channel, and read_only is OFF".to_owned());
            }
            _ => {}
        }
        self.channels.iter().find_map(stopped_by_error).or_else(|| {
            let most_ms = wanted.max_lag_ms?;
            self.channels.iter().find_map(|channel| too_far_behind(channel, most_ms))
        })
    }
}

fn stopped_by_error(channel: &ReplicaStatus) -> Option<String> {
    let threads = [
        ("applier", channel.sql_running, &channel.sql_error),
        ("receiver", channel.io_running, &channel.io_error),
    ];
    let stopped = threads.into_iter().find_map(|(thread, running, error)| {
        error.as_ref().filter(|_| running == Running::No).map(|error| (thread, error.number))
    });
    let (thread, number) = stopped?;
    Some(format!("channel '{}': the {thread} has stopped with error {number}", channel.channel))
}

fn too_far_behind(channel: &ReplicaStatus, most_ms: u64) -> Option<String> {
    let name = &channel.channel;
    match channel.lag_us {
        None => Some(format!("channel '{name}': the lag cannot be known without a connection to the source")),
        Some(us) if us > most_ms.saturating_mul(1000) => {
            Some(format!("channel '{name}': {} ms behind the source, more than {most_ms}", us.div_ceil(1000)))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replica::error::ThreadError;

    fn asked(query: &str) -> Result<Wanted, String> {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Wanted::of(&pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>())
    }

    fn channel(lag_us: Option<u64>) -> ReplicaStatus {
        ReplicaStatus { channel: "c".to_owned(), lag_us, ..ReplicaStatus::default() }
    }

    fn hindrance(query: &str, channels: Vec<ReplicaStatus>) -> Option<String> {
        Facts { channels, ..Facts::default() }.hindrance(asked(query).unwrap())
    }

    #[test]
    fn parameters_are_read_or_refused() {
        let both = Wanted { max_lag_ms: Some(5), role: Some(Role::Replica) };
        assert_eq!(asked("max_lag_ms=5&role=replica"), Ok(both));
        for wrong in ["max_lag_ms=", "max_lag_ms=-1", "max_lag_ms=1s", "role=primary", "max_lag=5"] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lag_is_compared_with_the_largest_that_is_wanted() {
        assert_eq!(hindrance("max_lag_ms=2", vec![channel(Some(2000))]), None);
        let behind = hindrance("max_lag_ms=2", vec![channel(Some(0)), channel(Some(2001))]);
        assert_eq!(behind.as_deref(), Some("channel 'c': 3 ms behind the source, more than 2"));
        assert!(hindrance("max_lag_ms=2", vec![channel(None)]).is_some());
        assert_eq!(hindrance("", vec![channel(None)]), None);
        assert_eq!(hindrance(&format!("max_lag_ms={}", u64::MAX), vec![channel(Some(u64::MAX))]), None);
    }

    #[test]
    fn a_channel_that_an_error_stopped_is_named_without_the_text_of_the_error() {
        let error = ThreadError { number: 1062, message: "Duplicate entry 'secret'".into(), at_us: 1 };
        let stopped = ReplicaStatus { sql_error: Some(error.clone()), ..channel(Some(0)) };
        let why = hindrance("", vec![stopped]).unwrap();
        assert_eq!(why, "channel 'c': the applier has stopped with error 1062");
        // A receiver that tries again has not stopped.
        let tries =
            ReplicaStatus { io_error: Some(error), io_running: Running::Connecting, ..channel(Some(0)) };
        assert_eq!(hindrance("", vec![tries]), None);
    }

    #[test]
    fn roles_follow_read_only_and_the_channels() {
        let of = |is_read_only, channels: usize, role| {
            let channels = (0..channels).map(|_| channel(Some(0))).collect();
            let facts = Facts { is_read_only, channels, ..Facts::default() };
            facts.hindrance(Wanted { max_lag_ms: None, role: Some(role) }).is_none()
        };
        assert!(of(false, 0, Role::Source) && of(false, 1, Role::Source) && !of(true, 1, Role::Source));
        assert!(!of(false, 0, Role::Replica) && of(false, 1, Role::Replica) && of(true, 0, Role::Replica));
    }

    #[test]
    fn a_server_that_stops_or_is_offline_is_not_ready() {
        let stopping = Facts { is_stopping: true, ..Facts::default() };
        let offline = Facts { is_offline: true, ..Facts::default() };
        assert!(stopping.hindrance(Wanted::default()).is_some());
        assert!(offline.hindrance(Wanted::default()).is_some());
    }
}
