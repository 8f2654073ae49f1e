//! The grammar's expressions and SELECT.

use crate::grammar::Grammar;
use crate::schema::Table;
use crate::words::{
    AGGREGATES, BINARY, CASTS, DISTINCT_AGGREGATES, EXTREMES, FUNCTIONS, LITERALS, LONG_UNITS, ODD,
    PARTICULAR, UNITS,
};

/// The names that an expression may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The columns, as they are written.
    pub columns: Vec<String>,
    /// The table that the statement changes, which its subqueries must not read.
    pub written: Option<String>,
}

impl Scope {
    /// Returns the columns of a table that goes by this alias.
    pub fn of(table: &Table, alias: &str) -> Scope {
        let columns = table.columns.iter().map(|column| format!("{alias}.{}", column.name));
        Scope { columns: columns.collect(), written: None }
    }
}

impl Grammar<'_> {
    pub fn literal(&mut self) -> String {
        if self.rng.one_in(5) { self.one(&EXTREMES).to_owned() } else { self.one(&LITERALS).to_owned() }
    }

    /// Returns a column in scope, or a literal if there is none.
    pub fn column(&mut self) -> String {
        match self.scope.columns.len() as u64 {
            0 => self.literal(),
            // Now and then the column does not exist.
            _ if self.rng.one_in(300) => format!("c{}", self.rng.below(5)),
            count => self.scope.columns[self.rng.below(count) as usize].clone(),
        }
    }

    fn unit(&mut self) -> &'static str {
        if self.rng.one_in(4) { self.one(&LONG_UNITS) } else { self.one(&UNITS) }
    }

    /// Returns an expression that is at most `depth` deep. (Another test finds out how deep an
    /// expression may be at all.)
    pub fn expression(&mut self, depth: u64) -> String {
        if depth == 0 || self.rng.one_in(5) {
            return if self.rng.one_in(2) { self.column() } else { self.literal() };
        }
        let mut inner = || self.expression(depth - 1);
        let (a, b, c) = (inner(), inner(), inner());
        match self.rng.below(22) {
            0 if self.rng.one_in(40) => format!("({a} {} {b})", self.one(&ODD)),
            0..=5 => format!("({a} {} {b})", self.one(&BINARY)),
            6 => format!("{} ({a})", self.one(&["-", "~", "!", "NOT", "+", "BINARY"])),
            7 => format!("({a} BETWEEN {b} AND {c})"),
            8 => format!("({a} {} ({b}, {c}))", self.one(&["IN", "NOT IN"])),
            9 => format!("CASE WHEN {a} THEN {b} ELSE {c} END"),
            10 => format!("CASE {a} WHEN {b} THEN {c} END"),
            11 => format!("CAST({a} AS {})", self.one(&CASTS)),
            12 => format!("({a} {} INTERVAL {b} {})", self.one(&["+", "-"]), self.unit()),
            13 => format!("EXTRACT({} FROM {a})", self.unit()),
            14 => format!("TIMESTAMP{}({}, {a}, {b})", self.one(&["ADD", "DIFF"]), self.one(&UNITS)),
            15 => format!("({} LIMIT 1)", self.plain_select(depth - 1, 1)),
            16 => format!("{} ({})", self.one(&["EXISTS", "NOT EXISTS"]), self.plain_select(depth - 1, 1)),
            17 => format!("({a} IS {}NULL)", self.one(&["", "NOT "])),
            18 => format!("TRIM({} {a} FROM {b})", self.one(&["LEADING", "TRAILING", "BOTH"])),
            19 if self.rng.one_in(2) => self.one(&PARTICULAR).to_owned(),
            // Now and then an aggregate stands where none may be.
            19 if self.rng.one_in(60) => self.aggregate(depth - 1),
            _ => self.call(depth - 1),
        }
    }

    fn call(&mut self, depth: u64) -> String {
        let names: Vec<&str> = FUNCTIONS.split_whitespace().collect();
        let (name, counts) = self.rng.pick(&names).split_once(':').expect("a function and its arguments");
        let (least, most) = counts.split_once('-').unwrap_or((counts, counts));
        let number = |text: &str| text.parse::<u64>().expect("a number of arguments");
        let mut count = self.rng.between(number(least), number(most));
        if self.rng.one_in(100) {
            count = self.rng.below(5);
        }
        let arguments: Vec<String> = (0..count).map(|_| self.expression(depth)).collect();
        format!("{name}({})", arguments.join(", "))
    }

    fn aggregate(&mut self, depth: u64) -> String {
        let a = self.expression(depth);
        match self.rng.below(5) {
            0 => {
                let separator = self.one(&["", " SEPARATOR ''", " SEPARATOR ', '"]);
                let (distinct, b) = (self.one(&["", "DISTINCT "]), self.column());
                format!("GROUP_CONCAT({distinct}{a} ORDER BY {b}{separator})")
            }
            1 => format!("{}(DISTINCT {a})", self.one(&DISTINCT_AGGREGATES)),
            2 => "COUNT(*)".to_owned(),
            _ => format!("{}({a})", self.one(&AGGREGATES)),
        }
    }

    /// Returns a table or a derived table, with an alias made from its place, and its columns with
    /// that alias.
    fn table_reference(&mut self, depth: u64, place: u64) -> (String, Vec<String>) {
        let alias = format!("a{place}");
        if depth > 0 && self.rng.one_in(6) {
            let columns = self.rng.between(1, 3);
            let select = self.select_of(depth - 1, columns, Some("x"));
            let names = (0..columns).map(|at| format!("{alias}.x{at}")).collect();
            return (format!("({select}) {alias}"), names);
        }
        let mut table = self.table();
        if self.scope.written.as_deref() == Some(table.name.as_str()) {
            let written = table.name.clone();
            let others: Vec<Table> =
                self.schema.tables.iter().filter(|other| other.name != written).cloned().collect();
            if let (Some(other), false) = (others.first(), self.rng.one_in(30)) {
                table = other.clone();
            }
        }
        let scope = Scope::of(&table, &alias);
        (format!("{} {alias}", table.name), scope.columns)
    }

    /// Returns the tables of a FROM clause, and brings their columns into scope.
    fn from(&mut self, depth: u64) -> String {
        let (mut text, columns) = self.table_reference(depth, 0);
        self.scope.columns = columns;
        let written = self.scope.written.clone();
        for place in 1..=self.rng.below(3) {
            let before = std::mem::take(&mut self.scope.columns);
            self.scope.written.clone_from(&written);
            let (right, columns) = self.table_reference(depth, place);
            let have_ids =
                place == 1 && before.iter().chain(&columns).filter(|name| name.ends_with(".id")).count() == 2;
            self.scope.columns = before;
            self.scope.columns.extend(columns);
            let how = self.one(&["JOIN", "LEFT JOIN", "JOIN", "STRAIGHT_JOIN"]);
            text = match self.rng.below(6) {
                0 if have_ids => {
                    format!("{text} {} {right} USING (id)", self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]))
                }
                1 if have_ids => {
                    format!("{text} NATURAL {} {right}", self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]))
                }
                2 if place == 1 => format!("{text} RIGHT JOIN {right} ON {}", self.expression(depth.min(2))),
                3 => format!("{text} CROSS JOIN {right}"),
                _ => format!("{text} {how} {right} ON {}", self.expression(depth.min(2))),
            };
        }
        text
    }

    /// Returns a SELECT with everything that may follow it.
    pub fn select(&mut self, depth: u64, most_columns: u64) -> String {
        let columns = self.rng.between(1, most_columns);
        self.select_of(depth, columns, None)
    }

    /// Returns a SELECT without LIMIT and locks, from which a subquery can be made.
    fn plain_select(&mut self, depth: u64, columns: u64) -> String {
        self.core(depth, columns, None)
    }

    /// Returns a SELECT of this many columns, which are named if a name is given.
    pub fn select_of(&mut self, depth: u64, columns: u64, name: Option<&str>) -> String {
        if depth > 0 && self.rng.one_in(10) {
            let how = self.one(&["UNION ALL", "UNION DISTINCT", "UNION"]);
            let (left, right) = (self.core(depth - 1, columns, name), self.core(depth - 1, columns, name));
            return format!("{left} {how} {right}");
        }
        let mut text = self.core(depth, columns, name);
        if self.rng.one_in(3) {
            text += &format!(" ORDER BY {}", self.rng.between(1, columns));
            text += self.one(&["", " ASC", " DESC"]);
        }
        if self.rng.one_in(3) {
            text += self.one(&[
                " LIMIT 0",
                " LIMIT 3",
                " LIMIT 2, 5",
                " LIMIT 18446744073709551615 OFFSET 1",
                " LIMIT 18446744073709551615, 18446744073709551615",
            ]);
        }
        if name.is_none() && text.contains(" FROM ") && self.rng.one_in(8) {
            text += self.one(&[
                " FOR UPDATE",
                " FOR SHARE SKIP LOCKED",
                " FOR UPDATE NOWAIT",
                " LOCK IN SHARE MODE",
            ]);
        }
        text
    }

    /// Returns SELECT, FROM, WHERE, GROUP BY and HAVING. The columns of the query around it are not
    /// in scope.
    fn core(&mut self, depth: u64, columns: u64, name: Option<&str>) -> String {
        let outer = self.scope.clone();
        self.scope.columns = Vec::new();
        let from = if self.rng.one_in(6) { String::new() } else { self.from(depth) };
        let groups = match from.is_empty() {
            false if self.rng.one_in(4) => {
                Some((0..self.rng.below(3)).map(|_| self.column()).collect::<Vec<_>>())
            }
            _ => None,
        };
        let mut text = format!("SELECT {}", self.one(&["", "", "", "DISTINCT ", "SQL_NO_CACHE "]));
        let items: Vec<String> = (0..columns)
            .map(|at| {
                let item = match &groups {
                    Some(groups) if !groups.is_empty() && self.rng.one_in(2) => self.rng.pick(groups).clone(),
                    Some(_) => self.aggregate(depth.min(2)),
                    None => self.expression(depth),
                };
                name.map_or(item.clone(), |name| format!("{item} AS {name}{at}"))
            })
            .collect();
        text += &items.join(", ");
        if !from.is_empty() {
            text += &format!(" FROM {from}");
            if self.rng.one_in(2) {
                text += &format!(" WHERE {}", self.expression(depth));
            }
        }
        if let Some(groups) = groups {
            if !groups.is_empty() {
                let rollup = if self.rng.one_in(40) { " WITH ROLLUP" } else { "" };
                text += &format!(" GROUP BY {}{rollup}", groups.join(", "));
            }
            if self.rng.one_in(3) {
                text += &format!(
                    " HAVING {} {} {}",
                    self.aggregate(depth.min(1)),
                    self.one(&["<", "=", ">", "<>"]),
                    self.literal()
                );
            }
        }
        self.scope = outer;
        text
    }
}
