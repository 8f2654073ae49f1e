//! The definitions as bytes in the dictionary. `docs/formats/commit-record.md` has them field by
//! field.

mod column;
mod entries;
mod periods;
mod shapes;

use self::column::{flag, put_column, put_forms, read_column, read_forms};
pub(crate) use self::column::{put_type, read_type};
use self::periods::{has_periods, put_periods, read_periods};
use self::shapes::{has_shapes, put_shapes, read_shapes};
use super::{
    CheckDef, ForeignKeyDef, Generated, IndexColumn, IndexDef, KeptIndex, KeptKind, KeptPart,
    ReferentialAction, SchemaDef, TableDef, partition,
};
use crate::bytes::{Put, Reader};
use crate::error::Result;
use types::TypeCode;

const VERSION: u8 = 1;
/// The version of a table with foreign keys. A table without them is written as version 1.
const WITH_FOREIGN_KEYS: u8 = 2;
/// The version of a table with columns whose numbers have a form. It also has a list of foreign
/// keys, which may be empty.
const WITH_NUMBER_FORMS: u8 = 3;
/// The version of a table with expressions, descending key parts or kept indexes. It also has a
/// list of number forms, which may be empty.
const WITH_EXPRESSIONS: u8 = 4;
/// The version of a partitioned table. It also has lists of expressions, which may be empty.
const WITH_PARTITIONS: u8 = 5;
/// The version of a table with FULLTEXT or SPATIAL indexes, geometries or vectors. It also has
/// lists of expressions, which may be empty, and the partitioning, if there is one.
const WITH_SHAPES: u8 = 6;
/// The version of a table with periods. It also has lists of shapes, which may be empty.
const WITH_PERIODS: u8 = 7;
/// The version of a table with multi-valued indexes. It also has the lists of periods, which may be
/// empty.
const WITH_ARRAYS: u8 = 8;
/// The version of a table with kept indexes that have entries. It also has the list of arrays,
/// which may be empty.
const WITH_ENTRIES: u8 = 9;

/// The referential actions by their numbers.
const ACTIONS: [ReferentialAction; 5] = [
    ReferentialAction::NoAction,
    ReferentialAction::Restrict,
    ReferentialAction::Cascade,
    ReferentialAction::SetNull,
    ReferentialAction::SetDefault,
];

/// The flags of an index.
const INVISIBLE_INDEX: u8 = 1;
const GENERATED_INDEX: u8 = 2;
const BTREE_INDEX: u8 = 4;

/// What stands before the parts of a primary key: there is none, there is one, or there is one that
/// says `USING BTREE`.
const NO_PRIMARY: u8 = 0;
const PRIMARY: u8 = 1;
const BTREE_PRIMARY: u8 = 2;

fn put_parts(out: &mut Vec<u8>, parts: &[IndexColumn]) {
    out.put_varint(parts.len() as u64);
    for part in parts {
        out.put_varint(part.column as u64);
        out.put_varint(part.prefix.map_or(0, |prefix| u64::from(prefix) + 1));
    }
}

fn read_parts(reader: &mut Reader<'_>, columns: usize) -> Result<Vec<IndexColumn>> {
    let count = reader.count()?;
    let mut parts = Vec::with_capacity(count);
    for _ in 0..count {
        let column = reader.varint()? as usize;
        if column >= columns {
            return Err(reader.impossible("key column"));
        }
        let prefix = reader.varint()?.checked_sub(1);
        let prefix = prefix.map(u32::try_from).transpose().map_err(|_| reader.impossible("key prefix"))?;
        parts.push(IndexColumn { column, prefix, descending: false });
    }
    Ok(parts)
}

fn put_foreign_key(out: &mut Vec<u8>, def: &ForeignKeyDef) {
    out.put_str(&def.name);
    out.put_str(&def.parent_schema);
    out.put_str(&def.parent_table);
    out.put_varint(def.columns.len() as u64);
    for (column, parent_column) in def.columns.iter().zip(&def.parent_columns) {
        out.put_varint(*column as u64);
        out.put_str(parent_column);
    }
    for action in [def.on_delete, def.on_update] {
        let number = ACTIONS.iter().position(|known| *known == action).expect("every action has a number");
        out.put_u8(number as u8);
    }
}

