//! Where the time of a transaction goes, from the server's own time accounts between two moments.
//!
//! Only Slipstream has such accounts (`performance_schema.thread_times`). A thread is always in one
//! state, so the times of all states of a connection's thread add up to the time between the two
//! looks. The sum over all connections is that time once for each client.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::error::MeasureError;
use crate::server::Server;
use crate::table::{Align, Table};

/// The name in the accounts of the threads that serve clients.
const CONNECTION: &str = "connection";
/// The states in which a background thread has nothing to do.
const RESTING: [&str; 4] = ["idle", "client_wait", "source_wait", "relay_log_wait"];

/// How often threads entered a state, and how much time they spent in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spent {
    entered: f64,
    wall_ns: f64,
    cpu_ns: f64,
}

impl Spent {
    fn add(&mut self, other: Spent, sign: f64) {
        self.entered += sign * other.entered;
        self.wall_ns += sign * other.wall_ns;
        self.cpu_ns += sign * other.cpu_ns;
    }
}

/// The accounts of the running threads at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    /// The accounts by the number and the name of the thread, and by the state.
    states: BTreeMap<(u64, String, String), Spent>,
}

impl Look {
    /// Asks the server for its accounts; `None` means that it keeps none.
    pub fn at(server: &mut Server) -> Result<Option<Look>, MeasureError> {
        let sql = "SELECT THREAD_OS_ID, THREAD_NAME, STATE, COUNT_ENTERED, WALL_NS, CPU_NS \
                   FROM performance_schema.thread_times WHERE THREAD_OS_ID IS NOT NULL";
        let Some(times) = server.table(sql)? else { return Ok(None) };
        let mut look = Look::default();
        for row in 0..times.rows.len() {
            let text = |column| times.cell(row, column).unwrap_or_default();
            let number = |column| text(column).parse::<f64>().unwrap_or(0.0);
            let state = (number(0) as u64, text(1), text(2));
            look.states.insert(state, Spent { entered: number(3), wall_ns: number(4), cpu_ns: number(5) });
        }
        Ok(Some(look))
    }

    /// Returns what each thread has spent since an earlier look, by the thread's number. Threads
    /// that did not exist then are left out.
    fn since(&self, first: &Look) -> BTreeMap<u64, Vec<Line>> {
        let mut threads: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
        let was_there: BTreeSet<u64> = first.states.keys().map(|(tid, ..)| *tid).collect();
        for (key, spent) in self.states.iter().filter(|((tid, ..), _)| was_there.contains(tid)) {
            let before = first.states.get(key).copied().unwrap_or_default();
            let mut spent = *spent;
            spent.add(before, -1.0);
            let (tid, thread, state) = key.clone();
            threads.entry(tid).or_default().push(Line { thread, state, spent });
        }
        threads
    }
}

/// What the threads of one name spent in a state, for each transaction.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    thread: String,
    state: String,
    spent: Spent,
}

/// Where the time of a transaction went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accounts {
    lines: Vec<Line>,
}

impl Accounts {
    /// Returns what the threads that appear in both looks spent between them, divided by the number
    /// of transactions. Connections come first, then the other threads, each with the longest times
    /// first. The kit's own connection is left out: it does nothing between the looks, so it is the
    /// connection that changed its state least often.
    pub(super) fn between(first: &Look, last: &Look, transactions: f64) -> Accounts {
        let mut threads = last.since(first);
        let entered = |lines: &Vec<Line>| lines.iter().map(|line| line.spent.entered).sum::<f64>();
        let of_clients = threads.iter().filter(|(_, lines)| lines[0].thread == CONNECTION);
        let own = of_clients.min_by(|one, other| entered(one.1).total_cmp(&entered(other.1)));
        if let Some(own) = own.map(|(tid, _)| *tid) {
            threads.remove(&own);
        }
        let mut lines: BTreeMap<(String, String), Spent> = BTreeMap::new();
        for line in threads.into_values().flatten() {
            lines.entry((line.thread, line.state)).or_default().add(line.spent, 1.0 / transactions);
        }
        let is_seen = |line: &Line| {
            line.spent.wall_ns > 0.0 && (line.thread == CONNECTION || !RESTING.contains(&line.state.as_str()))
        };
        let lines = lines.into_iter().map(|((thread, state), spent)| Line { thread, state, spent });
        let mut lines: Vec<Line> = lines.filter(is_seen).collect();
        lines.sort_by(|one, other| {
            let key = |line: &Line| (line.thread != CONNECTION, line.thread.clone());
            key(one).cmp(&key(other)).then(other.spent.wall_ns.total_cmp(&one.spent.wall_ns))
        });
        Accounts { lines }
    }

