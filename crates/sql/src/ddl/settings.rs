//! The settings under which a definition is made, and the choice of a collation.

use crate::error::{Result, SqlError};
use engine::TableDef;
use std::sync::Arc;
use types::collation::{self, Charset};
use types::convert::{self, DateModes};
use types::words::WordSizes;
use types::{ColumnType, Zone};

/// Finds the types that indexed expressions have.
pub(crate) trait ExpressionTypes: std::fmt::Debug + Send + Sync {
    /// Returns the type of the column that an expression over the columns of `def` fills.
    ///
    /// # Errors
    /// Returns 1235 for an expression that cannot be computed here.
    fn of(&self, def: &TableDef, text: &str, settings: &DdlSettings) -> Result<ColumnType>;
}

/// The settings under which a definition is made.
#[derive(Debug, Clone)]
pub(crate) struct DdlSettings {
    /// The default collation of new tables, which is the schema's.
    pub collation: u16,
    /// The collation that `CHARACTER SET utf8mb4` stands for.
    pub utf8mb4_collation: u16,
    /// Whether strict mode is on, so that what is too large is an error.
    pub strict: bool,
    pub no_engine_substitution: bool,
    /// Whether the table is temporary. Such a table may name another engine.
    pub is_temporary: bool,
    /// The parts of `sql_mode` about dates and times.
    pub dates: DateModes,
    /// Whether 0 generates a number in a column that becomes AUTO_INCREMENT. It does unless
    /// `sql_mode` has NO_AUTO_VALUE_ON_ZERO.
    pub zero_generates: bool,
    pub zone: Zone,
    pub now_us: u64,
    /// The value of `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// The value of `restrict_fk_on_non_standard_key`: whether a foreign key has to refer to the
    /// columns of a unique key. If not, an index that begins with the columns is enough.
    pub unique_parents: bool,
    /// The value of `explicit_defaults_for_timestamp`. When it is off, TIMESTAMP columns are NOT
    /// NULL and get defaults that the statement does not name.
    pub explicit_timestamps: bool,
    /// Whether REFERENCES in a column's definition creates a foreign key.
    pub inline_references: bool,
    /// Whether the statement comes from a source. Names that only MariaDB has are mapped then, and
    /// what the source has accepted is not refused.
    pub replicated: bool,
    /// Whether that source is a MariaDB server.
    pub of_mariadb: bool,
    /// A collation of the character set that the statement was written in.
    pub client_collation: u16,
    /// The collation of literals without an introducer.
    pub literal_collation: u16,
    /// What FULLTEXT indexes take for words.
    pub word_sizes: WordSizes,
    /// Finds the types of indexed expressions. `None` keeps functional indexes without a tree.
    pub types: Option<Arc<dyn ExpressionTypes>>,
}

impl DdlSettings {
    /// Returns the modes for converting values to columns.
    pub fn conversion(&self, strict: bool) -> convert::Context {
        convert::Context { strict, zone: self.zone, dates: self.dates, of_mariadb: self.of_mariadb }
    }
}

/// Returns the name that a Croatian collation of MariaDB has here. MariaDB uses MySQL's name for
/// another order, and a name of its own for MySQL's order.
fn of_mariadb(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let (charset, language) = match name.strip_suffix("_croatian_ci") {
        Some(charset) => (charset, "croatian_mariadb"),
        None => (name.strip_suffix("_croatian_mysql561_ci")?, "croatian"),
    };
    let charset = Charset::from_name(charset)?;
    Some(format!("{}_{language}_ci", charset.name()))
}

/// Returns the collation that `CHARACTER SET` and `COLLATE` choose together, or `default` if
/// neither is given.
pub(crate) fn chosen_collation(
    charset: Option<&str>,
    collation: Option<&str>,
    default: u16,
    settings: &DdlSettings,
) -> Result<u16> {
    let unknown_charset = |name: &str| SqlError::new(1115, format!("Unknown character set: '{name}'"));
    let unknown = |name: &str| SqlError::new(1273, format!("Unknown collation: '{name}'"));
    let charset = match charset {
        // In MariaDB this is the character set of the schema, with its own default collation.
        Some("default") if settings.of_mariadb => Some(collation::charset_of(settings.collation)),
        None | Some("default") => None,
        Some(name) => Some(Charset::from_name(name).ok_or_else(|| unknown_charset(name))?),
    };
    let Some(name) = collation.filter(|name| *name != "default") else {
        return Ok(match charset {
            None => default,
            Some(Charset::Utf8mb4) => settings.utf8mb4_collation,
            Some(charset) => charset.default_collation(),
        });
    };
    // MariaDB writes `COLLATE uca1400_ai_ci` without the character set.
    let base = charset.unwrap_or_else(|| collation::charset_of(default));
    let own = settings.of_mariadb.then(|| of_mariadb(name)).flatten();
    let id = own
        .and_then(|name| crate::variables::known_collation(&name))
        .or_else(|| crate::variables::known_collation(name))
        .or_else(|| crate::variables::known_collation(&format!("{}_{name}", base.name())))
        .ok_or_else(|| unknown(name))?;
    match charset {
        Some(charset) if collation::charset_of(id) != charset => Err(SqlError::new(
            1253,
            format!("COLLATION '{name}' is not valid for CHARACTER SET '{}'", charset.name()),
        )),
        _ => Ok(id),
    }
}