fn read_foreign_key(reader: &mut Reader<'_>, columns: usize) -> Result<ForeignKeyDef> {
    let (name, parent_schema, parent_table) = (reader.string()?, reader.string()?, reader.string()?);
    let count = reader.count()?;
    let (mut own, mut parent_columns) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        own.push(reader.varint()? as usize);
        parent_columns.push(reader.string()?);
    }
    if own.iter().any(|&column| column >= columns) {
        return Err(reader.impossible("foreign key column"));
    }
    let mut action = || {
        let number = usize::from(reader.u8()?);
        ACTIONS.get(number).copied().ok_or_else(|| reader.impossible("referential action"))
    };
    let (on_delete, on_update) = (action()?, action()?);
    Ok(ForeignKeyDef {
        name,
        columns: own,
        parent_schema,
        parent_table,
        parent_columns,
        on_delete,
        on_update,
    })
}

/// Appends a table's definition.
pub(crate) fn put_table(out: &mut Vec<u8>, def: &TableDef) {
    let version = match def.columns.iter().any(|column| column.ty.form.is_some()) {
        _ if def.kept_indexes.iter().any(|index| index.entries.is_some()) => WITH_ENTRIES,
        _ if def.columns.iter().any(|column| column.elements.is_some()) => WITH_ARRAYS,
        _ if has_periods(def) => WITH_PERIODS,
        _ if has_shapes(def) => WITH_SHAPES,
        _ if def.partitioning.is_some() => WITH_PARTITIONS,
        _ if has_expressions(def) => WITH_EXPRESSIONS,
        true => WITH_NUMBER_FORMS,
        false if def.foreign_keys.is_empty() => VERSION,
        false => WITH_FOREIGN_KEYS,
    };
    out.put_u8(version);
    out.put_str(&def.schema);
    out.put_str(&def.name);
    out.put_varint(def.columns.len() as u64);
    for column in &def.columns {
        put_column(out, column);
    }
    out.put_u8(match &def.primary {
        None => NO_PRIMARY,
        Some(_) if def.primary_using_btree => BTREE_PRIMARY,
        Some(_) => PRIMARY,
    });
    put_parts(out, def.primary.as_deref().unwrap_or_default());
    out.put_varint(def.indexes.len() as u64);
    for index in &def.indexes {
        out.put_u32(index.id);
        out.put_str(&index.name);
        out.put_bool(index.unique);
        let flags = [
            (index.invisible, INVISIBLE_INDEX),
            (index.generated, GENERATED_INDEX),
            (index.using_btree, BTREE_INDEX),
        ];
        out.put_u8(flags.into_iter().map(|(is_set, bit)| flag(is_set, bit)).sum());
        put_parts(out, &index.columns);
        out.put_str(&index.comment);
    }
    out.put_u16(def.collation);
    out.put_str(&def.comment);
    out.put_varint(def.options.len() as u64);
    for (name, value) in &def.options {
        out.put_str(name);
        out.put_str(value);
    }
    out.put_u64(def.auto_increment);
    out.put_u64(def.created_s);
    if version >= WITH_FOREIGN_KEYS {
        out.put_varint(def.foreign_keys.len() as u64);
        def.foreign_keys.iter().for_each(|foreign_key| put_foreign_key(out, foreign_key));
    }
    if version >= WITH_NUMBER_FORMS {
        put_forms(out, &def.columns);
    }
    if version >= WITH_EXPRESSIONS {
        put_expressions(out, def);
    }
    if version >= WITH_SHAPES {
        put_shapes(out, def);
        out.put_bool(def.partitioning.is_some());
    }
    if let Some(partitioning) = &def.partitioning {
        partition::put(out, partitioning);
    }
    if version >= WITH_PERIODS {
        put_periods(out, def);
    }
    if version >= WITH_ARRAYS {
        put_arrays(out, def);
    }
    if version >= WITH_ENTRIES {
        entries::put(out, def);
    }
}

