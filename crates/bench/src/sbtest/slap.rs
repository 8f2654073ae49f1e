//! mysqlslap's own load (`--auto-generate-sql --auto-generate-sql-load-type=write`): single-row
//! inserts as text into a table without a key, as in MySQL's bug 71130.

use os::random::Rng;
use protocol::client::{Client, ClientError};

use super::checksum::{Checksum, checksum};
use super::table::{SCHEMA, SbtestError, doing};

/// The length of `charcol1` in bytes.
const CHARS: usize = 128;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Makes the table anew and leaves it empty, without writing to the binary log.
pub fn empty(client: &mut Client) -> Result<(), SbtestError> {
    let statements = [
        "SET SESSION sql_log_bin = 0".to_string(),
        format!("DROP TABLE IF EXISTS {SCHEMA}.t1"),
        format!("CREATE TABLE {SCHEMA}.t1 (intcol1 INT(32), charcol1 VARCHAR(128)) /*! ENGINE = innodb */"),
        "SET SESSION sql_log_bin = 1".to_string(),
    ];
    statements.into_iter().try_for_each(|sql| doing(|| sql.clone(), client.query(&sql)).map(|_| ()))
}

/// Runs one transaction of the load.
pub(super) fn insert(client: &mut Client, rng: &mut Rng) -> Result<(), ClientError> {
    let number = rng.below(1 << 31);
    let letter = |_| char::from(LETTERS[rng.below(LETTERS.len() as u64) as usize]);
    let text: String = (0..CHARS).map(letter).collect();
    client.query_discard(&format!("INSERT INTO t1 VALUES ({number},'{text}')")).map(|_| ())
}

/// Returns the checksum of the table's rows.
pub fn rows(client: &mut Client) -> Result<Checksum, SbtestError> {
    checksum(client, "t1", "intcol1, charcol1")
}
