//! Tests with random queries that have correlated subqueries, over small tables with NULLs.

use crate::beside::{Both, Random};
use os::random::{Rng, test_seed};

/// A table that may be named, and its columns.
struct Named {
    alias: String,
    columns: &'static [&'static str],
}

const TABLES: &[(&str, &[&str])] =
    &[("t1", &["id", "a", "b"]), ("t2", &["id", "a", "c"]), ("t3", &["a", "b"]), ("t4", &["a", "d"])];

const CREATES: &[&str] = &[
    "CREATE DATABASE r",
    "USE r",
    "CREATE TABLE t1 (id INT PRIMARY KEY, a INT, b INT NOT NULL, KEY (a))",
    "CREATE TABLE t2 (id INT PRIMARY KEY, a INT, c DECIMAL(4,1), KEY (a, c))",
    "CREATE TABLE t3 (a INT, b INT, KEY (b))",
    "CREATE TABLE t4 (a BIGINT UNSIGNED NOT NULL, d DOUBLE)",
];

/// A maker of the texts of queries.
struct Maker<'r> {
    rng: &'r mut Rng,
    aliases: usize,
    /// The tables that may be named. Those of the innermost query are last.
    named: Vec<Named>,
    /// The number of tables in `named` that belong to the current query.
    own: usize,
}

impl Maker<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }

    /// Returns a column, more often of the current query than of a query around it.
    fn column(&mut self) -> String {
        let all = self.named.len() as u64;
        let own = self.own as u64;
        let at = if self.below(2) == 0 && own > 0 { all - 1 - self.below(own) } else { self.below(all) };
        let columns = self.named[at as usize].columns;
        let column = self.one_of(columns);
        format!("{}.{column}", self.named[at as usize].alias)
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(12) {
            0 => self.below(4).to_string(),
            1 => "NULL".to_owned(),
            2 => format!("{} + {}", self.column(), self.column()),
            3 | 4 if depth > 0 => format!("({})", self.scalar(depth - 1)),
            5 if depth > 0 => format!(
                "SIGN(CASE WHEN {} THEN {} ELSE {} END)",
                self.condition(depth - 1),
                self.column(),
                self.value(depth - 1)
            ),
            6 => format!("COALESCE({}, {})", self.column(), self.below(3)),
            _ => self.column(),
        }
    }

    fn compare(&mut self) -> &'static str {
        self.one_of(&["=", "<>", "<", "<=", ">", ">="])
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("{} {} {}", self.value(0), self.compare(), self.value(0));
        }
        let not = self.one_of(&["", "NOT "]);
        match self.below(14) {
            0 => format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
            1 => format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
            2 => format!("NOT ({})", self.condition(depth - 1)),
            3 => format!("{} IS NULL", self.value(depth - 1)),
            4 | 5 => format!("{not}EXISTS ({})", self.query(depth - 1, 1)),
            6 | 7 => format!("{} {not}IN ({})", self.value(depth - 1), self.query(depth - 1, 1)),
            8 => format!(
                "({}, {}) {not}IN ({})",
                self.value(depth - 1),
                self.column(),
                self.query(depth - 1, 2)
            ),
            9 | 10 => {
                let quantifier = self.one_of(&["ANY", "ALL"]);
                format!(
                    "{} {} {quantifier} ({})",
                    self.value(depth - 1),
                    self.compare(),
                    self.query(depth - 1, 1)
                )
            }
            // Both columns are of one table, because with several tables MySQL takes an outer join
            // for an inner one here.
            11 => {
                let at = self.below(self.named.len() as u64) as usize;
                let (alias, columns) = (self.named[at].alias.clone(), self.named[at].columns);
                let (a, b) = (self.one_of(columns), self.one_of(columns));
                let (compare, row) = (self.compare(), self.one_row(depth - 1));
                format!("({alias}.{a}, {alias}.{b}) {compare} ({row})")
            }
            12 => format!("({}) IS {not}TRUE", self.condition(depth - 1)),
            _ => format!("{} {} {}", self.value(depth - 1), self.compare(), self.value(depth - 1)),
        }
    }

    fn filter(&mut self, depth: usize) -> String {
        if self.below(5) == 0 { String::new() } else { format!(" WHERE {}", self.condition(depth)) }
    }

    /// Returns a query of this many columns.
    fn query(&mut self, depth: usize, columns: usize) -> String {
        let mut parts = Vec::new();
        let pieces = self.one_select(depth, columns);
        parts.push(pieces);
        if self.below(12) == 0 {
            let all = self.one_of(&["", " ALL"]);
            let second = self.one_select(depth, columns);
            parts.push(format!("UNION{all} {second}"));
        }
        parts.join(" ")
    }

    fn one_select(&mut self, depth: usize, columns: usize) -> String {
        let (from, first, around) = self.enter(depth);
        let distinct = if self.below(8) == 0 { "DISTINCT " } else { "" };
        let text = if columns == 1 && self.below(5) == 0 {
            let aggregate = self.one_of(&["COUNT", "MAX", "MIN", "SUM"]);
            let argument = self.own_column();
            let filter = self.filter(depth);
            let group =
                if self.below(2) == 0 { format!(" GROUP BY {}", self.own_column()) } else { String::new() };
            format!("SELECT {aggregate}({argument}) FROM {from}{filter}{group}")
        } else {
            let items: Vec<String> = (0..columns).map(|_| self.value(depth.min(1))).collect();
            let filter = self.filter(depth);
            format!("SELECT {distinct}{} FROM {from}{filter}", items.join(", "))
        };
        self.named.truncate(first);
        self.own = around;
        text
    }

    fn own_column(&mut self) -> String {
        let at = self.named.len() - 1 - self.below(self.own as u64) as usize;
        let columns = self.named[at].columns;
        format!("{}.{}", self.named[at].alias.clone(), self.one_of(columns))
    }

    /// Returns the text of a query's tables, which may be named from then on, and the values of
    /// `named.len()` and `own` from before.
    fn enter(&mut self, depth: usize) -> (String, usize, usize) {
        let (first, around) = (self.named.len(), self.own);
        let mut text = String::new();
        self.own = 0;
        let tables = if self.below(4) == 0 { 2 } else { 1 };
        for number in 0..tables {
            let (name, columns) = TABLES[self.below(TABLES.len() as u64) as usize];
            self.aliases += 1;
            let alias = format!("x{}", self.aliases);
            let mut source = format!("{name} {alias}");
            if depth > 0 && number == 0 && self.below(6) == 0 {
                let inner = if self.named.is_empty() || self.below(2) == 0 {
                    format!("SELECT * FROM {name}")
                } else {
                    format!("SELECT * FROM {name} WHERE {name}.a {} {}", self.compare(), self.column())
                };
                source = format!("({inner}) {alias}");
            }
            self.named.push(Named { alias: alias.clone(), columns });
            self.own += 1;
            if number == 0 {
                text = source;
                continue;
            }
            let kind = self.one_of(&["JOIN", "LEFT JOIN"]);
            let on = match self.below(3) {
                // In outer joins MySQL has taken some deeper conditions for true that are not, so
                // these are simple.
                0 if kind == "JOIN" => self.condition(depth.min(1)),
                0 => self.condition(0),
                _ => format!("{alias}.a = x{}.a", self.aliases - 1),
            };
            text = format!("{text} {kind} {source} ON {on}");
        }
        (text, first, around)
    }

    /// Returns a query of one column and at most one row.
    fn scalar(&mut self, depth: usize) -> String {
        let (from, first, around) = self.enter(depth);
        let filter = self.filter(depth);
        let aggregate = self.one_of(&["COUNT", "MAX", "MIN", "SUM"]);
        let argument = if self.below(3) == 0 { self.value(0) } else { self.own_column() };
        let own = self.own_column();
        let text = format!("SELECT {aggregate}({argument} + 0 * {own}) FROM {from}{filter}");
        self.named.truncate(first);
        self.own = around;
        text
    }

    /// Returns a query of two columns and at most one row.
    fn one_row(&mut self, depth: usize) -> String {
        let (from, first, around) = self.enter(depth);
        let filter = self.filter(depth);
        let text =
            format!("SELECT MAX({}), COUNT({}) FROM {from}{filter}", self.own_column(), self.own_column());
        self.named.truncate(first);
        self.own = around;
        text
    }

    /// Returns a whole statement.
    fn statement(&mut self) -> String {
        (self.aliases, self.own) = (0, 0);
        self.named.clear();
        let (from, ..) = self.enter(2);
        let filter = self.filter(3);
        let items: Vec<String> = (0..1 + self.below(2))
            .map(|_| match self.below(3) {
                0 => self.condition(2),
                _ => self.value(2),
            })
            .collect();
        format!("SELECT {} FROM {from}{filter}", items.join(", "))
    }
}