/// Reads a table's definition off the front of `reader`.
pub(crate) fn read_table(reader: &mut Reader<'_>) -> Result<TableDef> {
    let version = reader.u8()?;
    if !(VERSION..=WITH_ENTRIES).contains(&version) {
        return Err(reader.impossible("version"));
    }
    let schema = reader.string()?;
    let name = reader.string()?;
    let count = reader.count()?;
    let mut columns = (0..count).map(|_| read_column(reader)).collect::<Result<Vec<_>>>()?;
    let kind_of_primary = reader.u8()?;
    if kind_of_primary > BTREE_PRIMARY {
        return Err(reader.impossible("kind of primary key"));
    }
    let primary = read_parts(reader, columns.len())?;
    let count = reader.count()?;
    let mut indexes = Vec::with_capacity(count);
    for _ in 0..count {
        let (id, name) = (reader.u32()?, reader.string()?);
        let (unique, flags) = (reader.bool()?, reader.u8()?);
        if flags & !(INVISIBLE_INDEX | GENERATED_INDEX | BTREE_INDEX) != 0 {
            return Err(reader.impossible("flags of an index"));
        }
        let (invisible, generated) = (flags & INVISIBLE_INDEX != 0, flags & GENERATED_INDEX != 0);
        let parts = read_parts(reader, columns.len())?;
        let comment = reader.string()?;
        let using_btree = flags & BTREE_INDEX != 0;
        indexes.push(IndexDef {
            id,
            name,
            unique,
            columns: parts,
            comment,
            invisible,
            generated,
            using_btree,
        });
    }
    let collation = reader.u16()?;
    let comment = reader.string()?;
    let count = reader.count()?;
    let options = (0..count).map(|_| Ok((reader.string()?, reader.string()?))).collect::<Result<Vec<_>>>()?;
    let (auto_increment, created_s) = (reader.u64()?, reader.u64()?);
    let mut foreign_keys = Vec::new();
    if version >= WITH_FOREIGN_KEYS {
        for _ in 0..reader.count()? {
            foreign_keys.push(read_foreign_key(reader, columns.len())?);
        }
    }
    if version >= WITH_NUMBER_FORMS {
        read_forms(reader, &mut columns)?;
    }
    let primary = (kind_of_primary != NO_PRIMARY).then_some(primary);
    let mut def = TableDef {
        schema,
        name,
        columns,
        primary,
        primary_using_btree: kind_of_primary == BTREE_PRIMARY,
        indexes,
        foreign_keys,
        checks: Vec::new(),
        kept_indexes: Vec::new(),
        partitioning: None,
        temporal: Default::default(),
        collation,
        comment,
        options,
        auto_increment,
        created_s,
    };
    if version >= WITH_EXPRESSIONS {
        read_expressions(reader, &mut def)?;
    }
    if version >= WITH_SHAPES {
        read_shapes(reader, &mut def)?;
    }
    if version == WITH_PARTITIONS || version >= WITH_SHAPES && reader.bool()? {
        def.partitioning = Some(partition::read(reader)?);
    }
    if version >= WITH_PERIODS {
        read_periods(reader, &mut def)?;
    }
    if version >= WITH_ARRAYS {
        read_arrays(reader, &mut def)?;
    }
    if version >= WITH_ENTRIES {
        entries::read(reader, &mut def)?;
    }
    Ok(def)
}

fn has_expressions(def: &TableDef) -> bool {
    let mut keys = def.primary.iter().chain(def.indexes.iter().map(|index| &index.columns));
    def.has_generated()
        || !def.checks.is_empty()
        || !def.kept_indexes.is_empty()
        || keys.any(|parts| parts.iter().any(|part| part.descending))
}

