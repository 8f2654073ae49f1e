//! Random statements that change rows. Each one changes the rows of one table only.

use os::random::Rng;
use testkit::grammar::Grammar;

use crate::expressions::{Named, Names, Scope};
use crate::schema::{Column, Table};

/// A statement, and the table whose rows it changes.
pub struct Change {
    pub text: String,
    pub table: String,
}

impl Names<'_> {
    /// Returns a statement that changes rows.
    pub fn change(&mut self, grammar: &Grammar, rng: &mut Rng) -> Change {
        let tables = self.tables;
        let table = rng.pick::<Table>(tables);
        self.written = Some(table.name.clone());
        let text = match rng.below(8) {
            0 | 1 => self.update(table, grammar, rng),
            2 => self.update_of_several(table, grammar, rng),
            3 => self.delete(table, grammar, rng),
            4 | 5 => self.insert_selected(table, grammar, rng),
            _ => self.insert(table, grammar, rng),
        };
        self.scopes.clear();
        Change { text, table: table.name.clone() }
    }

    fn own(table: &Table) -> Scope {
        let named =
            |column: &Column| Named { text: format!("{}.{}", table.name, column.name), kind: column.kind };
        Scope { columns: table.columns.iter().map(named).collect(), keys: vec![format!("{}.id", table.name)] }
    }

    /// Returns a value for a column: most often one of its own kind.
    fn assigned(&mut self, column: &Column, grammar: &Grammar, rng: &mut Rng) -> String {
        match rng.one_in(3) {
            true => column.value(rng),
            false => self.expression(column.kind, grammar, rng),
        }
    }

    fn assignments(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        // A column that is assigned twice, or read after it was assigned, is certain in MySQL too.
        let one = |names: &mut Self, rng: &mut Rng| {
            let column = rng.pick::<Column>(&table.columns);
            format!("{}.{} = {}", table.name, column.name, names.assigned(column, grammar, rng))
        };
        (0..rng.between(1, 2)).map(|_| one(self, rng)).collect::<Vec<_>>().join(", ")
    }

    fn condition(&mut self, grammar: &Grammar, rng: &mut Rng) -> String {
        match rng.below(3) {
            0 => String::new(),
            _ => format!(" WHERE {}", self.expression(crate::schema::Kind::Truth, grammar, rng)),
        }
    }

    fn update(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        self.scopes.push(Names::own(table));
        let (set, condition) = (self.assignments(table, grammar, rng), self.condition(grammar, rng));
        let ignore = *rng.pick(&["", "IGNORE "]);
        let limit = *rng.pick(&["", " LIMIT 2"]);
        format!("UPDATE {ignore}{} SET {set}{condition} ORDER BY id{limit}", table.name)
    }

    fn update_of_several(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        let mut scope = Names::own(table);
        let others: Vec<&Table> = self.tables.iter().filter(|other| other.name != table.name).collect();
        let other = *rng.pick(&others);
        scope.columns.extend(Names::own(other).columns);
        self.scopes.push(scope);
        let (set, condition) = (self.assignments(table, grammar, rng), self.condition(grammar, rng));
        // Each row meets at most one row of the other table, so that the result is certain.
        let how = *rng.pick(&["JOIN", "LEFT JOIN"]);
        format!("UPDATE {0} {how} {1} ON {0}.id = {1}.id SET {set}{condition}", table.name, other.name)
    }

    fn delete(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        self.scopes.push(Names::own(table));
        let condition = self.condition(grammar, rng);
        let limit = *rng.pick(&["", " LIMIT 3"]);
        format!("DELETE FROM {}{condition} ORDER BY id{limit}", table.name)
    }

    fn columns_of<'c>(table: &'c Table, rng: &mut Rng) -> Vec<&'c Column> {
        table.columns.iter().filter(|_| !rng.one_in(3)).collect()
    }

    fn insert(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        let columns = Names::columns_of(table, rng);
        let names: String = columns.iter().map(|column| format!(", {}", column.name)).collect();
        let row = |names: &mut Self, rng: &mut Rng| {
            let id = rng.between(5, 14);
            let values: String =
                columns.iter().map(|column| format!(", {}", names.assigned(column, grammar, rng))).collect();
            format!("({id}{values})")
        };
        let rows: Vec<String> = (0..rng.between(1, 3)).map(|_| row(self, rng)).collect();
        let verb = *rng.pick(&["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"]);
        let mut text = format!("{verb} INTO {} (id{names}) VALUES {}", table.name, rows.join(", "));
        // Several keys with equal values make it uncertain which row is changed.
        if verb == "INSERT" && table.unique.is_empty() {
            self.scopes.push(Names::own(table));
            text += &format!(" ON DUPLICATE KEY UPDATE {}", self.assignments(table, grammar, rng));
        }
        text
    }

    fn insert_selected(&mut self, table: &Table, grammar: &Grammar, rng: &mut Rng) -> String {
        let columns = Names::columns_of(table, rng);
        let names: String = columns.iter().map(|column| format!(", {}", column.name)).collect();
        let others: Vec<&Table> = self.tables.iter().filter(|other| other.name != table.name).collect();
        let other = *rng.pick(&others);
        self.scopes.push(Names::own(other));
        let values: String = columns
            .iter()
            .map(|column| format!(", {}", self.expression(column.kind, grammar, rng)))
            .collect();
        let condition = self.condition(grammar, rng);
        let verb = *rng.pick(&["INSERT", "INSERT IGNORE", "REPLACE"]);
        format!(
            "{verb} INTO {} (id{names}) SELECT {}.id + 4{values} FROM {1}{condition} ORDER BY {1}.id",
            table.name, other.name
        )
    }
}
