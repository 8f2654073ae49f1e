//! The names that statements are made of: names of what exists at the source, according to its
//! information_schema, and names for what is to be made.

use os::random::Rng;
use testkit::grammar::{Grammar, World};
use testkit::schema::{Catalog, Column, Name, Table};

/// The classes of types. A class that stands here several times is more likely.
const CLASSES: &[&str] = &[
    "int",
    "int",
    "int",
    "int",
    "dec",
    "float",
    "bit",
    "date",
    "datetime",
    "timestamp",
    "time",
    "year",
    "char",
    "char",
    "char",
    "text",
    "bin",
    "blob",
    "enum",
    "set",
    "json",
    "geo",
    "uuid",
    "inet",
    "vector",
];
const TABLES: &[&str] = &[
    "t0",
    "t1",
    "t2",
    "t3",
    "t4",
    "t5",
    "T0",
    "select",
    "größe",
    "odd \"na`me",
    "a b",
    "x.y",
    "日本",
    "#t",
    "t%_",
];
const COLUMNS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "order",
    "c 1",
    "ü",
    "it's",
    "a\"q",
    "with`tick",
    "Mixed",
    "c\\d",
    "日",
];
const KEYS: &[&str] = &["k0", "k1", "k2", "k3", "key", "idx ü", "K`4", "with space"];
const OBJECTS: &[&str] = &["o0", "o1", "o2", "begin", "ö 3", "O`4"];

/// The subject of the next statement, and everything that exists.
pub struct Names {
    /// Everything that exists at the source.
    pub catalog: Catalog,
    /// The database that the session uses.
    pub database: String,
    /// The table that the statement is about. When the statement makes it, these are the columns
    /// that it will get.
    table: Table,
    /// The class of the column that was named last.
    class: &'static str,
}

/// Returns a name in quotes.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

impl Names {
    /// Returns the names of a source that has nothing yet.
    pub fn new() -> Names {
        let (catalog, table) = (Catalog::default(), Table::default());
        Names { catalog, database: "walk_a".to_string(), table, class: "int" }
    }

    /// Returns a quoted name, with its database if the session uses another one, and sometimes if
    /// it need not be.
    fn qualified(&self, database: &str, name: &str, rng: &mut Rng) -> String {
        if database != self.database || rng.one_in(5) {
            return format!("{}.{}", quoted(database), quoted(name));
        }
        quoted(name)
    }

    fn any_table(&self, rng: &mut Rng) -> Table {
        if self.catalog.tables.is_empty() {
            let (database, name) = (self.database.clone(), "t0".to_string());
            return Table { database, name, ..Table::default() };
        }
        rng.pick(&self.catalog.tables).clone()
    }

    /// Returns a column of the table for which `wanted` holds, or any column, or one that may not
    /// exist.
    fn column(&mut self, rng: &mut Rng, wanted: impl Fn(&Column) -> bool) -> String {
        let found: Vec<&Column> = self.table.columns.iter().filter(|column| wanted(column)).collect();
        let column = match found.is_empty() {
            false => Some(*rng.pick(&found)),
            true if self.table.columns.is_empty() => None,
            true => Some(rng.pick(&self.table.columns)),
        };
        let Some(column) = column else { return "`a`".to_string() };
        self.class = column.class;
        quoted(&column.name)
    }

    /// Returns a part of an index, with a length where there has to be one.
    fn key_part(&mut self, rng: &mut Rng) -> String {
        let name = self.column(rng, |column| column.class != "geo" && column.class != "json");
        let length = match self.class {
            "text" | "blob" => format!("({})", rng.pick(&[1, 5, 20, 100])),
            "char" | "bin" if rng.one_in(4) => format!("({})", rng.pick(&[1, 2, 4])),
            _ => String::new(),
        };
        let order = rng.pick(&["", "", "", " DESC", " ASC"]);
        format!("{name}{length}{order}")
    }

    /// Returns `(columns) VALUES (values)` for the table.
    fn values(&mut self, grammar: &Grammar, rng: &mut Rng) -> String {
        let of: Vec<Column> =
            self.table.columns.iter().filter(|column| !column.is_generated).cloned().collect();
        let of: Vec<Column> = of.into_iter().filter(|_| !rng.one_in(8)).collect();
        let names: Vec<String> = of.iter().map(|column| quoted(&column.name)).collect();
        let mut rows = Vec::new();
        for _ in 0..rng.between(1, 4) {
            let mut row = Vec::new();
            for column in &of {
                self.class = column.class;
                row.push(grammar.expand("insert_value", self, rng));
            }
            rows.push(format!("({})", row.join(", ")));
        }
        format!("({}) VALUES {}", names.join(", "), rows.join(", "))
    }

    fn of(&self, names: &[Name], rng: &mut Rng) -> String {
        match names.is_empty() {
            true => quoted(rng.pick::<&str>(OBJECTS)),
            false => {
                let of = rng.pick(names).clone();
                self.qualified(&of.database, &of.name, rng)
            }
        }
    }

    fn one_of(names: &[String], otherwise: &[&str], rng: &mut Rng) -> String {
        match names.is_empty() {
            true => quoted(rng.pick::<&str>(otherwise)),
            false => quoted(rng.pick::<String>(names)),
        }
    }
}