/// Appends generated columns and descending parts by their positions, constraints, and kept
/// indexes.
fn put_expressions(out: &mut Vec<u8>, def: &TableDef) {
    let generated = || def.columns.iter().enumerate().filter_map(|(at, c)| Some((at, c.generated.as_ref()?)));
    out.put_varint(generated().count() as u64);
    for (at, generated) in generated() {
        out.put_varint(at as u64);
        out.put_bool(generated.stored);
        out.put_str(&generated.expression);
    }
    // The primary key is key 0.
    let keys = || {
        let secondary = def.indexes.iter().enumerate().map(|(at, index)| (at + 1, &index.columns));
        def.primary.iter().map(|parts| (0, parts)).chain(secondary)
    };
    let descending = || {
        keys().flat_map(|(key, parts)| {
            let parts = parts.iter().enumerate().filter(|(_, part)| part.descending);
            parts.map(move |(part, _)| (key, part))
        })
    };
    out.put_varint(descending().count() as u64);
    for (key, part) in descending() {
        out.put_varint(key as u64);
        out.put_varint(part as u64);
    }
    out.put_varint(def.checks.len() as u64);
    for check in &def.checks {
        out.put_str(&check.name);
        out.put_str(&check.expression);
        out.put_bool(check.enforced);
        out.put_bool(check.of_column);
    }
    out.put_varint(def.kept_indexes.len() as u64);
    for index in &def.kept_indexes {
        out.put_str(&index.name);
        out.put_bool(index.unique);
        out.put_bool(index.invisible);
        out.put_str(&index.comment);
        out.put_varint(index.parts.len() as u64);
        for part in &index.parts {
            out.put_str(&part.text);
            out.put_bool(part.is_expression);
            out.put_bool(part.descending);
            out.put_varint(part.prefix.map_or(0, |prefix| u64::from(prefix) + 1));
        }
    }
}

fn read_expressions(reader: &mut Reader<'_>, def: &mut TableDef) -> Result<()> {
    for _ in 0..reader.count()? {
        let at = reader.varint()? as usize;
        let (stored, expression) = (reader.bool()?, reader.string()?);
        let Some(column) = def.columns.get_mut(at) else { return Err(reader.impossible("column")) };
        column.generated = Some(Generated { expression, stored });
    }
    for _ in 0..reader.count()? {
        let (key, part) = (reader.varint()? as usize, reader.varint()? as usize);
        let parts = match key.checked_sub(1) {
            None => def.primary.as_mut(),
            Some(at) => def.indexes.get_mut(at).map(|index| &mut index.columns),
        };
        let Some(part) = parts.and_then(|parts| parts.get_mut(part)) else {
            return Err(reader.impossible("key part"));
        };
        part.descending = true;
    }
    for _ in 0..reader.count()? {
        let (name, expression) = (reader.string()?, reader.string()?);
        let (enforced, of_column) = (reader.bool()?, reader.bool()?);
        def.checks.push(CheckDef { name, expression, enforced, of_column });
    }
    for _ in 0..reader.count()? {
        let name = reader.string()?;
        let (unique, invisible, comment) = (reader.bool()?, reader.bool()?, reader.string()?);
        let mut parts = Vec::new();
        for _ in 0..reader.count()? {
            let text = reader.string()?;
            let (is_expression, descending) = (reader.bool()?, reader.bool()?);
            let prefix = reader.varint()?.checked_sub(1).map(u32::try_from).transpose();
            let prefix = prefix.map_err(|_| reader.impossible("key prefix"))?;
            parts.push(KeptPart { text, is_expression, prefix, descending });
        }
        let kind = KeptKind::Functional;
        def.kept_indexes.push(KeptIndex { name, kind, unique, parts, comment, invisible, entries: None });
    }
    Ok(())
}

/// Appends the types of the elements of multi-valued indexes, by the positions of their columns.
fn put_arrays(out: &mut Vec<u8>, def: &TableDef) {
    let arrays =
        || def.columns.iter().enumerate().filter_map(|(at, column)| Some((at, column.elements.as_ref()?)));
    out.put_varint(arrays().count() as u64);
    for (at, elements) in arrays() {
        out.put_varint(at as u64);
        put_type(out, elements);
    }
}

fn read_arrays(reader: &mut Reader<'_>, def: &mut TableDef) -> Result<()> {
    for _ in 0..reader.count()? {
        let at = reader.varint()? as usize;
        let elements = read_type(reader)?;
        match def.columns.get_mut(at) {
            Some(column) if column.ty.code == TypeCode::Json => column.elements = Some(elements),
            _ => return Err(reader.impossible("column with elements")),
        }
    }
    Ok(())
}

