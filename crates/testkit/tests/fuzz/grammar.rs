//! The grammar that makes up statements: every kind of statement, operator and function that the
//! parser knows, over small tables whose columns are known. Most statements are sound, so that the
//! server carries them out; now and then one is not.

use std::collections::VecDeque;

use os::random::Rng;

use crate::expressions::Scope;
use crate::schema::{Schema, Table};
use crate::words::{OF_A_TABLE, OTHERS, TYPES};

/// The number of tables that there may be.
const TABLES: u64 = 5;

/// The grammar of one session, which makes up its statements.
pub struct Grammar<'a> {
    pub rng: &'a mut Rng,
    /// The tables as the session last saw them.
    pub schema: Schema,
    /// The names that an expression may use.
    pub scope: Scope,
    /// The statements that come next, because they only make sense in order.
    next: VecDeque<String>,
    /// The session's number, which is part of names that all sessions see.
    session: u32,
}

impl<'a> Grammar<'a> {
    /// Makes the grammar of the session with this number.
    pub fn new(rng: &'a mut Rng, session: u32) -> Grammar<'a> {
        let (schema, scope, next) = (Schema::default(), Scope::default(), VecDeque::new());
        Grammar { rng, schema, scope, next, session }
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len() as u64) as usize]
    }

    /// Returns at least one item and at most this many, separated by commas.
    pub fn list(&mut self, most: u64, mut item: impl FnMut(&mut Self) -> String) -> String {
        let count = self.rng.between(1, most);
        (0..count).map(|_| item(self)).collect::<Vec<_>>().join(", ")
    }

    /// Returns a table that exists, if there is one.
    pub fn table(&mut self) -> Table {
        match self.schema.tables.len() as u64 {
            0 => Table { name: format!("t{}", self.rng.below(TABLES)), columns: Vec::new() },
            count => self.schema.tables[self.rng.below(count) as usize].clone(),
        }
    }

    fn definition(&mut self) -> String {
        let types: Vec<(&str, u8)> = (0..5).map(|_| self.one(&TYPES)).collect();
        let id = self.one(&[
            "id INT PRIMARY KEY AUTO_INCREMENT",
            "id INT",
            "id BIGINT UNSIGNED NOT NULL PRIMARY KEY",
        ]);
        let mut parts = vec![id.to_owned()];
        parts.extend(types.iter().enumerate().map(|(at, (ty, _))| format!("c{at} {ty}")));
        for _ in 0..self.rng.below(3) {
            let (at, is_odd) = (self.rng.below(5) as usize, self.rng.one_in(30));
            let part = match types[at].1 {
                0 if is_odd => "(3)",
                0 => "",
                1 => "(3)",
                _ if is_odd => "",
                _ => continue,
            };
            parts.push(format!("{} (c{at}{part})", self.one(&["KEY", "KEY", "UNIQUE KEY"])));
        }
        let options = self.one(&["", " DEFAULT CHARSET latin1", " DEFAULT COLLATE utf8mb4_bin"]);
        format!("({}){options}", parts.join(", "))
    }

    fn alteration(&mut self, table: &Table) -> String {
        let (at, fresh, (ty, _)) = (self.rng.below(5), self.rng.below(1000), self.one(&TYPES));
        let column = match table.columns.len() as u64 {
            0 | 1 => format!("c{at}"),
            count => table.columns[1 + self.rng.below(count - 1) as usize].name.clone(),
        };
        match self.rng.below(12) {
            0 | 1 => format!("ADD COLUMN n{fresh} {ty}"),
            2 if table.columns.len() > 4 => format!("DROP COLUMN {column}"),
            3 => format!("MODIFY {column} {ty}"),
            4 => format!("CHANGE {column} n{fresh} {ty}"),
            5 | 6 => {
                let indexed = table.columns.iter().find(|known| known.name == column);
                let part = if indexed.is_some_and(|known| known.is_long()) { "(5)" } else { "" };
                format!("ADD INDEX i{fresh} ({column}{part})")
            }
            7 => format!("DROP INDEX i{at}"),
            8 => format!("ALTER COLUMN {column} SET DEFAULT NULL"),
            9 => format!("AUTO_INCREMENT = {}", self.one(&["18446744073709551615", "7", "1000"])),
            10 => {
                format!("ADD COLUMN (n{fresh} {ty}, m{fresh} INT NOT NULL DEFAULT 3), ADD INDEX (m{fresh})")
            }
            _ => format!("COMMENT = 'comment {fresh}', ADD UNIQUE u{fresh} (id, {column})"),
        }
    }

    fn insert(&mut self, depth: u64) -> String {
        let table = self.table();
        let verb = self.one(&["INSERT", "REPLACE", "INSERT IGNORE", "INSERT"]);
        let columns: Vec<_> = table.columns.iter().filter(|_| !self.rng.one_in(12)).cloned().collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let names = names.join(", ");
        if self.rng.one_in(5) {
            let source = self.select_of(depth, columns.len().max(1) as u64, None);
            return format!("{verb} INTO {} ({names}) {source}", table.name);
        }
        self.scope = Scope::default();
        let row = |g: &mut Self| {
            let value = |g: &mut Self, at: usize| match g.rng.one_in(6) {
                true => g.expression(depth.min(2)),
                false => columns[at].value(g.rng),
            };
            let values: Vec<String> = (0..columns.len()).map(|at| value(g, at)).collect();
            format!("({})", values.join(", "))
        };
        let rows = self.list(4, row);
        let more = match (columns.last(), verb) {
            (Some(last), "INSERT") if self.rng.one_in(3) => {
                format!(" ON DUPLICATE KEY UPDATE {0} = VALUES({0})", last.name)
            }
            _ => String::new(),
        };
        format!("{verb} INTO {} ({names}) VALUES {rows}{more}", table.name)
    }

    fn update(&mut self, depth: u64) -> String {
        let table = self.table();
        self.scope = Scope::of(&table, &table.name);
        self.scope.written = Some(table.name.clone());
        let assignment = |g: &mut Self| match table.columns.len() as u64 {
            0 => "c0 = 1".to_owned(),
            count => {
                let column = &table.columns[g.rng.below(count) as usize];
                let value = if g.rng.one_in(4) { g.expression(depth) } else { column.value(g.rng) };
                format!("{} = {value}", column.name)
            }
        };
        let set = self.list(2, assignment);
        let condition = self.expression(depth);
        let ignore = self.one(&["", "IGNORE ", "IGNORE "]);
        format!("UPDATE {ignore}{} SET {set} WHERE {condition} LIMIT 5", table.name)
    }

    fn delete(&mut self, depth: u64) -> String {
        let table = self.table();
        self.scope = Scope::of(&table, &table.name);
        self.scope.written = Some(table.name.clone());
        let (condition, order) = (self.expression(depth), self.column());
        format!("DELETE FROM {} WHERE {condition} ORDER BY {order} LIMIT 3", table.name)
    }

    /// Returns a statement that reads or changes rows.
    fn of_rows(&mut self, depth: u64) -> String {
        match self.rng.below(4) {
            0 => self.select(depth, 3),
            1 => self.update(depth),
            2 => self.delete(depth),
            _ => self.insert(depth),
        }
    }

    /// Plans statements that only make sense in this order. Now and then one of them is missing.
    fn sequence(&mut self, depth: u64) {
        let id = self.session;
        let some = |g: &mut Self| -> Vec<String> {
            let count = g.rng.between(1, 4);
            (0..count).map(|_| g.of_rows(depth)).collect()
        };
        let (first, second) = (some(self), some(self));
        let line = |text: &str| vec![text.to_owned()];
        let mut parts = match self.rng.below(6) {
            0 => [line("BEGIN"), first, line("SAVEPOINT s"), second, line("ROLLBACK TO s"), line("COMMIT")]
                .concat(),
            1 => [line("SET autocommit = 0"), first, line("ROLLBACK"), second, line("SET autocommit = 1")]
                .concat(),
            2 => {
                let end = self.one(&["XA COMMIT", "XA ROLLBACK", "XA COMMIT"]);
                let [start, ended, prepared] =
                    ["START", "END", "PREPARE"].map(|verb| format!("XA {verb} 'x{id}'"));
                [vec![start], first, vec![ended, prepared, format!("{end} 'x{id}'")]].concat()
            }
            3 => {
                let tables: Vec<String> =
                    self.schema.tables.iter().map(|table| format!("{} WRITE", table.name)).collect();
                match tables.is_empty() {
                    true => first,
                    false => {
                        let lock = format!("LOCK TABLES {}", tables.join(", "));
                        [vec![lock], first, line("UNLOCK TABLES")].concat()
                    }
                }
            }
            4 => {
                let select = self.select(depth, 3);
                [line("FLUSH TABLES WITH READ LOCK"), vec![select], line("UNLOCK TABLES")].concat()
            }
            _ => {
                let text = self.select(depth, 3).replace('\\', "\\\\").replace('\'', "\\'");
                let prepare = format!("PREPARE p FROM '{text}'");
                [vec![prepare], line("EXECUTE p"), line("EXECUTE p"), line("DEALLOCATE PREPARE p")].concat()
            }
        };
        if self.rng.one_in(12) {
            let at = self.rng.below(parts.len() as u64) as usize;
            parts.remove(at);
        }
        self.next.extend(parts);
    }

    /// Drops the planned statements, because a session that was killed begins anew.
    pub fn forget(&mut self) {
        self.next.clear();
    }

    /// Returns the next statement.
    pub fn statement(&mut self) -> String {
        if let Some(next) = self.next.pop_front() {
            return next;
        }
        let depth = *self.rng.pick(&[0, 0, 1, 1, 1, 2, 2, 3, 4]);
        self.scope = Scope::default();
        let table = format!("t{}", self.rng.below(TABLES));
        if self.schema.tables.is_empty() {
            return format!("CREATE TABLE IF NOT EXISTS {table} {}", self.definition());
        }
        match self.rng.below(26) {
            0..=7 => self.select(depth, 3),
            8..=10 => self.insert(depth),
            11 | 12 => self.update(depth),
            13 => self.delete(depth),
            14 => format!("CREATE TABLE IF NOT EXISTS {table} {}", self.definition()),
            15 if self.rng.one_in(4) => {
                let definition = self.definition();
                self.next.push_back(format!("CREATE TABLE IF NOT EXISTS {table} {definition}"));
                format!("DROP TABLE IF EXISTS {table}")
            }
            16 if self.rng.one_in(2) => {
                let table = self.table();
                format!("ALTER TABLE {} {}", table.name, self.alteration(&table))
            }
            17 => format!("EXPLAIN {}", self.select(depth, 3)),
            18 => format!("SET @a = {}", self.expression(depth)),
            19 => {
                let statement = self.of_rows(depth);
                String::from_utf8_lossy(&self.rng.damaged(statement.as_bytes())).into_owned()
            }
            20 | 21 => {
                self.sequence(depth);
                self.next.pop_front().unwrap_or_else(|| "SELECT 1".to_owned())
            }
            22 => format!("{} {}", self.one(&OF_A_TABLE), self.table().name),
            23 if self.rng.one_in(6) => format!("TRUNCATE TABLE {}", self.table().name),
            _ => self.one(&OTHERS).to_owned(),
        }
    }
}
