//! Random tables: their columns, keys and rows, with the same values in all tables now and then, so
//! that joins and comparisons find something.

use os::random::Rng;

/// What a value is: the class of types that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Decimal,
    Double,
    Text,
    Bytes,
    Date,
    Time,
    DateTime,
    Year,
    Json,
    Truth,
    Bits,
}

/// All kinds with the names that the rules use.
const KINDS: [(&str, Kind); 12] = [
    ("integer", Kind::Integer),
    ("decimal", Kind::Decimal),
    ("double", Kind::Double),
    ("text", Kind::Text),
    ("bytes", Kind::Bytes),
    ("date", Kind::Date),
    ("time", Kind::Time),
    ("datetime", Kind::DateTime),
    ("year", Kind::Year),
    ("json", Kind::Json),
    ("truth", Kind::Truth),
    ("bits", Kind::Bits),
];

/// A column of a random table.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    /// The type as it stands in the definition.
    pub words: &'static str,
    /// The least and the greatest integer that the column holds.
    range: (i128, i128),
}

/// A random table. Its first column, `id`, is the primary key and is no part of `columns`.
#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// The names of the columns that have a UNIQUE key.
    pub unique: Vec<String>,
}

/// The types of columns.
const TYPES: &[(&str, Kind)] = &[
    ("TINYINT", Kind::Integer),
    ("TINYINT UNSIGNED", Kind::Integer),
    ("SMALLINT", Kind::Integer),
    ("MEDIUMINT UNSIGNED", Kind::Integer),
    ("INT", Kind::Integer),
    ("INT", Kind::Integer),
    ("INT UNSIGNED", Kind::Integer),
    ("BIGINT", Kind::Integer),
    ("BIGINT UNSIGNED", Kind::Integer),
    ("DECIMAL(10,2)", Kind::Decimal),
    ("DECIMAL(5,0)", Kind::Decimal),
    ("DECIMAL(20,6)", Kind::Decimal),
    ("DECIMAL(8,3) UNSIGNED", Kind::Decimal),
    ("FLOAT", Kind::Double),
    ("DOUBLE", Kind::Double),
    ("CHAR(8)", Kind::Text),
    ("VARCHAR(20)", Kind::Text),
    ("VARCHAR(20)", Kind::Text),
    ("VARCHAR(20) CHARACTER SET latin1", Kind::Text),
    ("VARCHAR(10) COLLATE utf8mb4_bin", Kind::Text),
    ("VARCHAR(30) COLLATE utf8mb4_general_ci", Kind::Text),
    ("CHAR(10) COLLATE utf8mb4_0900_as_cs", Kind::Text),
    ("TEXT", Kind::Text),
    ("ENUM('a','b','abc','x')", Kind::Text),
    ("SET('a','b','x')", Kind::Text),
    ("BINARY(4)", Kind::Bytes),
    ("VARBINARY(16)", Kind::Bytes),
    ("BLOB", Kind::Bytes),
    ("DATE", Kind::Date),
    ("TIME", Kind::Time),
    ("TIME(3)", Kind::Time),
    ("DATETIME", Kind::DateTime),
    ("DATETIME(6)", Kind::DateTime),
    ("TIMESTAMP NULL", Kind::DateTime),
    ("YEAR", Kind::Year),
    ("JSON", Kind::Json),
    ("BIT(5)", Kind::Bits),
    ("BIT(64)", Kind::Bits),
];

const TEXTS: &[&str] =
    &["''", "'a'", "'A'", "'b'", "'abc'", "'ABC '", "'x'", "'1'", "'12.5'", "'-3x'", "'0'", "'2024-01-02'"];
const MORE_TEXTS: &[&str] =
    &["'\u{e9}'", "'\u{df}'", "'a b'", "'10:11:12'", "'2024-02-29 23:59:59'", "'1e2'", "' 7'", "'%'", "'z'"];
