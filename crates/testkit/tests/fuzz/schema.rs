//! The tables that exist at the moment and their columns. The grammar needs them so that most of
//! its statements mean something.

use os::random::Rng;
use protocol::client::{Client, ClientError};

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    /// The type's name as in information_schema: `varchar`, `int`.
    pub data_type: String,
    /// The type with length, sign and members: `int unsigned`, `enum('a','b')`.
    pub column_type: String,
    /// The most characters or bytes of a string. 0 for other types.
    pub length: u64,
    pub is_nullable: bool,
    pub is_key: bool,
}

/// A table and its columns.
#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
}

/// The tables as a session saw them a moment ago. Other sessions change them meanwhile.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub tables: Vec<Table>,
}

impl Schema {
    /// Reads the tables from the server.
    ///
    /// # Errors
    ///
    /// Returns the error of the query, which another session may have killed.
    pub fn read(client: &mut Client) -> Result<Schema, ClientError> {
        let rows = client.query(
            "SELECT table_name, column_name, data_type, column_type, character_maximum_length, is_nullable, \
             column_key FROM information_schema.columns WHERE table_schema = 'fuzzed' \
             ORDER BY table_name, ordinal_position",
        )?;
        let mut tables: Vec<Table> = Vec::new();
        for row in rows.rows {
            let cell =
                |at: usize| String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).into_owned();
            if tables.last().is_none_or(|table| table.name != cell(0)) {
                tables.push(Table { name: cell(0), columns: Vec::new() });
            }
            let table = tables.last_mut().expect("one was put there");
            table.columns.push(Column {
                name: cell(1),
                data_type: cell(2).to_lowercase(),
                column_type: cell(3).to_lowercase(),
                length: cell(4).parse().unwrap_or(0),
                is_nullable: cell(5) == "YES",
                is_key: !cell(6).is_empty(),
            });
        }
        Ok(Schema { tables })
    }
}

impl Column {
    /// Reports whether the column holds characters or bytes.
    pub fn is_string(&self) -> bool {
        let data_type = self.data_type.as_str();
        data_type.ends_with("char") || data_type.ends_with("binary") || self.is_long()
    }

    /// Reports whether an index can hold only a part of the column's values.
    pub fn is_long(&self) -> bool {
        self.data_type.ends_with("text") || self.data_type.ends_with("blob")
    }

    /// Returns a value that the column accepts.
    pub fn value(&self, rng: &mut Rng) -> String {
        if self.is_nullable && rng.one_in(8) {
            return "NULL".to_owned();
        }
        let small = rng.below(100);
        match self.data_type.as_str() {
            _ if self.is_string() => self.string(rng),
            // Values of keys are spread widely, so that they seldom collide.
            "int" | "bigint" | "integer" if self.is_key => rng.between(1, 1_000_000).to_string(),
            "float" | "double" if rng.one_in(2) => format!("{small}.5e{}", rng.below(20)),
            "decimal" => format!("{small}.25"),
            "bit" => (small % 2).to_string(),
            "enum" => format!("'{}'", rng.pick(&["a", "b", "c"])),
            "set" => format!("'{}'", rng.pick(&["", "x", "x,y", "z,y,x"])),
            "date" => format!("DATE'{}-{:02}-{:02}'", 1980 + small % 50, 1 + small % 12, 1 + small % 28),
            "time" => format!("'{:02}:{:02}:59.123456'", small % 24, small % 60),
            "datetime" | "timestamp" => {
                format!("'{}-05-06 07:08:{:02}.654321'", 1980 + small % 50, small % 60)
            }
            "year" => (1980 + small).to_string(),
            "json" => format!("'{{\"a\": [{small}, null]}}'"),
            _ if self.column_type.contains("unsigned") => small.to_string(),
            _ => format!("{}{small}", rng.pick(&["", "-"])),
        }
    }

    fn string(&self, rng: &mut Rng) -> String {
        let length = self.length.min(400);
        match rng.below(4) {
            0 => "''".to_owned(),
            1 => format!("REPEAT('{}', {})", rng.pick(&["x", "\u{e9}", "0"]), rng.below(length / 4 + 1)),
            2 => format!("'{}'", rng.pick(&["a", "b", "ab"])),
            _ => {
                let digits = format!("{:x}", rng.u64());
                format!("'{}'", &digits[..digits.len().min(length.max(1) as usize)])
            }
        }
    }
}
