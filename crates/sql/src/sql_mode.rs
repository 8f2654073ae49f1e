//! The modes of `sql_mode`.

use crate::error::{Result, SqlError};
use crate::lexer::LexMode;
use engine::SessionContext;
use types::convert::DateModes;

/// The names of the modes by their bits, as MySQL numbers them. Bits with empty names are no longer
/// used.
const NAMES: [&str; 34] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
    "",
];

/// The bit of TIME_TRUNCATE_FRACTIONAL. `ROUND` is MariaDB's name for the opposite of this mode.
const TRUNCATE: usize = 32;
const ROUND: &str = "TIME_ROUND_FRACTIONAL";
/// The bits of modes of MariaDB whose own places have modes of MySQL.
const EMPTY_IS_NULL: u32 = SessionContext::EMPTY_STRING_IS_NULL.trailing_zeros();
const SIMULTANEOUS: u32 = SessionContext::SIMULTANEOUS_ASSIGNMENT.trailing_zeros();
/// Bits that are modes of MariaDB only, with their names.
const OF_MARIADB: [(usize, &str); 5] = [
    (4, "IGNORE_BAD_TABLE_OPTIONS"),
    (9, "ORACLE"),
    (28, "NO_AUTO_CREATE_USER"),
    (EMPTY_IS_NULL as usize, "EMPTY_STRING_IS_NULL"),
    (SIMULTANEOUS as usize, "SIMULTANEOUS_ASSIGNMENT"),
];

/// The bits of ANSI, with those of the modes that it stands for.
const ANSI: u64 = 1 << 18 | 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5;
/// The bits of TRADITIONAL, with those of the modes that it stands for.
const TRADITIONAL: u64 = 1 << 27 | 1 << 21 | 1 << 22 | 1 << 23 | 1 << 24 | 1 << 26 | 1 << 30;

/// The bits of modes that MySQL no longer has.
const GONE: u64 = 0x1003_ff00;
/// The bits that may be set in a number.
const ALL: u64 = (1 << 34) - 1;

/// A value of `sql_mode` as MySQL's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqlMode(pub u64);

impl Default for SqlMode {
    /// Returns the default of MySQL 8.
    fn default() -> SqlMode {
        SqlMode(1 << 5 | 1 << 21 | 1 << 23 | 1 << 24 | 1 << 26 | 1 << 30)
    }
}