fn fill(both: &mut Both, rng: &mut Rng) {
    both.forget();
    let cell = |rng: &mut Rng, nullable: bool| match rng.below(5) {
        0 if nullable => "NULL".to_owned(),
        n => n.to_string(),
    };
    for (name, columns) in TABLES {
        both.run(&format!("DELETE FROM {name}"));
        for id in 0..rng.below(7) {
            let values: Vec<String> = columns
                .iter()
                .map(|column| match (*name, *column) {
                    (_, "id") => (id + 1).to_string(),
                    ("t1", "b") | ("t4", "a") => cell(rng, false),
                    (_, "c" | "d") if rng.below(2) == 0 => format!("{}.5", rng.below(3)),
                    _ => cell(rng, true),
                })
                .collect();
            both.run(&format!("INSERT INTO {name} VALUES ({})", values.join(", ")));
        }
    }
}

#[test]
fn random_subqueries_answer_as_mysqls() {
    let Some(both) = Both::start("random_subqueries_answer_as_mysqls", CREATES) else { return };
    let seed = test_seed("random_subqueries_answer_as_mysqls");
    let random = Random { seed, statements: 300, of_one_filling: 50, least_percent: 80 };
    both.ask_random(&random, fill, |rng| Maker { rng, aliases: 0, named: Vec::new(), own: 0 }.statement());
}
