//! Finding and reaching the servers that take part.

use std::collections::BTreeSet;

use protocol::client::{Address, ConnectOptions};

use crate::command_line::Plan;
use crate::error::{Failure, Outcome};
use crate::member::Member;

/// The servers that take part.
pub struct Members {
    /// The old source.
    pub source: Member,
    /// The replica that takes its place.
    pub replica: Member,
    /// The other replicas of the old source.
    pub others: Vec<Member>,
    /// In words, the replicas of the old source that could not be reached.
    pub unreached: Vec<String>,
}

/// Connects to all servers: those that the plan names, and those that the old source tells of and
/// that report their host, with the account that the plan has for the old source.
///
/// # Errors
/// Returns an error when a server that the plan names cannot be reached.
pub fn gather(plan: &Plan) -> Result<Members, Outcome> {
    let connect = |options: &ConnectOptions| Member::connect(options, plan.timeout);
    let unchanged = |failure: Failure| Outcome::Unchanged(failure.what);
    let mut source = connect(&plan.source).map_err(unchanged)?;
    let replica = connect(&plan.replica).map_err(unchanged)?;
    let mut others = plan.others.iter().map(connect).collect::<Result<Vec<_>, _>>().map_err(unchanged)?;
    let mut known: BTreeSet<String> = others.iter().map(|other| other.facts.uuid.clone()).collect();
    known.insert(replica.facts.uuid.clone());
    let mut unreached = Vec::new();
    let shown = source.run("SHOW REPLICAS", "SHOW REPLICAS").map_err(unchanged)?;
    for row in 0..shown.rows.len() {
        let text = |name: &str| shown.text(row, name).unwrap_or_default();
        let (uuid, host, port) = (text("Replica_UUID"), text("Host"), text("Port").parse().unwrap_or(3306));
        if !known.insert(uuid) {
            continue;
        }
        let id = text("Server_Id");
        if host.is_empty() {
            unreached.push(format!("the replica with server id {id} does not report its host"));
            continue;
        }
        let address = Address::Tcp { host, port };
        match connect(&ConnectOptions { address, ..plan.source.clone() }) {
            Ok(other) => others.push(other),
            Err(failure) => unreached.push(format!("the replica with server id {id}: {failure}")),
        }
    }
    Ok(Members { source, replica, others, unreached })
}