const DATES: &[&str] = &["2024-02-29", "2024-01-02", "1999-12-31", "2000-01-01", "2024-12-30", "1970-01-01"];
const TIMES: &[&str] = &["00:00:00", "10:11:12", "-01:30:00", "23:59:59.5", "100:00:01.123456", "00:00:01"];
const JSONS: &[&str] = &[
    "'1'",
    "'2.5'",
    "'\"a\"'",
    "'null'",
    "'true'",
    "'[]'",
    "'[1, \"a\", null]'",
    "'{\"a\": 1}'",
    "'{\"a\": \"x\", \"b\": [2, 3.5]}'",
    "'\"2024-01-02\"'",
];
const DECIMALS: &[&str] = &["0", "1.00", "-1.5", "2.25", "12.50", "0.005", "99.99", "-0.1", "7"];
const DOUBLES: &[&str] = &["0e0", "1e0", "-1.5e0", "2.25e0", "1e3", "0.1e0", "-7e-1", "1e10"];
const BYTES: &[&str] = &["X''", "X'61'", "X'00'", "X'FF01'", "X'616263'", "_binary'1'", "X'31322E35'"];

impl Kind {
    /// Returns the kind that the rules call by this name.
    pub fn named(name: &str) -> Option<Kind> {
        KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Returns the name that the rules use.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name).expect("all kinds have names")
    }

    /// Returns any kind.
    pub fn any(rng: &mut Rng) -> Kind {
        rng.pick(&KINDS).1
    }

    /// Returns a literal of this kind.
    pub fn literal(self, rng: &mut Rng) -> String {
        if rng.one_in(20) {
            return "NULL".to_owned();
        }
        match self {
            Kind::Integer | Kind::Bits => integer(rng, (i128::from(i64::MIN), i128::from(u64::MAX))),
            Kind::Decimal => match rng.pick(DECIMALS) {
                &"0" => "0.0".to_owned(),
                &"7" => "7.000".to_owned(),
                other => (*other).to_owned(),
            },
            Kind::Double => (*rng.pick(DOUBLES)).to_owned(),
            Kind::Text => text(rng),
            Kind::Bytes => (*rng.pick(BYTES)).to_owned(),
            Kind::Date => format!("DATE'{}'", rng.pick(DATES)),
            Kind::Time => format!("TIME'{}'", rng.pick(TIMES)),
            Kind::DateTime => format!("TIMESTAMP'{}'", moment(rng)),
            Kind::Year => {
                (*rng.pick(&["2024", "1999", "CAST(2024 AS YEAR)", "CAST(1999 AS YEAR)"])).to_owned()
            }
            Kind::Json => format!("CAST({} AS JSON)", rng.pick(JSONS)),
            Kind::Truth => (*rng.pick(&["TRUE", "FALSE"])).to_owned(),
        }
    }
}

fn text(rng: &mut Rng) -> String {
    let of = if rng.one_in(3) { MORE_TEXTS } else { TEXTS };
    (*rng.pick(of)).to_owned()
}

fn moment(rng: &mut Rng) -> String {
    let time = *rng.pick(&["00:00:00", "10:11:12", "23:59:59.5", "23:59:59.999999", "01:00:00"]);
    format!("{} {time}", rng.pick(DATES))
}

fn integer(rng: &mut Rng, (least, greatest): (i128, i128)) -> String {
    let number = match rng.below(16) {
        0 => least,
        1 => greatest,
        2 => 20_240_102,
        3 => 2024,
        4 => -1,
        5 => 100,
        _ => i128::from(rng.below(6)),
    };
    number.clamp(least, greatest).to_string()
}