impl World for Names {
    fn resolve(&mut self, name: &str, grammar: &Grammar, rng: &mut Rng) -> Option<String> {
        let of_the_class = |prefix: &str, class: &str| {
            let rule = format!("{prefix}_{class}");
            if grammar.has(&rule) { rule } else { format!("{prefix}_any") }
        };
        Some(match name {
            "database" => match self.catalog.databases.is_empty() {
                true => "walk_a".to_string(),
                false => quoted(rng.pick::<String>(&self.catalog.databases)),
            },
            "use_database" => {
                let known = self.catalog.databases.clone();
                self.database =
                    if known.is_empty() { "walk_a".to_string() } else { rng.pick(&known).clone() };
                format!("USE {}", quoted(&self.database))
            }
            // These names choose the table that the statement is about.
            "table" => {
                self.table = self.any_table(rng);
                self.qualified(&self.table.database, &self.table.name, rng)
            }
            "pick_table" => {
                self.table = self.any_table(rng);
                String::new()
            }
            "new_line" => "\n".to_string(),
            "partitioned_table" => {
                let found = self.catalog.tables.iter().filter(|table| !table.partitions.is_empty());
                let found: Vec<&Table> = found.collect();
                self.table = if found.is_empty() { self.any_table(rng) } else { (*rng.pick(&found)).clone() };
                self.qualified(&self.table.database, &self.table.name, rng)
            }
            "same_table" => self.qualified(&self.table.database, &self.table.name, rng),
            "other_table" => {
                let of = self.any_table(rng);
                self.qualified(&of.database, &of.name, rng)
            }
            "new_table" => {
                let (database, name) = (self.database.clone(), rng.pick(TABLES).to_string());
                self.table = Table { database, name, ..Table::default() };
                self.qualified(&self.table.database, &self.table.name, rng)
            }
            "other_new_table" => quoted(rng.pick::<&str>(TABLES)),
            "col" => self.column(rng, |_| true),
            "written_col" => self.column(rng, |column| !column.is_generated),
            "int_col" => self.column(rng, |column| column.class == "int"),
            "number_col" => self.column(rng, |column| ["int", "dec", "float"].contains(&column.class)),
            "text_col" => self.column(rng, |column| ["char", "text"].contains(&column.class)),
            "time_col" => self.column(rng, |column| ["date", "datetime"].contains(&column.class)),
            "stamp_col" => self.column(rng, |column| ["timestamp", "datetime"].contains(&column.class)),
            "json_col" => self.column(rng, |column| column.class == "json"),
            "geo_col" => self.column(rng, |column| column.class == "geo"),
            "new_col" => {
                let name = rng.pick(COLUMNS).to_string();
                let known = |class: &&str| grammar.has(&format!("type_{class}"));
                let classes: Vec<&'static str> = CLASSES.iter().copied().filter(known).collect();
                self.class = *rng.pick(&classes);
                self.table.columns.push(Column {
                    name: name.clone(),
                    class: self.class,
                    is_generated: false,
                });
                quoted(&name)
            }
            "new_name" => quoted(rng.pick::<&str>(COLUMNS)),
            "another_class" => {
                let known = |class: &&str| grammar.has(&format!("type_{class}"));
                let classes: Vec<&'static str> = CLASSES.iter().copied().filter(known).collect();
                self.class = *rng.pick(&classes);
                String::new()
            }
            "as_int" => {
                self.class = "int";
                if let Some(last) = self.table.columns.last_mut() {
                    last.class = "int";
                }
                String::new()
            }
            "generated_mark" => {
                if let Some(last) = self.table.columns.last_mut() {
                    last.is_generated = true;
                }
                String::new()
            }
            "type" => grammar.expand(&format!("type_{}", self.class), self, rng),
            "attributes_of_class" => grammar.expand(&of_the_class("attributes", self.class), self, rng),
            "default" => grammar.expand(&of_the_class("default", self.class), self, rng),
            "made" => grammar.expand(&of_the_class("made", self.class), self, rng),
            "value" => grammar.expand(&of_the_class("value", self.class), self, rng),
            "key_part" => self.key_part(rng),
            "values" => self.values(grammar, rng),
            "key" => Names::one_of(&self.table.keys.clone(), KEYS, rng),
            "key_on_table" => {
                self.table = self.any_table(rng);
                let key = Names::one_of(&self.table.keys.clone(), KEYS, rng);
                format!("{key} ON {}", self.qualified(&self.table.database, &self.table.name, rng))
            }
            "new_key" => quoted(rng.pick::<&str>(KEYS)),
            "constraint" => Names::one_of(&self.table.constraints.clone(), KEYS, rng),
            "partition" => Names::one_of(&self.table.partitions.clone(), &["p0", "p1", "p2"], rng),
            "object" => quoted(rng.pick::<&str>(OBJECTS)),
            "any_view" => self.of(&self.catalog.views.clone(), rng),
            "any_trigger" => self.of(&self.catalog.triggers.clone(), rng),
            "any_procedure" => self.of(&self.catalog.procedures.clone(), rng),
            "any_function" => self.of(&self.catalog.functions.clone(), rng),
            "any_event" => self.of(&self.catalog.events.clone(), rng),
            _ => return None,
        })
    }
}
