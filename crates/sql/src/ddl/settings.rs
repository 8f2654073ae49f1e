//! What a definition is made under, and the collation that is chosen under it.

use crate::error::{Result, SqlError};
use types::Zone;
use types::collation::{self, Charset};
use types::convert::{self, DateModes};

/// What a definition is made under.
#[derive(Debug, Clone)]
pub(crate) struct DdlSettings {
    /// The default collation of new tables: the schema's.
    pub collation: u16,
    /// What the character set utf8mb4 alone stands for.
    pub utf8mb4_collation: u16,
    /// Strict mode: what is too large is an error.
    pub strict: bool,
    pub no_engine_substitution: bool,
    /// The table is a temporary one, which may say that it is of another engine.
    pub is_temporary: bool,
    /// What sql_mode says about dates and times.
    pub dates: DateModes,
    pub zone: Zone,
    pub now_us: u64,
    /// `foreign_key_checks`
    pub foreign_key_checks: bool,
    /// `explicit_defaults_for_timestamp`; without it TIMESTAMP columns are NOT NULL and have
    /// defaults that nobody wrote.
    pub explicit_timestamps: bool,
    /// REFERENCES at a column makes a foreign key.
    pub inline_references: bool,
    /// The statement comes from a source: names that only MariaDB knows are mapped, and what the
    /// source accepted is not refused for its engine.
    pub replicated: bool,
    /// That source is MariaDB.
    pub of_mariadb: bool,
    /// The character set of literals without an introducer.
    pub literal_collation: u16,
}

impl DdlSettings {
    /// How values are converted for columns.
    pub fn conversion(&self, strict: bool) -> convert::Context {
        convert::Context { strict, zone: self.zone, dates: self.dates }
    }
}

/// The name here of a collation that MariaDB has by a name of MySQL's, with another order, or by a
/// name of its own.
fn of_mariadb(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let (charset, language) = match name.strip_suffix("_croatian_ci") {
        Some(charset) => (charset, "croatian_mariadb"),
        None => (name.strip_suffix("_croatian_mysql561_ci")?, "croatian"),
    };
    let charset = Charset::from_name(charset)?;
    Some(format!("{}_{language}_ci", charset.name()))
}

/// The collation that `CHARACTER SET` and `COLLATE` name together; `default` where neither does.
pub(crate) fn chosen_collation(
    charset: Option<&str>,
    collation: Option<&str>,
    default: u16,
    settings: &DdlSettings,
) -> Result<u16> {
    let unknown_charset = |name: &str| SqlError::new(1115, format!("Unknown character set: '{name}'"));
    let unknown = |name: &str| SqlError::new(1273, format!("Unknown collation: '{name}'"));
    let charset = match charset {
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
