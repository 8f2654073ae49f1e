//! Tests with random joins of two to seven tables, with NULLs and with columns of many types that
//! are compared with one another.

use crate::beside::{Both, Random};
use os::random::{Rng, test_seed};

/// The columns of each table, by the kind of their values.
const NUMBERS: &[&str] = &["id", "i", "u", "n", "x"];
const TEXTS: &[&str] = &["s", "b", "l"];
const MOMENTS: &[&str] = &["d", "m"];

const CREATES: &[&str] = &[
    "CREATE DATABASE j",
    "USE j",
    "CREATE TABLE j1 (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, n DECIMAL(5,1), x DOUBLE, \
     s VARCHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin, l VARCHAR(10) COLLATE utf8mb4_general_ci, \
     d DATE, m DATETIME, KEY (i), KEY (s))",
    "CREATE TABLE j2 (id INT PRIMARY KEY, i SMALLINT, u INT UNSIGNED, n DECIMAL(8,2), x FLOAT, \
     s VARCHAR(20), b CHAR(5) COLLATE utf8mb4_bin, l CHAR(10) COLLATE utf8mb4_general_ci, \
     d DATE, m DATETIME(3), KEY (i, n), KEY (u), KEY (d))",
    "CREATE TABLE j3 (id BIGINT UNSIGNED PRIMARY KEY, i INT NOT NULL, u INT, n DECIMAL(5,1), x DOUBLE, \
     s VARCHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin, l VARCHAR(10) COLLATE utf8mb4_general_ci, \
     d DATE, m DATETIME, UNIQUE KEY (i, id))",
    "CREATE TABLE j4 (id INT, i INT, u BIGINT, n DECIMAL(5,1), x DOUBLE, \
     s CHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin, l VARCHAR(10) COLLATE utf8mb4_general_ci, \
     d DATE NOT NULL, m DATETIME)",
];

const TABLES: u64 = 4;

/// A maker of the texts of joins.
struct Maker<'r> {
    rng: &'r mut Rng,
    /// The number of tables so far. They are called `a0`, `a1` and so on.
    tables: usize,
    most: usize,
}