/// Appends a schema's definition.
pub(crate) fn put_schema(out: &mut Vec<u8>, def: &SchemaDef) {
    out.put_u8(VERSION);
    out.put_str(&def.name);
    out.put_u16(def.collation);
}

/// Reads a schema's definition.
pub(crate) fn read_schema(reader: &mut Reader<'_>) -> Result<SchemaDef> {
    if reader.u8()? != VERSION {
        return Err(reader.impossible("version"));
    }
    Ok(SchemaDef { name: reader.string()?, collation: reader.u16()? })
}

#[cfg(test)]
mod tests {
    use super::super::{
        Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, Subpartition,
    };
    use super::*;
    use crate::definition::{ColumnDef, ColumnDefault, ColumnRoles, SystemVersioning};
    use crate::definition::{EntryRule, IndexRef, KeptEntries};
    use types::words::WordSizes;
    use types::{ColumnType, GeometryKind, NumberForm, TextForm};

    #[test]
    fn a_table_comes_back_as_it_was() {
        let mut def = TableDef::new("shop", "orders");
        def.columns.push(ColumnDef::new("id", ColumnType::bigint(true)).auto_increment());
        let mut state =
            ColumnDef::new("state", ColumnType::enumeration(vec!["new".into(), "paid".into()], 255))
                .not_null();
        state.default = Some(ColumnDefault::Literal(b"new".to_vec()));
        state.comment = "of the order".into();
        state.names_collation = true;
        def.columns.push(state);
        def.columns.push(ColumnDef::new("note", ColumnType::text(255)));
        def.primary = Some(vec![IndexColumn::whole(0)]);
        def.indexes.push(IndexDef {
            id: 9,
            name: "by_note".into(),
            unique: true,
            columns: vec![
                IndexColumn { column: 2, prefix: Some(10), descending: false },
                IndexColumn::whole(1),
            ],
            comment: String::new(),
            invisible: false,
            generated: false,
            using_btree: true,
        });
        def.options.push(("ROW_FORMAT".into(), "DYNAMIC".into()));
        comes_back(&def);
        comes_back(&TableDef { primary_using_btree: true, ..def.clone() });
        let mut formed = def.clone();
        let form = NumberForm::new(5, None, true);
        formed.columns[0].ty.form = Some(form);
        comes_back(&formed);
        formed.columns[2].ty.form = Some(NumberForm::new(7, Some(3), false));
        comes_back(&formed);
        for form in TextForm::ALL {
            formed.columns.push(ColumnDef::new(form.sql_name(), ColumnType::of_text(form)));
        }
        comes_back(&formed);
        def.foreign_keys.push(ForeignKeyDef {
            name: "of".into(),
            columns: vec![2, 0],
            parent_schema: "other".into(),
            parent_table: "parents".into(),
            parent_columns: vec!["x".into(), "y".into()],
            on_delete: ReferentialAction::SetDefault,
            on_update: ReferentialAction::Cascade,
        });
        comes_back(&def);
        def.indexes[0].columns[1].descending = true;
        def.columns[2].generated = Some(Generated { expression: "lower(`state`)".into(), stored: true });
        let check = |name: &str, enforced| CheckDef {
            name: name.into(),
            expression: "(`id` > 1)".into(),
            enforced,
            of_column: !enforced,
        };
        def.checks.extend([check("orders_chk_1", true), check("id", false)]);
        let part = |text: &str, is_expression| KeptPart {
            text: text.into(),
            is_expression,
            prefix: (!is_expression).then_some(3),
            descending: is_expression,
        };
        def.kept_indexes.push(KeptIndex {
            name: "functional_index".into(),
            kind: KeptKind::Functional,
            unique: true,
            parts: vec![part("(`id` + 1)", true), part("note", false)],
            comment: "kept".into(),
            invisible: true,
            entries: None,
        });
        comes_back(&def);
        def.partitioning = Some(partitioning());
        comes_back(&def);
        def.checks.clear();
        comes_back(&def);
        for kind in [
            KeptKind::FullText(None),
            KeptKind::FullText(Some("ngram".into())),
            KeptKind::Spatial { behind: 1 },
            KeptKind::Vector(" `M`='8'".into()),
        ] {
            def.kept_indexes.push(KeptIndex {
                name: format!("{kind:?}"),
                kind,
                unique: false,
                parts: vec![part("note", false)],
                comment: String::new(),
                invisible: false,
                entries: None,
            });
        }
        comes_back(&def);
        let sizes = WordSizes { least_chars: 4, ..WordSizes::default() };
        let words = |is_ngram| EntryRule::Words { is_ngram, sizes };
        def.kept_indexes[1].entries = Some(KeptEntries { id: 17, rule: words(false) });
        def.kept_indexes[2].entries = Some(KeptEntries { id: 3, rule: words(true) });
        comes_back(&def);
        assert_eq!(def.index_ids().collect::<Vec<_>>(), [9, 17, 3]);
        assert_eq!(def.entries_of(2), Some(IndexRef::Secondary(2)));
        assert_eq!((def.entries_of(0), def.entries_of(3)), (None, None));
        def.kept_indexes[3].entries =
            Some(KeptEntries { id: 4, rule: EntryRule::Cells(types::cells::Surface::Globe) });
        comes_back(&def);
        def.kept_indexes.iter_mut().for_each(|index| index.entries = None);
        let types = [
            ColumnType::geometry(GeometryKind::Collection, None),
            ColumnType::geometry(GeometryKind::Point, Some(4326)),
            ColumnType::vector(16_383),
        ];
        def.columns.extend(types.map(|ty| ColumnDef::new(&ty.sql_name(), ty)));
        comes_back(&def);
        def.partitioning = None;
        comes_back(&def);
        def.temporal.period = Some("app".into());
        def.temporal.without_overlaps = vec!["PRIMARY".into(), "by_note".into()];
        def.columns[0].roles.add(ColumnRoles::PERIOD_START);
        def.columns[1].roles.add(ColumnRoles::UNVERSIONED);
        comes_back(&def);
        for (name, role) in [("rs", ColumnRoles::ROW_START), ("re", ColumnRoles::ROW_END)] {
            let mut column = ColumnDef::new(name, ColumnType::timestamp(6)).not_null();
            column.roles.add(role);
            def.columns.push(column);
        }
        for implied in [false, true] {
            def.temporal.versioning = Some(SystemVersioning { implied });
            comes_back(&def);
        }
        def.partitioning = Some(partitioning());
        comes_back(&def);
        let mut array = ColumnDef::new("!hidden!k!0!0", ColumnType::json());
        array.roles.add(ColumnRoles::INDEXED_EXPRESSION);
        array.elements = Some(ColumnType::varchar(10, 309));
        def.columns.push(array);
        comes_back(&def);
    }

