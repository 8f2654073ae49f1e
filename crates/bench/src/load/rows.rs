//! The rows of `bench load`, as the statements or the file that bring them.

use os::random::Rng;
use protocol::client::{Client, ClientError};

use super::outcome::{Plan, Way};
use crate::sbtest::{C_LEN, PAD_LEN, digits};

/// The table that is filled. The dump's statements are for this name.
pub(super) const TABLE: &str = "loaded";
/// The secondary indexes of the table; a plan takes the first ones.
const INDEXES: [&str; 3] = ["KEY k_1 (k)", "KEY k_2 (k, pad)", "KEY k_3 (pad, id)"];

/// Returns the statement that makes the table with so many secondary indexes.
pub(super) fn create_table(name: &str, indexes: u32) -> String {
    let indexes = INDEXES.iter().take(indexes as usize).map(|index| format!(", {index}"));
    format!(
        "CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL \
         DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id){}) CHARSET=utf8mb4",
        indexes.collect::<String>()
    )
}

/// What brings the rows.
pub(super) enum Load {
    /// These statements.
    Statements(Vec<String>),
    /// LOAD DATA with this file.
    File(Vec<u8>),
}

impl Load {
    /// Makes the rows of a plan. The values of `k` are random, so that entries of its indexes come
    /// in no order.
    pub fn new(way: Way, plan: &Plan) -> Load {
        let mut rng = Rng::new(plan.seed);
        let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
        let mut load = match way {
            Way::Insert => Load::Statements(Vec::new()),
            Way::LoadData => Load::File(Vec::new()),
        };
        for id in 1..=plan.rows {
            digits(&mut rng, &mut c);
            digits(&mut rng, &mut pad);
            let k = rng.below(plan.rows);
            let text = |bytes| std::str::from_utf8(bytes).expect("digits and dashes");
            let (c, pad) = (text(&c[..]), text(&pad[..]));
            match &mut load {
                Load::Statements(statements) => {
                    let row = format!("({id},{k},'{c}','{pad}')");
                    match statements.last_mut() {
                        Some(last) if (last.len() + row.len()) as u64 <= plan.statement_bytes => {
                            last.push(',');
                            last.push_str(&row);
                        }
                        _ => statements.push(format!("INSERT INTO `{TABLE}` VALUES {row}")),
                    }
                }
                Load::File(file) => {
                    file.extend_from_slice(format!("{id}\t{k}\t{c}\t{pad}\n").as_bytes());
                }
            }
        }
        load
    }

    /// Returns the way in which the rows come.
    pub fn way(&self) -> Way {
        match self {
            Load::Statements(_) => Way::Insert,
            Load::File(_) => Way::LoadData,
        }
    }

    /// Brings the rows to a server.
    ///
    /// # Errors
    /// Returns the server's refusal of a statement, and errors of the connection.
    pub fn run(&self, client: &mut Client) -> Result<(), ClientError> {
        match self {
            Load::Statements(statements) => {
                statements.iter().try_for_each(|statement| client.query_discard(statement).map(drop))
            }
            Load::File(file) => {
                client.query_with_file(&format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {TABLE}"), file)?;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_bring_the_same_rows() {
        let plan = Plan {
            ways: Way::ALL.to_vec(),
            rows: 300,
            indexes: 1,
            statement_bytes: 10_000,
            log_bin: true,
            durable: true,
            pool_bytes: 0,
            redo_bytes: 0,
            flavors: Vec::new(),
            rounds: 1,
            seed: os::random::test_seed("both_ways_bring_the_same_rows"),
        };
        let Load::Statements(statements) = Load::new(Way::Insert, &plan) else { panic!("not statements") };
        let Load::File(file) = Load::new(Way::LoadData, &plan) else { panic!("not a file") };
        assert!(statements.len() > 5 && statements.iter().all(|statement| statement.len() <= 10_000));
        let head = format!("INSERT INTO `{TABLE}` VALUES ");
        let rows: String = statements.iter().map(|statement| &statement[head.len()..]).collect();
        let rows = rows.replace("')(", "')\n(").replace("'),(", "')\n(").replace(['(', ')', '\''], "");
        assert_eq!(rows.replace(',', "\t") + "\n", String::from_utf8(file).expect("text"));
    }
}