    fn total(&self, is_of: impl Fn(&Line) -> bool) -> Spent {
        let mut total = Spent::default();
        self.lines.iter().filter(|line| is_of(line)).for_each(|line| total.add(line.spent, 1.0));
        total
    }

    /// Returns a table of the states in nanoseconds for each transaction, with the sums over all
    /// connections and over all other threads.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("threads", Align::Left),
            ("state", Align::Left),
            ("times", Align::Right),
            ("wall ns", Align::Right),
            ("wall %", Align::Right),
            ("CPU ns", Align::Right),
        ]);
        let connections = self.total(|line| line.thread == CONNECTION);
        let mut row = |thread: &str, state: &str, spent: Spent, share: Option<f64>| {
            table.row(vec![
                thread.to_string(),
                state.to_string(),
                format!("{:.2}", spent.entered),
                format!("{:.0}", spent.wall_ns),
                crate::table::optional(share, 1),
                format!("{:.0}", spent.cpu_ns),
            ]);
        };
        for of_thread in self.lines.chunk_by(|one, other| one.thread == other.thread) {
            for line in of_thread {
                let share = 100.0 * line.spent.wall_ns / connections.wall_ns;
                let share = (line.thread == CONNECTION).then_some(share);
                row(&line.thread, &line.state, line.spent, share);
            }
            if of_thread[0].thread == CONNECTION {
                row(CONNECTION, "all", connections, Some(100.0));
            }
        }
        row("others", "all but resting", self.total(|line| line.thread != CONNECTION), None);
        table
    }

    /// Returns the accounts as JSON.
    pub fn json(&self) -> Value {
        let line = |line: &Line| {
            json!({
                "threads": line.thread,
                "state": line.state,
                "entered": line.spent.entered,
                "wall_ns": line.spent.wall_ns,
                "cpu_ns": line.spent.cpu_ns,
            })
        };
        self.lines.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(states: &[(u64, &str, &str, f64, f64)]) -> Look {
        let state = |&(tid, name, state, wall_ns, cpu_ns): &(u64, &str, &str, f64, f64)| {
            ((tid, name.to_string(), state.to_string()), Spent { entered: wall_ns / 10.0, wall_ns, cpu_ns })
        };
        Look { states: states.iter().map(state).collect() }
    }

    #[test]
    fn the_states_of_the_connections_add_up_to_the_time_of_their_threads() {
        let first = look(&[
            (1, CONNECTION, "commit", 1000.0, 900.0),
            (1, CONNECTION, "client_wait", 0.0, 0.0),
            (2, CONNECTION, "commit", 500.0, 400.0),
            (3, CONNECTION, "commit", 7777.0, 7777.0),
            // This is the kit's own connection.
            (9, CONNECTION, "client_wait", 3000.0, 10.0),
            (4, "log_writer", "idle", 100.0, 1.0),
            (4, "log_writer", "log_write", 100.0, 100.0),
        ]);
        // 4000 ns have passed. The third connection has ended, and a fifth one has begun.
        let last = look(&[
            (1, CONNECTION, "commit", 2000.0, 1800.0),
            (1, CONNECTION, "client_wait", 3000.0, 30.0),
            (2, CONNECTION, "commit", 1500.0, 1300.0),
            (2, CONNECTION, "client_wait", 3000.0, 50.0),
            (9, CONNECTION, "client_wait", 3090.0, 10.0),
            (4, "log_writer", "idle", 3100.0, 2.0),
            (4, "log_writer", "log_write", 1100.0, 600.0),
            (5, CONNECTION, "commit", 9999.0, 9999.0),
        ]);
        let accounts = Accounts::between(&first, &last, 10.0);
        let states: Vec<&str> = accounts.lines.iter().map(|line| line.state.as_str()).collect();
        assert_eq!(states, ["client_wait", "commit", "log_write"]);
        let connections = accounts.total(|line| line.thread == CONNECTION);
        assert_eq!((connections.wall_ns, connections.cpu_ns), (2.0 * 4000.0 / 10.0, 188.0));
        let text = accounts.table().to_string();
        for part in ["75.0", "100.0", "800", "188", "log_write", "others"] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        assert_eq!(accounts.json()[1]["cpu_ns"], 180.0);
    }
}