impl Column {
    fn new(number: usize, (words, kind): (&'static str, Kind)) -> Column {
        let bits = match words.split(' ').next() {
            Some("TINYINT") => 8,
            Some("SMALLINT") => 16,
            Some("MEDIUMINT") => 24,
            Some("INT") => 32,
            Some("BIT(5)") => 5,
            _ => 64,
        };
        let is_unsigned = words.ends_with("UNSIGNED") || kind == Kind::Bits;
        let range = match is_unsigned {
            true => (0, (1i128 << bits) - 1),
            false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        };
        Column { name: format!("{}{number}", &kind.name()[..2]), kind, words, range }
    }

    /// Returns a value that a strict server puts into the column.
    pub fn value(&self, rng: &mut Rng) -> String {
        if rng.one_in(6) {
            return "NULL".to_owned();
        }
        let (word, last) = (self.words.split(['(', ' ']).next(), self.words.split(' ').next_back());
        match self.kind {
            Kind::Integer | Kind::Bits => integer(rng, self.range),
            Kind::Decimal if last == Some("UNSIGNED") => {
                rng.pick(DECIMALS).trim_start_matches('-').to_owned()
            }
            Kind::Decimal => (*rng.pick(DECIMALS)).to_owned(),
            Kind::Double => (*rng.pick(DOUBLES)).to_owned(),
            Kind::Text if word == Some("ENUM") => (*rng.pick(&["'a'", "'b'", "'abc'", "'x'"])).to_owned(),
            Kind::Text if word == Some("SET") => (*rng.pick(&["''", "'a'", "'b'", "'a,x'"])).to_owned(),
            Kind::Text if self.words.contains("(8)") => (*rng.pick(&TEXTS[..11])).to_owned(),
            Kind::Text if self.words.contains("(10)") => (*rng.pick(TEXTS)).to_owned(),
            Kind::Text => text(rng),
            Kind::Bytes => (*rng.pick(BYTES)).to_owned(),
            Kind::Date => format!("'{}'", rng.pick(DATES)),
            Kind::Time => format!("'{}'", rng.pick(TIMES)),
            Kind::DateTime if word == Some("TIMESTAMP") => {
                (*rng.pick(&["'2024-02-29 10:11:12'", "'1999-12-31 23:59:59'", "'2024-01-02'"])).to_owned()
            }
            Kind::DateTime => format!("'{}'", moment(rng)),
            Kind::Year => (*rng.pick(&["2024", "1999", "1970", "2000", "0"])).to_owned(),
            Kind::Json => (*rng.pick(JSONS)).to_owned(),
            Kind::Truth => unreachable!("no column is of this kind"),
        }
    }
}

/// Returns the definitions of some tables and the statements that make them.
pub fn tables(rng: &mut Rng) -> (Vec<Table>, Vec<String>) {
    let (mut tables, mut statements) = (Vec::new(), Vec::new());
    for number in 1..=3 {
        let columns: Vec<Column> =
            (0..rng.between(6, 12)).map(|at| Column::new(at as usize, *rng.pick(TYPES))).collect();
        let mut table = Table { name: format!("t{number}"), columns, unique: Vec::new() };
        statements.push(definition(&mut table, rng));
        statements.extend(rows(&table, rng));
        tables.push(table);
    }
    (tables, statements)
}

fn definition(table: &mut Table, rng: &mut Rng) -> String {
    let mut parts = vec!["id INT NOT NULL PRIMARY KEY".to_owned()];
    for column in &table.columns {
        parts.push(format!("{} {}", column.name, column.words));
    }
    for column in &table.columns {
        let prefix = if matches!(column.words, "TEXT" | "BLOB") { "(4)" } else { "" };
        if column.kind == Kind::Json || !rng.one_in(3) {
            continue;
        }
        // The rows are inserted with IGNORE, so that those with equal values stay away.
        let is_unique = prefix.is_empty() && rng.one_in(6);
        if is_unique {
            table.unique.push(column.name.clone());
        }
        parts.push(format!("{}KEY ({}{prefix})", if is_unique { "UNIQUE " } else { "" }, column.name));
    }
    let options = *rng.pick(&["", "", " COLLATE utf8mb4_general_ci", " CHARSET latin1"]);
    format!("CREATE TABLE {} ({}){options}", table.name, parts.join(", "))
}

fn rows(table: &Table, rng: &mut Rng) -> Vec<String> {
    let row = |id: u64, rng: &mut Rng| {
        let values: Vec<String> = table.columns.iter().map(|column| column.value(rng)).collect();
        format!("INSERT IGNORE INTO {} VALUES ({id}, {})", table.name, values.join(", "))
    };
    (1..=rng.between(0, 9)).map(|id| row(id, rng)).collect()
}
