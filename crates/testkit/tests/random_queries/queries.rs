//! Random SELECTs: joins of every kind, derived and common tables, groups, windows, set operations.
//! The rows of each one are certain: what LIMIT takes and what a window sees follows from an order
//! in which no two rows are equal.

use os::random::Rng;
use testkit::grammar::Grammar;

use crate::expressions::{Named, Names, Scope};
use crate::schema::Kind;

/// A query and what is certain of its answer.
pub struct Query {
    pub text: String,
    /// Whether the order of the rows is certain.
    pub is_ordered: bool,
    /// Whether one row stands for several that are equal by their collations, so that it is not
    /// certain which of these the answer shows.
    pub folds: bool,
}

/// Tables and a condition that divides their rows.
pub struct Divided {
    pub from: String,
    /// The columns that tell the rows apart.
    pub keys: String,
    pub condition: String,
}

/// The parts of a SELECT from FROM to WHERE.
struct Rows {
    from: String,
    filter: String,
}

impl Names<'_> {
    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("a{}", self.aliases)
    }

    fn kinds(&mut self, most: u64, rng: &mut Rng) -> Vec<Kind> {
        (0..rng.between(1, most)).map(|_| Kind::any(rng)).collect()
    }

    /// Returns a table or a derived table, and adds its columns to `scope`.
    fn table(&mut self, scope: &mut Scope, grammar: &Grammar, rng: &mut Rng) -> String {
        if self.subqueries > 0 && rng.one_in(7) {
            let alias = self.alias();
            let kinds = self.kinds(3, rng);
            let hidden = std::mem::take(&mut self.scopes);
            let query = self.keyed(&kinds, grammar, rng);
            self.scopes = hidden;
            let named = |at: usize, kind: Kind| Named { text: format!("{alias}.x{at}"), kind };
            scope.columns.extend(kinds.iter().enumerate().map(|(at, kind)| named(at, *kind)));
            scope.keys.push(format!("{alias}.id"));
            return format!("({query}) {alias}");
        }
        self.table_alone(scope, rng)
    }

    /// Returns the query of a derived table with the columns `id`, which is unique, and `x0` and so
    /// on of these kinds.
    pub fn keyed(&mut self, kinds: &[Kind], grammar: &Grammar, rng: &mut Rng) -> String {
        self.subqueries -= 1;
        let mut scope = Scope::default();
        let table = self.table_alone(&mut scope, rng);
        self.scopes.push(scope);
        let key = self.row_key();
        let items: Vec<String> = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| format!("{} AS x{at}", self.expression(*kind, grammar, rng)))
            .collect();
        let filter = self.filter(grammar, rng);
        self.scopes.pop();
        self.subqueries += 1;
        let limit = if rng.one_in(4) { format!(" ORDER BY {key} LIMIT 4") } else { String::new() };
        format!("SELECT {key} AS id, {} FROM {table}{filter}{limit}", items.join(", "))
    }

    /// Returns a table, and adds its columns to `scope`.
    fn table_alone(&mut self, scope: &mut Scope, rng: &mut Rng) -> String {
        let alias = self.alias();
        let readable: Vec<_> =
            self.tables.iter().filter(|table| Some(&table.name) != self.written.as_ref()).collect();
        let table = *rng.pick(&readable);
        let named = |name: &str, kind: Kind| Named { text: format!("{alias}.{name}"), kind };
        scope.columns.push(named("id", Kind::Integer));
        scope.columns.extend(table.columns.iter().map(|column| named(&column.name, column.kind)));
        scope.keys.push(format!("{alias}.id"));
        format!("{} {alias}", table.name)
    }

    fn filter(&mut self, grammar: &Grammar, rng: &mut Rng) -> String {
        match rng.one_in(2) {
            true => String::new(),
            false => format!(" WHERE {}", self.expression(Kind::Truth, grammar, rng)),
        }
    }

    /// Returns FROM and WHERE of a query whose scope is pushed.
    fn rows(&mut self, most_tables: u64, grammar: &Grammar, rng: &mut Rng) -> Rows {
        let mut scope = Scope::default();
        let mut from = self.table(&mut scope, grammar, rng);
        self.scopes.push(scope);
        for _ in 1..rng.between(1, most_tables) {
            let mut wider = self.scopes.pop().expect("it was pushed");
            let right = self.table(&mut wider, grammar, rng);
            self.scopes.push(wider);
            from = self.joined(&from, &right, grammar, rng);
        }
        let filter = self.filter(grammar, rng);
        Rows { from, filter }
    }

    fn joined(&mut self, left: &str, right: &str, grammar: &Grammar, rng: &mut Rng) -> String {
        let kind = *rng.pick(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN"]);
        if kind != "STRAIGHT_JOIN" && !left.contains("JOIN") && rng.one_in(6) {
            return format!("{left} {kind} {right} USING (id)");
        }
        if rng.one_in(10) {
            return format!("{left} CROSS JOIN {right}");
        }
        let keys = &self.scopes.last().expect("a query has a scope").keys;
        let (first, last) = (keys[0].clone(), keys[keys.len() - 1].clone());
        let on = match rng.below(3) {
            0 => format!("{first} = {last}"),
            1 => {
                let kind = Kind::any(rng);
                format!("{} = {}", self.leaf(kind, rng), self.leaf(kind, rng))
            }
            _ => self.expression(Kind::Truth, grammar, rng),
        };
        format!("{left} {kind} {right} ON {on}")
    }

    /// Returns a subquery with columns of these kinds.
    pub fn subquery(&mut self, kinds: &[Kind], grammar: &Grammar, rng: &mut Rng) -> String {
        if self.subqueries == 0 {
            return format!(
                "SELECT {}",
                kinds.iter().map(|kind| kind.literal(rng)).collect::<Vec<_>>().join(", ")
            );
        }
        self.subqueries -= 1;
        let Rows { from, filter } = self.rows(2, grammar, rng);
        let items: Vec<String> = kinds.iter().map(|kind| self.expression(*kind, grammar, rng)).collect();
        self.scopes.pop();
        self.subqueries += 1;
        format!("SELECT {} FROM {from}{filter}", items.join(", "))
    }

    /// Returns a subquery of one column, with at most one row.
    pub fn scalar(&mut self, kind: Kind, grammar: &Grammar, rng: &mut Rng) -> String {
        self.subqueries -= 1;
        let Rows { from, filter } = self.rows(1, grammar, rng);
        let value = self.expression(kind, grammar, rng);
        let key = self.row_key();
        self.scopes.pop();
        self.subqueries += 1;
        match rng.below(3) {
            0 => format!("SELECT {}({value}) FROM {from}{filter}", rng.pick(&["MIN", "MAX", "COUNT"])),
            _ => format!("SELECT {value} FROM {from}{filter} ORDER BY {key} LIMIT 1"),
        }
    }

    fn item(&mut self, grammar: &Grammar, rng: &mut Rng) -> String {
        let kind = Kind::any(rng);
        self.expression(kind, grammar, rng)
    }

    /// Returns the item with an alias most of the time, because its text is its name otherwise.
    fn aliased(at: usize, item: &str, rng: &mut Rng) -> String {
        if rng.one_in(8) { item.to_owned() } else { format!("{item} AS x{at}") }
    }

    fn list(items: &[String], rng: &mut Rng) -> String {
        let aliased: Vec<String> =
            items.iter().enumerate().map(|(at, item)| Names::aliased(at, item, rng)).collect();
        aliased.join(", ")
    }

    /// Returns tables and a condition that divides their rows.
    pub fn divided(&mut self, grammar: &Grammar, rng: &mut Rng) -> Divided {
        let Rows { from, .. } = self.rows(2, grammar, rng);
        let condition = self.expression(Kind::Truth, grammar, rng);
        Divided { from, keys: self.row_key(), condition }
    }

    /// Returns a whole query.
    pub fn query(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let query = match rng.below(20) {
            0..=3 => self.grouped(grammar, rng),
            4 | 5 => self.windowed(grammar, rng),
            6 | 7 => self.united(grammar, rng),
            8 => self.common(grammar, rng),
            9 => self.constant(grammar, rng),
            10 => self.recursive(grammar, rng),
            _ => self.plain(grammar, rng),
        };
        self.scopes.clear();
        query
    }

    fn constant(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let items: Vec<String> = (0..rng.between(1, 3)).map(|_| self.item(grammar, rng)).collect();
        Query { text: format!("SELECT {}", Names::list(&items, rng)), is_ordered: true, folds: false }
    }

    fn plain(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let Rows { from, filter } = self.rows(3, grammar, rng);
        let items: Vec<String> = (0..rng.between(1, 2)).map(|_| self.item(grammar, rng)).collect();
        let distinct = rng.one_in(8);
        let verb = if distinct { "SELECT DISTINCT" } else { "SELECT" };
        let mut text = format!("{verb} {} FROM {from}{filter}", Names::list(&items, rng));
        let is_ordered = !distinct && rng.one_in(3);
        if is_ordered {
            let first = self.item(grammar, rng);
            text += &format!(" ORDER BY {first}{}, {}", rng.pick(&["", " DESC"]), self.row_key());
            text += *rng.pick(&["", " LIMIT 3", " LIMIT 1, 4"]);
        }
        Query { text, is_ordered, folds: distinct }
    }

    fn grouped(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let Rows { from, filter } = self.rows(2, grammar, rng);
        let mut keys = Vec::new();
        for _ in 0..rng.below(3) {
            let key = if rng.one_in(3) { self.item(grammar, rng) } else { self.column(rng) };
            // A plain number would be a position in the select list, and a constant is no key.
            if key.contains("a") && key.contains('.') {
                keys.push(key);
            }
        }
        let mut items = keys.clone();
        items.extend((0..rng.between(1, 3)).map(|_| grammar.expand("aggregate", self, rng)));
        let mut text = format!("SELECT {} FROM {from}{filter}", Names::list(&items, rng));
        if !keys.is_empty() {
            let rollup = if rng.one_in(4) { " WITH ROLLUP" } else { "" };
            text += &format!(" GROUP BY {}{rollup}", keys.join(", "));
        }
        if rng.one_in(5) {
            let (aggregate, number) = (grammar.expand("aggregate", self, rng), Kind::Integer.literal(rng));
            text += &format!(" HAVING {aggregate} {} {number}", rng.pick(&["<", "=", ">", "<>"]));
        }
        Query { text, is_ordered: false, folds: true }
    }

    fn windowed(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let Rows { from, filter } = self.rows(2, grammar, rng);
        let items: Vec<String> =
            (0..rng.between(1, 2)).map(|_| grammar.expand("window", self, rng)).collect();
        let text = format!("SELECT {}, {} FROM {from}{filter}", self.row_key(), Names::list(&items, rng));
        Query { text, is_ordered: false, folds: false }
    }

    fn united(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let kinds = self.kinds(2, rng);
        let mut text = String::new();
        let mut folds = false;
        for part in 0..rng.between(2, 3) {
            if part > 0 {
                let how = *rng.pick(&["UNION ALL", "UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
                folds |= how != "UNION ALL";
                text += &format!(" {how} ");
            }
            let Rows { from, filter } = self.rows(1, grammar, rng);
            let items: Vec<String> = kinds.iter().map(|kind| self.expression(*kind, grammar, rng)).collect();
            self.scopes.pop();
            text += &format!("SELECT {} FROM {from}{filter}", Names::list(&items, rng));
        }
        Query { text, is_ordered: false, folds }
    }

    fn common(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let kinds = self.kinds(3, rng);
        self.subqueries += 1;
        let made = self.keyed(&kinds, grammar, rng);
        let mut scope = Scope::default();
        let (one, other) = (self.alias(), self.alias());
        for (at, kind) in kinds.iter().enumerate() {
            scope.columns.push(Named { text: format!("{one}.x{at}"), kind: *kind });
            scope.columns.push(Named { text: format!("{other}.x{at}"), kind: *kind });
        }
        scope.keys = vec![format!("{one}.id"), format!("{other}.id")];
        self.scopes.push(scope);
        let (item, on) = (self.item(grammar, rng), self.expression(Kind::Truth, grammar, rng));
        let how = *rng.pick(&["JOIN", "LEFT JOIN"]);
        let text = format!(
            "WITH made AS ({made}) SELECT {item} AS x, {one}.x0 FROM made {one} {how} made {other} ON {on}"
        );
        Query { text, is_ordered: false, folds: false }
    }

    fn recursive(&mut self, grammar: &Grammar, rng: &mut Rng) -> Query {
        let kind = Kind::any(rng);
        let first = self.expression(kind, grammar, rng);
        self.scopes.push(Scope {
            columns: vec![
                Named { text: "made.n".to_owned(), kind: Kind::Integer },
                Named { text: "made.x".to_owned(), kind },
            ],
            keys: vec!["made.n".to_owned()],
        });
        let subqueries = std::mem::take(&mut self.subqueries);
        let next = self.expression(kind, grammar, rng);
        self.subqueries = subqueries;
        let all = *rng.pick(&["ALL", "ALL", "DISTINCT"]);
        let text = format!(
            "WITH RECURSIVE made AS (SELECT 1 AS n, {first} AS x UNION {all} SELECT n + 1, {next} FROM made \
             WHERE n < 4) SELECT n, x FROM made"
        );
        Query { text, is_ordered: false, folds: all == "DISTINCT" }
    }
}
