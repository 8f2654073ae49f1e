//! The part of a source that is copied. It is what the new replica's filters let pass, so that
//! nothing is copied that would not be followed, and the other way round.

use clap::Arg;

/// What the filters of a channel let pass.
pub trait Choice: Send + Sync {
    /// Reports whether row events of a table are applied, and statements about it and its triggers.
    fn takes_table(&self, schema: &str, table: &str) -> bool;

    /// Reports whether statements about a whole schema are applied.
    fn takes_schema(&self, schema: &str) -> bool;

    /// Reports whether statements about routines and events of a schema are applied. Filters of
    /// tables have no say about these.
    fn takes_programs(&self, schema: &str) -> bool;

    /// Returns all rules in one text, which is empty where everything passes.
    fn text(&self) -> String;

    /// Reports whether statements about accounts are applied.
    fn takes_accounts(&self) -> bool {
        self.takes_table("mysql", "user")
    }

    /// Reports whether anything is left out.
    fn is_partial(&self) -> bool {
        !self.text().is_empty()
    }
}

/// Returns the option `--tables`.
pub fn argument() -> Arg {
    Arg::new("tables")
        .long("tables")
        .value_name("DB.*|DB.TABLE")
        .value_delimiter(',')
        .value_parser(filter_of)
        .help("Copies and follows these only; sets --replicate-do-table and --replicate-wild-do-table")
}

/// The filter that lets statements about all schemas pass. No table matches it. Without it,
/// statements about routines of a schema that was created later would fail.
pub const ALL_SCHEMAS: &str = "--replicate-wild-do-table=%.";

/// Returns the filter for one word of `--tables`, as an option of the server.
fn filter_of(word: &str) -> Result<String, String> {
    let (schema, table) = word.split_once('.').unwrap_or_default();
    if schema.is_empty() || table.is_empty() || schema.contains('*') {
        return Err("it is not of the form schema.* or schema.table".into());
    }
    let pattern = schema.replace('\\', "\\\\").replace('_', "\\_").replace('%', "\\%");
    Ok(match table {
        "*" => format!("--replicate-wild-do-table={pattern}.%"),
        _ => format!("--replicate-do-table={word}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_filters() {
        assert_eq!(filter_of("a_b.*").expect("it is a schema"), "--replicate-wild-do-table=a\\_b.%");
        assert_eq!(filter_of("a.t_1").expect("it is a table"), "--replicate-do-table=a.t_1");
        for wrong in ["a", "a.", ".t", "*.*", ""] {
            assert!(filter_of(wrong).is_err(), "{wrong}");
        }
    }
}
