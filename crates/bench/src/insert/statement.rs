//! The Insert Benchmark's table and statements, with the same text as its own client sends.

use std::fmt::Write;

use os::random::Rng;

const CASH_REGISTERS: u64 = 1_000;
const PRODUCTS: u64 = 10_000;
const CUSTOMERS: u64 = 100_000;
const MAX_PRICE: u64 = 500;
/// The number of rows that a query asks for.
const ROWS_OF_QUERY: u64 = 10;
/// The part of the column `data` that is random, in percent.
const RANDOM_PERCENT: usize = 50;
const DIGITS_OF_DATA: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the statement that makes a table without secondary indexes.
pub fn create_table(table: &str) -> String {
    format!(
        "create table {table} ( transactionid bigint not null auto_increment, dateandtime datetime, \
         cashregisterid int not null, customerid int not null, productid int not null, price int not null, \
         data varchar(4000), primary key (transactionid) ) engine=innodb"
    )
}

/// Returns the statement that makes all three secondary indexes at once.
pub fn add_indexes(table: &str) -> String {
    format!(
        "alter table {table} add index {table}_marketsegment (productid, customerid, price), \
         add index {table}_registersegment (cashregisterid, customerid, price), \
         add index {table}_pdc (price, dateandtime, customerid)"
    )
}

/// Returns the statement that deletes the first `rows` rows whose id is at least `lowest`.
pub fn delete(table: &str, lowest: u64, rows: u64) -> String {
    format!("delete from {table} where transactionid >= {lowest} order by transactionid asc limit {rows}")
}

/// Returns a point in time as a DATETIME literal without quotes, in UTC. The computation counts
/// days in years that begin in March, so that the leap day is the last day of its year.
pub fn datetime(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400 + 719_468, unix_seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// What the queries look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Ten index entries from a random value on, in one of the three secondary indexes at random.
    Ranges,
    /// Ten random rows by primary key.
    Points,
}

/// Writes the statements of one client to its table.
pub struct Writer {
    table: String,
    /// The length of the column `data` in bytes.
    data_bytes: usize,
    rng: Rng,
}

impl Writer {
    /// Returns a writer of statements. The same seed gives the same values.
    pub fn new(table: &str, data_bytes: usize, seed: u64) -> Writer {
        Writer { table: table.to_string(), data_bytes, rng: Rng::new(seed) }
    }

    /// Empties `out` and writes an INSERT of `rows` rows into it.
    pub fn insert(&mut self, out: &mut String, when: &str, rows: u64) {
        out.clear();
        out.push_str("insert into ");
        out.push_str(&self.table);
        out.push_str(" (dateandtime,cashregisterid,customerid,productid,price,data) values ");
        for row in 0..rows {
            out.push_str(if row == 0 { "('" } else { ",\n('" });
            out.push_str(when);
            out.push_str("',");
            for (limit, end) in
                [(CASH_REGISTERS, ","), (CUSTOMERS, ","), (PRODUCTS, ","), (MAX_PRICE, ".00,'")]
            {
                push_number(out, self.rng.below(limit));
                out.push_str(end);
            }
            self.push_data(out);
            out.push_str("')");
        }
    }

    /// Appends a value of the column `data`: `a`s, then random digits of base 64. The digits take
    /// three quarters of the random part, because the original reserves the rest for its encoding.
    fn push_data(&mut self, out: &mut String) {
        let random = self.data_bytes * RANDOM_PERCENT * 3 / 400;
        (random..self.data_bytes).for_each(|_| out.push('a'));
        for at in 0..random {
            if at % 10 == 0 {
                // One random number yields ten digits of six bits each.
                self.push_digits(out, (random - at).min(10));
            }
        }
    }

    fn push_digits(&mut self, out: &mut String, count: usize) {
        let mut word = self.rng.below(1 << 60);
        for _ in 0..count {
            out.push(char::from(DIGITS_OF_DATA[(word & 63) as usize]));
            word >>= 6;
        }
    }