    fn partitioning() -> Partitioning {
        let text = str::to_owned;
        let by = PartitionFunction {
            kind: PartitionKind::Range,
            linear: false,
            algorithm_1: false,
            expression: None,
            columns: vec![text("id"), text("state")],
        };
        let sub = PartitionFunction {
            kind: PartitionKind::Hash,
            linear: true,
            algorithm_1: true,
            expression: Some(text("(`id` + 1)")),
            columns: Vec::new(),
        };
        let subpartition = Subpartition { name: text("s0"), options: Vec::new() };
        let partition = Partition {
            name: text("p0"),
            values: vec![vec![text("5"), text("MAXVALUE")]],
            options: vec![(text("COMMENT"), text("'x'"))],
            subpartitions: vec![subpartition],
        };
        Partitioning {
            by,
            form: PartitionForm::List,
            sub: Some((sub, PartitionForm::Count)),
            partitions: vec![partition],
        }
    }

    fn comes_back(def: &TableDef) {
        let mut bytes = Vec::new();
        put_table(&mut bytes, def);
        let mut reader = Reader::new(&bytes, "table definition");
        assert_eq!(read_table(&mut reader).unwrap(), *def);
        assert!(reader.is_empty());
        for len in 0..bytes.len() {
            assert!(read_table(&mut Reader::new(&bytes[..len], "table definition")).is_err());
        }
    }
}
