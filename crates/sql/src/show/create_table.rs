//! SHOW CREATE TABLE, in the format of MySQL 8.

use crate::ast::TableOptions;
use crate::attribute::ENGINE;
use crate::quoting::{quoted, text_literal as literal};
use engine::{
    ColumnDef, ColumnDefault, ColumnRoles, IndexDef, KeptIndex, KeptKind, KeptPart, RANK_OF_OTHERS, TableDef,
};
use std::borrow::Cow;
use types::{ColumnType, DateTime, TypeCode, Value, Zone, collation};

/// A secondary index in the list of all of them.
pub(crate) enum ShownIndex<'d> {
    /// An index that is maintained in a tree.
    Tree(&'d IndexDef),
    /// An index that is recorded, but not maintained.
    Kept(&'d KeptIndex),
}

/// Returns the secondary indexes in the order in which MySQL lists them.
pub(crate) fn indexes_as_shown(def: &TableDef) -> Vec<ShownIndex<'_>> {
    let trees = def.indexes.iter().enumerate();
    let trees = trees.map(|(at, index)| (def.rank(index), 2 * at + 1, ShownIndex::Tree(index)));
    let kept = def.kept_indexes.iter().map(|index| {
        let (rank, place) = match index.kind {
            // MySQL keeps expressions as hidden virtual columns, which are nullable.
            KeptKind::Functional => (if index.unique { 3 } else { RANK_OF_OTHERS + 1 }, usize::MAX),
            KeptKind::Spatial { behind } => (RANK_OF_OTHERS, 2 * behind as usize),
            KeptKind::FullText(_) => (RANK_OF_OTHERS + 2, usize::MAX),
            KeptKind::Vector(_) => (RANK_OF_OTHERS + 3, usize::MAX),
        };
        (rank, place, ShownIndex::Kept(index))
    });
    let mut all: Vec<_> = trees.chain(kept).collect();
    all.sort_by_key(|(rank, place, _)| (*rank, *place));
    all.into_iter().map(|(_, _, index)| index).collect()
}

/// What is shown behind the parts of a key of which the statement says it.
const USING_BTREE: &str = " USING BTREE";

/// Returns the line of an index that is maintained in a tree.
fn tree_line(def: &TableDef, index: &IndexDef) -> String {
    let kind = if index.unique { "UNIQUE KEY" } else { "KEY" };
    let parts = super::temporal::key_parts(def, &index.name, &index.columns);
    let using = if index.using_btree { USING_BTREE } else { "" };
    let mut line = format!("  {kind} {} ({parts}){using}", quoted(&index.name));
    if !index.comment.is_empty() {
        line.push_str(&format!(" COMMENT {}", literal(&index.comment)));
    }
    if index.invisible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    line
}

/// Returns the line of an index that is recorded, but not maintained.
fn kept_line(index: &KeptIndex) -> String {
    let part = |part: &KeptPart| {
        let text = if part.is_expression { format!("({})", part.text) } else { quoted(&part.text) };
        let prefix = part.prefix.map_or(String::new(), |prefix| format!("({prefix})"));
        format!("{text}{prefix}{}", if part.descending { " DESC" } else { "" })
    };
    let parts = index.parts.iter().map(part).collect::<Vec<_>>().join(",");
    let kind = match &index.kind {
        KeptKind::FullText(_) => "FULLTEXT KEY",
        KeptKind::Spatial { .. } => "SPATIAL KEY",
        KeptKind::Vector(_) => "VECTOR KEY",
        KeptKind::Functional if index.unique => "UNIQUE KEY",
        KeptKind::Functional => "KEY",
    };
    let mut line = format!("  {kind} {} ({parts})", quoted(&index.name));
    if !index.comment.is_empty() {
        line.push_str(&format!(" COMMENT {}", literal(&index.comment)));
    }
    if index.invisible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    if let KeptKind::FullText(Some(parser)) = &index.kind {
        line.push_str(&format!(" /*!50100 WITH PARSER {} */ ", quoted(parser)));
    }
    if let KeptKind::Vector(options) = &index.kind {
        line.push_str(options);
    }
    line
}