impl Maker<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }

    fn table(&mut self) -> String {
        let number = self.below(TABLES) + 1;
        self.tables += 1;
        format!("j{number} a{}", self.tables - 1)
    }

    /// Returns two columns of one kind, of tables from `from` to before `to`.
    fn pair(&mut self, from: usize, to: usize) -> (String, String) {
        let kind = match self.below(8) {
            0..5 => NUMBERS,
            5 | 6 => TEXTS,
            _ => MOMENTS,
        };
        let column = |maker: &mut Self| {
            let table = from + maker.below((to - from) as u64) as usize;
            let columns = if maker.below(3) == 0 { &kind[..1] } else { kind };
            // Texts of different collations are not compared.
            let columns = if kind == TEXTS { &kind[..1] } else { columns };
            format!("a{table}.{}", maker.one_of(columns))
        };
        let pair = (column(self), column(self));
        if kind == TEXTS && self.below(2) == 0 {
            let other = self.one_of(&["b", "l"]);
            let with = |name: &str| format!("{}.{other}", name.split('.').next().unwrap_or_default());
            return (with(&pair.0), with(&pair.1));
        }
        pair
    }

    fn compare(&mut self) -> &'static str {
        self.one_of(&["=", "=", "=", "=", "<=>", "<", ">=", "<>"])
    }

    /// Returns a condition on the tables from `from` to before `to`.
    fn condition(&mut self, from: usize, to: usize, depth: usize) -> String {
        match self.below(if depth == 0 { 9 } else { 13 }) {
            0 => {
                let (column, _) = self.pair(from, to);
                let not = self.one_of(&["", "NOT "]);
                format!("{column} IS {not}NULL")
            }
            1 => {
                let table = from + self.below((to - from) as u64) as usize;
                let (column, compare) = (self.one_of(NUMBERS), self.compare());
                format!("a{table}.{column} {compare} {}", self.below(6))
            }
            2 => {
                let table = from + self.below((to - from) as u64) as usize;
                let text = self.one_of(&["a", "A", "b", "c", ""]);
                format!("a{table}.{} = '{text}'", self.one_of(TEXTS))
            }
            3 => {
                let table = from + self.below((to - from) as u64) as usize;
                format!("a{table}.{} IN ({}, {})", self.one_of(NUMBERS), self.below(4), self.below(6))
            }
            4..9 => {
                let (left, right) = self.pair(from, to);
                format!("{left} {} {right}", self.compare())
            }
            9 => {
                format!(
                    "({} OR {})",
                    self.condition(from, to, depth - 1),
                    self.condition(from, to, depth - 1)
                )
            }
            10 => format!("NOT ({})", self.condition(from, to, depth - 1)),
            _ => {
                format!(
                    "({} AND {})",
                    self.condition(from, to, depth - 1),
                    self.condition(from, to, depth - 1)
                )
            }
        }
    }

    /// Returns an equality of a column on the left side with one on the right.
    fn link(&mut self, start: usize, middle: usize) -> String {
        let kind = if self.below(4) == 0 { &MOMENTS[..1] } else { &NUMBERS[..3] };
        let (left, right) = (self.one_of(kind), self.one_of(kind));
        let one = start + self.below((middle - start) as u64) as usize;
        let other = middle + self.below((self.tables - middle) as u64) as usize;
        format!("a{one}.{left} = a{other}.{right}")
    }

    /// Returns joined tables.
    fn joined(&mut self, depth: usize) -> String {
        if depth == 0 || self.tables + 1 >= self.most {
            return self.table();
        }
        let start = self.tables;
        let left = self.joined(depth - 1);
        let middle = self.tables;
        let right = self.joined(depth - 1);
        let (left_is_join, right_is_join) = (middle > start + 1, self.tables > middle + 1);
        let kind = self.one_of(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN"]);
        let mut on = self.link(start, middle);
        if self.below(3) == 0 {
            on = format!("{on} AND {}", self.condition(start, self.tables, 1));
        }
        let left = if left_is_join && self.below(2) == 0 { format!("({left})") } else { left };
        let right = if right_is_join { format!("({right})") } else { right };
        format!("{left} {kind} {right} ON {on}")
    }

    fn statement(&mut self) -> String {
        (self.tables, self.most) = (0, 2 + self.below(6) as usize);
        let from = self.joined(3);
        let filter = match self.below(4) {
            0 => String::new(),
            1 => format!(" WHERE {}", self.condition(0, self.tables, 2)),
            _ => format!(
                " WHERE {} AND {}",
                self.condition(0, self.tables, 1),
                self.condition(0, self.tables, 1)
            ),
        };
        let items: Vec<String> = (0..self.tables)
            .map(|at| {
                let column = self.one_of(&["id", "i", "s", "d", "n"]);
                format!("a{at}.id, a{at}.{column}")
            })
            .collect();
        let straight = if self.below(6) == 0 { "STRAIGHT_JOIN " } else { "" };
        match self.below(6) {
            // Which of two equal texts is the MAX, the order of the rows decides.
            0 => format!("SELECT {straight}COUNT(*), SUM(a0.i), MAX(HEX(UPPER(a1.b))) FROM {from}{filter}"),
            _ => format!("SELECT {straight}{} FROM {from}{filter}", items.join(", ")),
        }
    }
}

fn fill(both: &mut Both, rng: &mut Rng) {
    both.forget();
    let cell = |rng: &mut Rng, column: usize| -> String {
        if rng.below(6) == 0 && column != 7 {
            return "NULL".to_owned();
        }
        let texts = ["'a'", "'A'", "'b'", "'B '", "''", "'\u{e4}'", "'c'"];
        match column {
            0 | 1 => rng.below(5).to_string(),
            2 => ["1.0", "1.5", "2", "0", "3.5"][rng.below(5) as usize].to_owned(),
            3 => ["1", "1.5", "2", "-0.0", "3.25"][rng.below(5) as usize].to_owned(),
            4..7 => texts[rng.below(texts.len() as u64) as usize].to_owned(),
            7 => format!("'2020-01-0{}'", 1 + rng.below(4)),
            _ => {
                format!("'2020-01-0{} {}'", 1 + rng.below(4), ["00:00:00", "10:00:00"][rng.below(2) as usize])
            }
        }
    };
    for table in 1..=TABLES {
        both.run(&format!("DELETE FROM j{table}"));
        for id in 0..rng.below(9) {
            let mut values: Vec<String> = (0..9).map(|column| cell(rng, column)).collect();
            if table == 3 && values[0] == "NULL" {
                "0".clone_into(&mut values[0]);
            }
            both.run(&format!("INSERT INTO j{table} VALUES ({}, {})", id + 1, values.join(", ")));
        }
    }
}

#[test]
fn random_joins_answer_as_mysqls() {
    let Some(both) = Both::start("random_joins_answer_as_mysqls", CREATES) else { return };
    let seed = test_seed("random_joins_answer_as_mysqls");
    let random = Random { seed, statements: 300, of_one_filling: 30, least_percent: 50 };
    both.ask_random(&random, fill, |rng| Maker { rng, tables: 0, most: 0 }.statement());
}
