//! Fills the tables. The rows follow from a seed, and each INSERT has about 512 KB, as sysbench
//! sends it.

use os::random::Rng;
use protocol::client::{Client, ConnectOptions};

use super::random::{C_LEN, PAD_LEN, digits, special};
use super::table::{SCHEMA, SbtestError, Size, connect, create_table, doing};

/// The size of an INSERT statement in bytes, from which on it is sent. sysbench has the same limit.
const STATEMENT_BYTES: usize = 512 << 10;
/// The number of rows between two commits.
const ROWS_BETWEEN_COMMITS: u64 = 10_000;

/// A function that is told the number of rows inserted so far, after each INSERT.
pub type Filled<'a> = dyn FnMut(u64) + 'a;

/// Makes the schema and the tables anew, and fills them. The same seed gives the same rows on every
/// server. If `logged` is false, nothing goes to the binary log, so that source and replica can
/// both be filled in this way.
pub fn fill(
    options: &ConnectOptions,
    size: Size,
    seed: u64,
    logged: bool,
    filled: &mut Filled<'_>,
) -> Result<(), SbtestError> {
    let mut client = doing(|| "connecting".into(), Client::connect(options))?;
    let mut run = |sql: &str| doing(|| sql.to_string(), client.query(sql)).map(|_| ());
    if !logged {
        run("SET SESSION sql_log_bin = 0")?;
    }
    run(&format!("DROP DATABASE IF EXISTS {SCHEMA}"))?;
    run(&format!("CREATE DATABASE {SCHEMA}"))?;
    let mut client = connect(options)?;
    if !logged {
        doing(|| "SET SESSION sql_log_bin = 0".into(), client.query("SET SESSION sql_log_bin = 0"))?;
    }
    for table in 1..=size.tables {
        fill_table(&mut client, table, size, seed, filled)?;
    }
    client.quit();
    Ok(())
}

fn fill_table(
    client: &mut Client,
    table: u32,
    size: Size,
    seed: u64,
    filled: &mut Filled<'_>,
) -> Result<(), SbtestError> {
    let mut run = |sql: &str| {
        let shown = || sql.chars().take(60).collect();
        doing(shown, client.query_discard(sql)).map(|_| ())
    };
    run(&create_table(table))?;
    let mut rng = Rng::new(seed ^ (u64::from(table) << 32));
    let head = format!("INSERT INTO sbtest{table}(k, c, pad) VALUES");
    let mut statement = head.clone();
    let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
    run("BEGIN")?;
    for row in 1..=size.rows {
        digits(&mut rng, &mut c);
        digits(&mut rng, &mut pad);
        if statement.len() > head.len() {
            statement.push(',');
        }
        let k = special(&mut rng, size.rows);
        let text = |bytes| std::str::from_utf8(bytes).expect("digits and dashes");
        statement.push_str(&format!("({k}, '{}', '{}')", text(&c[..]), text(&pad[..])));
        let commits = row % ROWS_BETWEEN_COMMITS == 0;
        if statement.len() >= STATEMENT_BYTES || row == size.rows || commits {
            run(&statement)?;
            statement.truncate(head.len());
            filled(u64::from(table - 1) * size.rows + row);
        }
        if commits {
            run("COMMIT")?;
            run("BEGIN")?;
        }
    }
    run("COMMIT")?;
    run(&format!("CREATE INDEX k_{table} ON sbtest{table}(k)"))
}