    /// Empties `out` and writes a query into it. Point queries look up ids between the first and
    /// the last of `ids`.
    pub fn query(&mut self, out: &mut String, lookup: Lookup, ids: (u64, u64)) {
        out.clear();
        match lookup {
            Lookup::Ranges => self.range(out),
            Lookup::Points => self.points(out, ids),
        }
    }

    fn range(&mut self, out: &mut String) {
        let table = &self.table;
        let (columns, index, first, compare, limit) = match self.rng.below(3) {
            0 => ("price,dateandtime,customerid", "pdc", "price", ">=", MAX_PRICE),
            1 => ("productid,customerid,price", "marketsegment", "productid", ">=", PRODUCTS),
            _ => {
                ("cashregisterid,customerid,price", "registersegment", "cashregisterid", ">", CASH_REGISTERS)
            }
        };
        let from = self.rng.below(limit);
        let written = write!(
            out,
            "SELECT {columns} FROM {table} FORCE INDEX ({table}_{index}) WHERE ({first} {compare} {from}) \
             ORDER BY {columns} LIMIT {ROWS_OF_QUERY}"
        );
        written.expect("a string takes everything");
    }

    fn points(&mut self, out: &mut String, (first, last): (u64, u64)) {
        out.push_str("SELECT transactionid, productid, data FROM ");
        out.push_str(&self.table);
        out.push_str(" WHERE transactionid in (");
        for at in 0..ROWS_OF_QUERY {
            if at > 0 {
                out.push(',');
            }
            push_number(out, self.rng.between(first, last.max(first)));
        }
        out.push(')');
    }
}

/// Appends a decimal number. This is faster than the formatter, and the load generator has to be
/// fast.
fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).expect("digits"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_seconds() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_709_251_199, "2024-02-29 23:59:59"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(datetime(seconds), text);
        }
    }

    #[test]
    fn inserts_are_the_originals() {
        let mut writer = Writer::new("pi1", 10, 7);
        let mut out = String::from("left over");
        writer.insert(&mut out, "2026-01-02 03:04:05", 3);
        let rows: Vec<&str> = out.split(",\n").collect();
        assert_eq!(rows.len(), 3);
        let head =
            "insert into pi1 (dateandtime,cashregisterid,customerid,productid,price,data) values ('2026-";
        assert!(rows[0].starts_with(head), "{out}");
        for row in rows {
            let values: Vec<&str> =
                row.rsplit_once('(').expect("a row").1.trim_end_matches(')').split(',').collect();
            assert_eq!(values.len(), 6);
            assert!(values[4].ends_with(".00"), "{row}");
            let data = values[5].trim_matches('\'');
            assert!(data.len() == 10 && data.starts_with("aaaaaaa"), "{row}");
        }
    }

    #[test]
    fn queries_are_the_originals() {
        let mut writer = Writer::new("pi1", 10, os::random::test_seed("queries_are_the_originals"));
        let (mut out, mut seen) = (String::new(), std::collections::BTreeSet::new());
        for _ in 0..100 {
            writer.query(&mut out, Lookup::Ranges, (1, 1));
            let index = out
                .split_once("FORCE INDEX (")
                .and_then(|(_, rest)| rest.split_once(')'))
                .expect("an index")
                .0;
            seen.insert(index.to_string());
            assert!(out.ends_with("LIMIT 10") && out.contains(" ORDER BY "), "{out}");
        }
        assert_eq!(seen.len(), 3, "{seen:?}");
        writer.query(&mut out, Lookup::Points, (5, 7));
        let ids = out.split_once("in (").expect("ids").1.trim_end_matches(')');
        assert_eq!(ids.split(',').count(), 10);
        assert!(ids.split(',').all(|id| ["5", "6", "7"].contains(&id)), "{out}");
    }
}