impl SqlMode {
    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }

    pub fn lex(self) -> LexMode {
        LexMode {
            ansi_quotes: self.has(2),
            no_backslash_escapes: self.has(20),
            pipes_as_concat: self.has(1),
            real_as_float: self.has(0),
            oracle: self.has(9),
            empty_is_null: self.has(EMPTY_IS_NULL),
            of_source: false,
            of_mysql: false,
        }
    }

    pub fn only_full_group_by(self) -> bool {
        self.has(5)
    }

    pub fn no_unsigned_subtraction(self) -> bool {
        self.has(6)
    }

    pub fn no_auto_value_on_zero(self) -> bool {
        self.has(19)
    }

    pub fn no_backslash_escapes(self) -> bool {
        self.has(20)
    }

    /// Reports whether STRICT_TRANS_TABLES or STRICT_ALL_TABLES is set. The two have the same
    /// effect on tables here, as every table is transactional.
    pub fn strict(self) -> bool {
        self.has(21) || self.has(22)
    }

    /// Returns the modes that concern dates and times.
    pub fn dates(self) -> DateModes {
        DateModes {
            no_zero_in_date: self.has(23),
            no_zero_date: self.has(24),
            allow_invalid: self.has(25),
            truncate_fraction: self.has(32),
        }
    }

    /// Reports whether the assignments of an UPDATE all read the row as it was before them, which
    /// is a mode of MariaDB.
    pub fn simultaneous_assignment(self) -> bool {
        self.has(SIMULTANEOUS)
    }

    pub fn error_for_division_by_zero(self) -> bool {
        self.has(26)
    }

    /// Reports whether CHAR columns are read with the spaces up to their full length.
    pub fn pad_char_to_full_length(self) -> bool {
        self.has(31)
    }

    pub fn no_engine_substitution(self) -> bool {
        self.has(30)
    }

    /// Returns the names that MariaDB gives to these bits. The bits were converted to MySQL's when
    /// they were received.
    pub fn names_of_mariadb(self) -> String {
        let own = |bit: usize| OF_MARIADB.iter().find(|(known, _)| *known == bit).map(|(_, name)| *name);
        let name = |bit: usize| own(bit).or(NAMES.get(bit).copied()).unwrap_or_default();
        let bits = (0..TRUNCATE).chain([EMPTY_IS_NULL as usize, SIMULTANEOUS as usize]);
        let names = bits.filter(|bit| self.has(*bit as u32)).map(name);
        let rounds = (!self.has(TRUNCATE as u32)).then_some(ROUND);
        names.chain(rounds).filter(|name| !name.is_empty()).collect::<Vec<_>>().join(",")
    }

    /// Returns the modes that a number stands for.
    ///
    /// # Errors
    /// Returns 1231 for bits that no mode has, and 3899 for the bits of modes that no longer exist.
    pub fn of_bits(bits: u64) -> Result<SqlMode> {
        if bits & !ALL != 0 {
            return Err(SqlError::wrong_value_for_variable("sql_mode", bits as i64));
        }
        if bits & GONE != 0 {
            return Err(SqlError::new(3899, format!("sql_mode=0x{:08x} is not supported.", bits & GONE)));
        }
        let of = |mode: u64, bit: u32| if bits >> bit & 1 == 1 { mode } else { 0 };
        Ok(SqlMode(bits | of(ANSI, 18) | of(TRADITIONAL, 27)))
    }

    /// Returns MySQL's warnings when these modes are set.
    pub fn warnings(self) -> impl Iterator<Item = (u16, &'static str)> {
        let of_strict = [23, 24, 26].map(|bit| self.has(bit));
        let is_partial = of_strict.iter().any(|has| *has != self.strict());
        let partial = is_partial.then_some((
            3135,
            "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with strict mode. They will be merged with strict mode in a future release.",
        ));
        let padding = self.has(31).then_some((
            3090,
            "Changing sql mode 'PAD_CHAR_TO_FULL_LENGTH' is deprecated. It will be removed in a future release.",
        ));
        partial.into_iter().chain(padding)
    }

    /// Reports whether STRICT_ALL_TABLES is set, which refuses values of variables that are out of
    /// range.
    pub fn strict_all_tables(self) -> bool {
        self.has(22)
    }

    /// Reads a list of MariaDB's names. In MariaDB fractions of seconds are truncated unless the
    /// list says that they are rounded.
    ///
    /// # Errors
    /// Returns 1231 for an unknown name.
    pub fn parse_of_mariadb(text: &str) -> Result<SqlMode> {
        let (mut own, mut rest) = (1 << TRUNCATE, Vec::new());
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match OF_MARIADB.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)) {
                Some((bit, _)) => own |= 1 << bit,
                None if name.eq_ignore_ascii_case(ROUND) => own &= !(1 << TRUNCATE),
                None => rest.push(name),
            }
        }
        SqlMode::parse(&rest.join(",")).map(|mode| SqlMode(mode.0 | own))
    }

    /// Reads a comma-separated list. ANSI and TRADITIONAL set the modes that they stand for, too.
    pub fn parse(text: &str) -> Result<SqlMode> {
        let mut bits = 0;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let upper = name.to_ascii_uppercase();
            // These modes of MariaDB and of older servers have no effect here.
            if matches!(
                upper.as_str(),
                "NO_AUTO_CREATE_USER" | "SIMULTANEOUS_ASSIGNMENT" | "TIME_ROUND_FRACTIONAL"
            ) {
                continue;
            }
            let bit = NAMES.iter().position(|known| *known == upper && !known.is_empty());
            let Some(bit) = bit else { return Err(SqlError::wrong_value_for_variable("sql_mode", name)) };
            bits |= match upper.as_str() {
                "ANSI" => ANSI,
                "TRADITIONAL" => TRADITIONAL,
                _ => 1 << bit,
            };
        }
        Ok(SqlMode(bits))
    }
}

impl std::fmt::Display for SqlMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = NAMES.iter().enumerate().filter(|(bit, name)| self.has(*bit as u32) && !name.is_empty());
        f.write_str(&names.map(|(_, name)| *name).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_by_name() {
        let text = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                    ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
        assert_eq!(SqlMode::default().to_string(), text);
        assert_eq!(SqlMode::parse(text).unwrap(), SqlMode::default());
        assert!(SqlMode::parse("ansi").unwrap().lex().ansi_quotes);
        assert_eq!(SqlMode::parse("NONSENSE").unwrap_err().code, 1231);
    }

    #[test]
    fn mariadbs_names_go_there_and_back() {
        for text in [
            "",
            "NO_AUTO_CREATE_USER",
            "STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER,TIME_ROUND_FRACTIONAL",
            "ORACLE,EMPTY_STRING_IS_NULL,SIMULTANEOUS_ASSIGNMENT,TIME_ROUND_FRACTIONAL",
        ] {
            let mode = SqlMode::parse_of_mariadb(text).unwrap();
            assert_eq!(mode.lex().empty_is_null, text.contains("EMPTY"));
            assert_eq!(mode.simultaneous_assignment(), text.contains("SIMULTANEOUS"));
            assert_eq!(mode.names_of_mariadb(), text);
            assert_eq!(mode.dates().truncate_fraction, !text.contains("ROUND"));
        }
        assert_eq!(SqlMode::parse_of_mariadb("NONSENSE").unwrap_err().code, 1231);
    }
}
