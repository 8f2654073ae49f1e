//! What has happened between two looks, or between the server's start and the first look.

use std::collections::BTreeMap;

use crate::look::{Look, Spent};

const NS_PER_S: f64 = 1e9;

/// The figures that are shown as rates: the name, and the status variables that count it, of which
/// the first one that the server has is taken.
const COUNTED: [(&str, &[&str]); 7] = [
    ("statements", &["questions"]),
    // Slipstream counts transactions; MySQL counts the commits of its engines, one for each.
    ("commits", &["slipstream_commits", "handler_commit"]),
    ("rows_read", &["innodb_rows_read"]),
    ("rows_inserted", &["innodb_rows_inserted"]),
    ("rows_updated", &["innodb_rows_updated"]),
    ("rows_deleted", &["innodb_rows_deleted"]),
    ("log_syncs", &["innodb_os_log_fsyncs"]),
];

/// The part of its threads' time that a state took.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The name of the threads.
    pub thread: String,
    /// The state.
    pub state: String,
    /// The wall time in the state, as a part of the wall time of all threads of the name.
    pub wall: f64,
    /// The processor time in the state, in processors: 1 is one processor all the time.
    pub processors: f64,
}

/// The rates of a span of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// The length of the span, in seconds.
    pub span_s: f64,
    /// True when the span begins with the server's start.
    pub since_start: bool,
    /// Events in a second, by name. A figure that the server does not count is not in it.
    pub per_second: Vec<(&'static str, f64)>,
    /// The part of the requests for pages that the buffer pool answered without a read. `None`
    /// means that there were no requests.
    pub hit_rate: Option<f64>,
    /// The shares of the states, by thread, the largest share first.
    pub shares: Vec<Share>,
}

impl Rates {
    /// Compares a look with the one before. Without one, or when the server has started again
    /// since, the span begins with the server's start.
    pub fn between(before: Option<&Look>, now: &Look) -> Rates {
        let before = before.filter(|before| {
            before.server.server_uuid == now.server.server_uuid
                && before.server.uptime_s <= now.server.uptime_s
        });
        let nothing = Look::default();
        let span_s = match before {
            Some(before) => now.at_ns.saturating_sub(before.at_ns) as f64 / NS_PER_S,
            None => now.server.uptime_s as f64,
        };
        let since = before.unwrap_or(&nothing);
        let grown =
            |name: &str| Some(now.figure(name)?.saturating_sub(since.figure(name).unwrap_or(0)) as f64);
        let per_second = COUNTED.iter().filter_map(|(name, variables)| {
            let grown = variables.iter().find_map(|variable| grown(variable))?;
            Some((*name, if span_s > 0.0 { grown / span_s } else { 0.0 }))
        });
        let hit_rate = match (grown("innodb_buffer_pool_read_requests"), grown("innodb_buffer_pool_reads")) {
            (Some(requests), Some(reads)) if requests > 0.0 => Some((1.0 - reads / requests).max(0.0)),
            _ => None,
        };
        assert!(hit_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)), "a rate of hits is a part of all");
        Rates {
            span_s,
            since_start: before.is_none(),
            per_second: per_second.collect(),
            hit_rate,
            shares: shares(&since.threads, &now.threads, span_s),
        }
    }

    /// Returns a rate by its name.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.per_second.iter().find(|(of, _)| *of == name).map(|(_, rate)| *rate)
    }
}

type Accounts = BTreeMap<(String, String), Spent>;

fn shares(before: &Accounts, now: &Accounts, span_s: f64) -> Vec<Share> {
    let grown: Vec<(&(String, String), Spent)> = now
        .iter()
        .map(|(key, spent)| {
            let before = before.get(key).copied().unwrap_or_default();
            let wall_ns = spent.wall_ns.saturating_sub(before.wall_ns);
            (key, Spent { wall_ns, cpu_ns: spent.cpu_ns.saturating_sub(before.cpu_ns) })
        })
        .collect();
    let mut of_thread: BTreeMap<&str, u64> = BTreeMap::new();
    for ((thread, _), spent) in &grown {
        *of_thread.entry(thread.as_str()).or_default() += spent.wall_ns;
    }
    let share = |((thread, state), spent): &(&(String, String), Spent)| Share {
        thread: thread.clone(),
        state: state.clone(),
        wall: spent.wall_ns as f64 / of_thread[thread.as_str()].max(1) as f64,
        processors: if span_s > 0.0 { spent.cpu_ns as f64 / NS_PER_S / span_s } else { 0.0 },
    };
    let mut shares: Vec<Share> = grown.iter().filter(|(_, spent)| spent.wall_ns > 0).map(share).collect();
    assert!(shares.iter().all(|share| share.wall <= 1.0), "a share is a part of its threads' time");
    shares.sort_by(|a, b| a.thread.cmp(&b.thread).then(b.wall.total_cmp(&a.wall)));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_s: u64, uptime_s: u64, figures: &[(&str, u64)], threads: &[(&str, &str, u64, u64)]) -> Look {
        let mut look = Look { at_ns: at_s * 1_000_000_000, ..Look::default() };
        look.server.uptime_s = uptime_s;
        look.status = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let spent = |s: u64| s * 1_000_000_000;
        look.threads = threads
            .iter()
            .map(|(thread, state, wall_s, cpu_s)| {
                let times = Spent { wall_ns: spent(*wall_s), cpu_ns: spent(*cpu_s) };
                (((*thread).to_owned(), (*state).to_owned()), times)
            })
            .collect();
        look
    }

    #[test]
    fn the_first_look_counts_from_the_start_of_the_server() {
        let figures =
            [("questions", 50), ("innodb_buffer_pool_read_requests", 200), ("innodb_buffer_pool_reads", 2)];
        let rates = Rates::between(None, &look(1000, 10, &figures, &[]));
        assert_eq!((rates.since_start, rates.of("statements"), rates.of("commits")), (true, Some(5.0), None));
        assert_eq!(rates.hit_rate, Some(0.99));
    }

    #[test]
    fn a_later_look_counts_from_the_one_before() {
        let before = look(100, 10, &[("questions", 50), ("handler_commit", 7)], &[("a", "x", 1, 0)]);
        let now = look(
            102,
            12,
            &[("questions", 70), ("handler_commit", 7)],
            &[("a", "x", 2, 1), ("a", "y", 3, 0), ("b", "z", 0, 0)],
        );
        let rates = Rates::between(Some(&before), &now);
        assert_eq!((rates.since_start, rates.span_s), (false, 2.0));
        assert_eq!((rates.of("statements"), rates.of("commits")), (Some(10.0), Some(0.0)));
        assert_eq!(rates.hit_rate, None);
        let shares: Vec<_> = rates.shares.iter().map(|s| (s.state.as_str(), s.wall, s.processors)).collect();
        assert_eq!(shares, [("y", 0.75, 0.0), ("x", 0.25, 0.5)]);
    }

    #[test]
    fn a_server_that_has_started_again_is_counted_from_its_start() {
        let before = look(100, 1000, &[("questions", 50)], &[]);
        let rates = Rates::between(Some(&before), &look(102, 1, &[("questions", 4)], &[]));
        assert_eq!((rates.since_start, rates.of("statements")), (true, Some(4.0)));
    }
}
