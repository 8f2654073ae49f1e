//! Oracles that need no other server, for the same random tables and conditions. A condition
//! divides the rows into those for which it is true, false and unknown, which together are all rows
//! (ternary logic partitioning, TLP). WHERE, which an index may answer, finds as many rows as there
//! are rows for which the condition is true in the select list, where no plan depends on it
//! (NoREC).

use os::random::Rng;
use protocol::client::{Client, ClientError};
use testkit::grammar::Grammar;

use crate::expressions::Names;
use crate::queries::Divided;
use crate::schema::tables;

/// The number of conditions for the same tables.
const OF_ONE_SCHEMA: u64 = 100;

/// What the oracles have asked and found.
#[derive(Default)]
pub struct Asked {
    pub answered: u64,
    pub refused: u64,
    pub findings: Vec<String>,
}

/// Returns the sorted rows, or `None` for a statement that is refused.
///
/// # Panics
/// Panics when the connection is lost.
fn rows(client: &mut Client, sql: &str) -> Option<Vec<String>> {
    match client.query(sql) {
        Ok(result) => {
            let mut rows: Vec<String> = result.rows.iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            Some(rows)
        }
        Err(ClientError::Server(_)) => None,
        Err(error) => panic!("{sql}: {error}"),
    }
}

fn all_of(client: &mut Client, statements: &[String]) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for sql in statements {
        all.extend(rows(client, sql)?);
    }
    all.sort();
    Some(all)
}

/// Asks about this many random conditions.
pub fn ask(client: &mut Client, rules: &Grammar, conditions: u64, rng: &mut Rng) -> Asked {
    let mut asked = Asked::default();
    for _ in 0..conditions.div_ceil(OF_ONE_SCHEMA) {
        let (tables, made) = tables(rng);
        let anew = ["DROP DATABASE IF EXISTS random", "CREATE DATABASE random", "USE random"];
        for sql in anew.into_iter().chain(made.iter().map(String::as_str)) {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        for _ in 0..OF_ONE_SCHEMA {
            let divided = Names::new(&tables, rng).divided(rules, rng);
            match judge(client, &divided) {
                None => asked.refused += 1,
                Some(found) => {
                    asked.answered += 1;
                    asked.findings.extend(found.map(|found| format!("{found}\n  {}", made.join(";\n  "))));
                }
            }
        }
    }
    asked
}

/// Returns what is wrong, if something is. `None` means that a statement is refused.
fn judge(client: &mut Client, divided: &Divided) -> Option<Option<String>> {
    let Divided { from, keys, condition } = divided;
    let select = |filter: &str| format!("SELECT {keys} FROM {from}{filter}");
    let all = rows(client, &select(""))?;
    let found = rows(client, &select(&format!(" WHERE {condition}")))?;
    let rest = [format!(" WHERE NOT ({condition})"), format!(" WHERE ({condition}) IS NULL")];
    let rest = rest.map(|filter| select(&filter));
    let mut parts = all_of(client, &rest)?;
    parts.extend(found.iter().cloned());
    parts.sort();
    let listed = rows(client, &format!("SELECT ({condition}) IS TRUE, {keys} FROM {from}"))?;
    let is_true = listed.iter().filter(|row| row.starts_with("[Some([49])")).count();
    Some(match (parts == all, is_true == found.len()) {
        (false, _) => Some(format!("{}: {} rows in parts, {} in all", rest[0], parts.len(), all.len())),
        (true, false) => {
            Some(format!("{condition} of {from}: WHERE finds {}, and {is_true} are true", found.len()))
        }
        (true, true) => None,
    })
}