/// Returns the statement that creates the table, for a session in this time zone.
/// `next_auto_increment` is shown if it is greater than 1.
pub(crate) fn create_table(def: &TableDef, next_auto_increment: Option<u64>, zone: Zone) -> String {
    let line = |column| format!("  {}", column_line(def, column, zone));
    let shown = def.columns.iter().filter(|column| !def.is_hidden(column));
    let mut lines: Vec<String> = shown.map(line).collect();
    lines.extend(super::temporal::application_period(def));
    if let Some(primary) = &def.primary {
        let using = if def.primary_using_btree { USING_BTREE } else { "" };
        let parts = super::temporal::key_parts(def, "PRIMARY", primary);
        lines.push(format!("  PRIMARY KEY ({parts}){using}"));
    }
    lines.extend(indexes_as_shown(def).into_iter().map(|index| match index {
        ShownIndex::Tree(index) => tree_line(def, index),
        ShownIndex::Kept(index) => kept_line(index),
    }));
    lines.extend(super::temporal::system_period(def));
    let mut foreign_keys: Vec<_> = def.foreign_keys.iter().collect();
    foreign_keys.sort_by_key(|key| key.name.to_lowercase());
    lines.extend(foreign_keys.into_iter().map(|key| format!("  {}", key.clause(def))));
    let mut checks: Vec<_> = def.checks.iter().filter(|check| !check.of_column).collect();
    checks.sort_by_cached_key(|check| check.name.to_lowercase());
    lines.extend(checks.into_iter().map(|check| {
        let not_enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
        format!("  CONSTRAINT {} CHECK ({}){not_enforced}", quoted(&check.name), check.expression)
    }));
    let mut text = format!("CREATE TABLE {} (\n{}\n)", quoted(&def.name), lines.join(",\n"));
    let storage = |text: &mut String, place: Option<bool>| {
        for (name, before, behind, of) in TableOptions::OF_SOURCES {
            let found = def.options.iter().find(|(kept, _)| kept == name && of == place);
            text.extend(found.map(|(_, value)| format!(" {before}{value}{behind}")));
        }
    };
    storage(&mut text, Some(false));
    text.push_str(&format!(" ENGINE={}", engine_of(def)));
    if let Some(next) = next_auto_increment.filter(|next| *next > 1) {
        text.push_str(&format!(" AUTO_INCREMENT={next}"));
    }
    match def.is_sequence() {
        // MariaDB shows no character set for a sequence.
        true => text.push_str(" SEQUENCE=1"),
        false => text.push_str(&charset_of(def)),
    }
    let is_left_out = |name: &str| {
        name == ENGINE
            || TableOptions::OF_SOURCES.iter().any(|known| known.0 == name)
            || name == "SEQUENCE" && def.is_sequence()
    };
    for (name, value) in def.options.iter().filter(|(name, _)| !is_left_out(name)) {
        match TableOptions::KEPT.contains(&name.as_str()) {
            true => text.push_str(&format!(" {name}={value}")),
            // MariaDB reads this option, and MySQL takes it for a comment.
            false => text.push_str(&format!(" /*M! {name}={value} */")),
        }
    }
    storage(&mut text, None);
    if !def.comment.is_empty() {
        text.push_str(&format!(" COMMENT={}", literal(&def.comment)));
    }
    storage(&mut text, Some(true));
    if def.temporal.versioning.is_some() {
        text.push_str(" WITH SYSTEM VERSIONING");
    }
    if let Some(partitioning) = &def.partitioning {
        text.push_str(&super::partitioning::clause(partitioning));
    }
    text
}

/// Returns the default character set and collation as options of the table.
fn charset_of(def: &TableDef) -> String {
    let charset = collation::charset_of(def.collation);
    let shows_collation = charset.default_collation() != def.collation || charset.name() == "utf8mb4";
    let collation = match shows_collation {
        true => format!(" COLLATE={}", collation::name(def.collation)),
        false => String::new(),
    };
    format!(" DEFAULT CHARSET={}{collation}", charset.name())
}

/// Returns the name of the table's storage engine. It differs from `InnoDB` if the table of a
/// source names another engine.
pub(crate) fn engine_of(def: &TableDef) -> &str {
    def.options.iter().find(|(name, _)| name == ENGINE).map_or("InnoDB", |(_, engine)| engine)
}

fn column_line(def: &TableDef, column: &ColumnDef, zone: Zone) -> String {
    let ty = &column.ty;
    let mut line = format!("{} {}", quoted(&column.name), ty.sql_name());
    if ty.is_character() {
        let charset = collation::charset_of(ty.collation);
        let is_named = ty.collation != def.collation || column.names_collation;
        if is_named {
            line.push_str(&format!(" CHARACTER SET {}", charset.name()));
        }
        if is_named || ty.collation != charset.default_collation() {
            line.push_str(&format!(" COLLATE {}", collation::name(ty.collation)));
        }
    }
    if let Some(edge) = super::temporal::row_edge(column) {
        line.push_str(&edge);
        if !column.comment.is_empty() {
            line.push_str(&format!(" COMMENT {}", literal(&column.comment)));
        }
        return line;
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        line.push_str(&format!(" GENERATED ALWAYS AS ({}) {kind}", generated.expression));
    }
    let stamp = matches!(ty.code, TypeCode::Timestamp2);
    if !column.nullable {
        line.push_str(" NOT NULL");
    } else if stamp {
        line.push_str(" NULL");
    }
    if let Some(srid) = ty.srid() {
        line.push_str(&format!(" /*!80003 SRID {srid} */"));
    }
    match &column.default {
        // ALTER ... SET DEFAULT can give an AUTO_INCREMENT column a default, which is not shown.
        _ if column.generated.is_some() || column.auto_increment => {}
        None => {}
        Some(ColumnDefault::Null) if matches!(ty.code, TypeCode::Blob | TypeCode::BlobCompressed) => {}
        Some(ColumnDefault::Null) => line.push_str(" DEFAULT NULL"),
        // MariaDB has literal defaults for these columns. They are shown in the form that MySQL
        // accepts.
        Some(ColumnDefault::Literal(bytes)) if ty.is_blob() => {
            line.push_str(&format!(" DEFAULT ({})", introduced(bytes)));
        }
        Some(ColumnDefault::Literal(bytes)) if ty.code == TypeCode::Bit => {
            let bits: u64 = String::from_utf8_lossy(bytes).parse().unwrap_or(0);
            line.push_str(&format!(" DEFAULT b'{bits:b}'"));
        }
        Some(ColumnDefault::Literal(bytes)) if ty.code == TypeCode::Timestamp2 => {
            let moment = moment_in(bytes, ty, Some(zone));
            line.push_str(&format!(" DEFAULT {}", literal(&String::from_utf8_lossy(&moment))));
        }
        Some(ColumnDefault::Literal(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => line.push_str(&format!(" DEFAULT {}", literal(text))),
            Err(_) => line.push_str(&format!(" DEFAULT {}", hexadecimal(bytes))),
        },
        Some(ColumnDefault::CurrentTimestamp) => line.push_str(&format!(" DEFAULT {}", now(column))),
        Some(ColumnDefault::Expression(expression)) => line.push_str(&format!(" DEFAULT ({expression})")),
    }
    if column.roles.has(ColumnRoles::UNVERSIONED) && def.temporal.versioning.is_some() {
        line.push_str(" WITHOUT SYSTEM VERSIONING");
    }
    if column.on_update_now {
        line.push_str(&format!(" ON UPDATE {}", now(column)));
    }
    if column.auto_increment {
        line.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        line.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        line.push_str(&format!(" COMMENT {}", literal(&column.comment)));
    }
    if let Some(check) = def.checks.iter().find(|check| check.of_column && check.name == column.name) {
        line.push_str(&format!(" CHECK ({})", check.expression));
    }
    line
}

/// Returns a text in an expression, with its character set.
fn introduced(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes)
        .map_or_else(|_| hexadecimal(bytes), |text| format!("_utf8mb4{}", literal(text)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("0x{digits}")
}

/// Returns the default of a TIMESTAMP, which is stored with its offset from UTC, in the local time
/// of a zone. Without a zone, it keeps the time that was written.
pub(crate) fn moment_in<'t>(text: &'t [u8], ty: &ColumnType, zone: Option<Zone>) -> Cow<'t, [u8]> {
    let kept = types::temporal::parse::datetime(text);
    let Some((at, offset_s)) = kept.and_then(|read| Some((read.value, read.offset_seconds?))) else {
        return Cow::Borrowed(text);
    };
    let written = Zone::Offset(offset_s);
    let local = DateTime::from_unix(at.to_unix(written), at.micros, zone.unwrap_or(written));
    Cow::Owned(Value::DateTime(local).text_bytes(Some(ty)).unwrap_or_default())
}

fn now(column: &ColumnDef) -> String {
    match column.ty.fsp() {
        0 => "CURRENT_TIMESTAMP".to_owned(),
        fsp => format!("CURRENT_TIMESTAMP({fsp})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{IndexColumn, IndexDef};

    #[test]
    fn as_mysql_prints_it() {
        let mut def = TableDef::new("test", "sbtest1");
        def.columns.push(ColumnDef::new("id", ColumnType::int(false)).auto_increment());
        let mut k = ColumnDef::new("k", ColumnType::int(false)).not_null();
        k.default = Some(ColumnDefault::Literal(b"0".to_vec()));
        def.columns.push(k);
        def.columns.push(ColumnDef::new("note", ColumnType::text(8)));
        def.primary = Some(vec![IndexColumn::whole(0)]);
        def.indexes.push(IndexDef {
            id: 1,
            name: "k_1".into(),
            unique: false,
            columns: vec![IndexColumn::whole(1)],
            comment: String::new(),
            invisible: false,
            generated: false,
            using_btree: false,
        });
        assert_eq!(
            create_table(&def, Some(11), Zone::UTC),
            "CREATE TABLE `sbtest1` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `k` int NOT NULL DEFAULT '0',\n  \
             `note` text CHARACTER SET latin1 COLLATE latin1_swedish_ci,\n  PRIMARY KEY (`id`),\n  KEY `k_1` (`k`)\n\
             ) ENGINE=InnoDB AUTO_INCREMENT=11 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"
        );
    }
}
