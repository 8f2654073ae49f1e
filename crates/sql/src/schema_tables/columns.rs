//! COLUMNS, ST_GEOMETRY_COLUMNS and STATISTICS of information_schema.

use super::declared::find as declared;
use super::default_text::{default_of, escaped, now_text};
use super::definition::{Definition, Dictionary, Rows};
use super::view_columns;
use crate::error::Result;
use crate::expr::functions::SYSTEMS;
use crate::host::Sight;
use crate::memory::closes_connection;
use crate::result_column::made_type;
use crate::show::{ShownIndex, indexes_as_shown};
use crate::sink::ColumnMeta;
use engine::{
    ColumnDef, ColumnDefault, ColumnRoles, IndexColumn, IndexDef, IndexRef, KeptIndex, KeptKind, ObjectDef,
    ObjectKind, Table,
};
use types::{ColumnType, TypeCode, Value, collation};

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "COLUMNS", fill: columns },
    Definition { name: "ST_GEOMETRY_COLUMNS", fill: geometry_columns },
    Definition { name: "STATISTICS", fill: statistics },
];

fn text(text: &str) -> Value {
    Value::text(text)
}

/// Returns `PRI`, `UNI`, `MUL` or nothing for a column.
pub(crate) fn key_of(table: &Table, at: usize) -> &'static str {
    let flags = crate::result_column::column_flags(table, at);
    // Without a primary key, the first unique key without nullable columns takes its place.
    let stands_in = table.def.primary.is_none().then(|| {
        let mut unique = table.def.indexes.iter().filter(|index| index.unique);
        unique.find(|index| index.columns.iter().all(|part| !table.def.columns[part.column].nullable))
    });
    if let Some(Some(index)) = stands_in
        && index.columns.iter().any(|part| part.column == at)
    {
        return "PRI";
    }
    match flags {
        _ if flags & crate::column_flag::PRI_KEY != 0 => "PRI",
        _ if flags & crate::column_flag::UNIQUE_KEY != 0 => "UNI",
        _ if flags & crate::column_flag::MULTIPLE_KEY != 0 => "MUL",
        _ if starts_kept_index(table, at) => "MUL",
        _ => "",
    }
}

/// Reports whether a FULLTEXT or SPATIAL index starts with the column.
fn starts_kept_index(table: &Table, at: usize) -> bool {
    let name = &table.def.columns[at].name;
    let mut special = table.def.kept_indexes.iter().filter(|index| index.kind != KeptKind::Functional);
    special.any(|index| index.parts.first().is_some_and(|part| part.text == *name))
}

/// Returns the text of EXTRA, such as `auto_increment` or `DEFAULT_GENERATED on update
/// CURRENT_TIMESTAMP`.
pub(crate) fn extra_of(column: &ColumnDef) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_owned());
    }
    if matches!(column.default, Some(ColumnDefault::CurrentTimestamp | ColumnDefault::Expression(_))) {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", now_text(column)));
    }
    if column.roles.is_of_row() {
        parts.push("STORED GENERATED".to_owned());
    }
    if column.roles.has(ColumnRoles::UNVERSIONED) {
        parts.push("WITHOUT SYSTEM VERSIONING".to_owned());
    }
    if let Some(generated) = &column.generated {
        parts.push(if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_owned());
    }
    if column.invisible {
        parts.push("INVISIBLE".to_owned());
    }
    parts.join(" ")
}

fn columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let wanted = dictionary.asked.wanted;
    for table in dictionary.tables() {
        if !wanted(&table.def.schema, &table.def.name)? {
            continue;
        }
        for (at, column) in table.def.columns.iter().enumerate() {
            if !table.def.is_hidden(column) && dictionary.sees_column(&table, &column.name) {
                rows.push(column_row(dictionary.host, &table, at, column))?;
            }
        }
    }
    let views = dictionary.engine.catalog().all_objects(ObjectKind::View);
    views.iter().try_for_each(|view| columns_of_view(dictionary, &view.def, rows))?;
    for (schema, table) in dictionary.computed_tables() {
        if !wanted(schema, &table)? {
            continue;
        }
        for (at, column) in
            (dictionary.computed.columns)(dictionary.host, schema, &table).iter().flatten().enumerate()
        {
            rows.push(computed_column_row(dictionary, (schema, &table), at, column))?;
        }
    }
    Ok(())
}

/// Returns the row of COLUMNS of a column of a table that is computed when it is read.
fn computed_column_row(
    dictionary: &Dictionary<'_>,
    (schema, table): (&str, &str),
    at: usize,
    column: &ColumnMeta,
) -> Vec<Value> {
    let held = match schema {
        "information_schema" => "select".to_owned(),
        _ => dictionary.host.column_privileges(schema, table, &column.name),
    };
    let is_nullable = view_columns::is_nullable(column);
    let mut row = vec![
        text("def"),
        text(schema),
        text(table),
        text(&column.name),
        Value::UInt(at as u64 + 1),
        Value::Null,
        text(if is_nullable { "YES" } else { "NO" }),
    ];
    row.extend(type_values(&column.ty));
    let (mut key, mut comment) = ("", "");
    if let Some((of, declared)) = declared(schema, table).and_then(|of| Some((of, of.columns.get(at)?))) {
        row[5] = declared.default.map_or(Value::Null, text);
        (key, comment) = (of.key_of(declared.name), declared.comment);
    }
    row.extend([text(key), text(""), text(&held), text(comment), text(""), Value::Null]);
    row
}

/// The error of an interrupted statement (`ER_QUERY_INTERRUPTED`).
const INTERRUPTED: u16 = 1317;

/// Adds the columns of a view. A view whose query cannot be bound has none, because one of its
/// tables is missing or it needs something that this server lacks. MySQL warns of it (1356) if the
/// rest of the statement asks for this view, which is not known here.
fn columns_of_view(dictionary: &Dictionary<'_>, view: &ObjectDef, rows: &mut Rows<'_>) -> Result<()> {
    if !(dictionary.asked.wanted)(&view.schema, &view.name)?
        || !dictionary.sees(Sight::Table(&view.schema, &view.name))
    {
        return Ok(());
    }
    let columns = match (dictionary.asked.columns_of_view)(view) {
        Ok(columns) => columns,
        // These errors end the statement itself.
        Err(error) if error.code == INTERRUPTED || closes_connection(&error) => return Err(error),
        Err(_) => return Ok(()),
    };
    for (at, column) in columns.iter().enumerate() {
        if dictionary.sees(Sight::Column(&view.schema, &view.name, &column.name)) {
            rows.push(view_column_row(dictionary, view, at, column))?;
        }
    }
    Ok(())
}

fn view_column_row(
    dictionary: &Dictionary<'_>,
    view: &ObjectDef,
    at: usize,
    column: &ColumnMeta,
) -> Vec<Value> {
    let (default, comment) = view_columns::default_and_comment(dictionary.engine, column);
    let held = dictionary.host.column_privileges(&view.schema, &view.name, &column.name);
    let mut row = vec![
        text("def"),
        text(&view.schema),
        text(&view.name),
        text(&column.name),
        Value::UInt(at as u64 + 1),
        default,
        text(if view_columns::is_nullable(column) { "YES" } else { "NO" }),
    ];
    row.extend(type_values(&made_type(column)));
    row.extend([text(""), text(""), text(&held), comment, text(""), Value::Null]);
    row
}

/// Returns the name of a spatial reference system that the functions here know.
fn srs_name(srid: u32) -> Option<&'static str> {
    SYSTEMS.iter().find(|system| system.srid == srid).map(|system| system.name)
}

fn geometry_columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        for column in table.def.columns.iter().filter(|column| column.ty.code == TypeCode::Geometry) {
            if !dictionary.sees_column(&table, &column.name) {
                continue;
            }
            let srid = column.ty.srid();
            rows.push(vec![
                text("def"),
                text(&table.def.schema),
                text(&table.def.name),
                text(&column.name),
                srid.and_then(srs_name).map_or(Value::Null, text),
                srid.map_or(Value::Null, |srid| Value::UInt(u64::from(srid))),
                text(&column.ty.sql_name()),
            ])?;
        }
    }
    Ok(())
}

/// Returns `ROW START`, `ROW END`, or the expression of a generated column.
fn generation_of(column: &ColumnDef) -> String {
    match () {
        _ if column.roles.has(ColumnRoles::ROW_START) => "ROW START".to_owned(),
        _ if column.roles.has(ColumnRoles::ROW_END) => "ROW END".to_owned(),
        _ => column.generated.as_ref().map_or(String::new(), |generated| escaped(&generated.expression)),
    }
}

fn column_row(host: &dyn crate::host::Host, table: &Table, at: usize, column: &ColumnDef) -> Vec<Value> {
    let mut row = vec![
        text("def"),
        text(&table.def.schema),
        text(&table.def.name),
        text(&column.name),
        Value::UInt(at as u64 + 1),
        default_of(column),
        text(if column.nullable { "YES" } else { "NO" }),
    ];
    row.extend(type_values(&column.ty));
    row.extend([
        text(key_of(table, at)),
        text(&extra_of(column)),
        text(&host.column_privileges(&table.def.schema, &table.def.name, &column.name)),
        text(&column.comment),
        text(&generation_of(column)),
        column.ty.srid().map_or(Value::Null, |srid| Value::UInt(u64::from(srid))),
    ]);
    row
}

/// The bytes of a character in utf8mb4, by which the display lengths of ENUM and SET are counted.
const MOST_BYTES_PER_CHAR: u64 = 4;

/// Returns the values about a type, from DATA_TYPE to COLUMN_TYPE.
pub(super) fn type_values(ty: &ColumnType) -> Vec<Value> {
    let full = ty.sql_name();
    let data_type = full.split(['(', ' ']).next().unwrap_or("").to_owned();
    let is_text = ty.is_character()
        || matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Vector);
    let number = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
    let bytes_per_char = u64::from(collation::max_bytes_per_char(ty.collation));
    let octets = is_text.then(|| match ty.code {
        TypeCode::Enum | TypeCode::Set => {
            u64::from(ty.display_length()) / MOST_BYTES_PER_CHAR * bytes_per_char
        }
        _ => ty.max_bytes(),
    });
    let chars = octets.map(|octets| match ty.code {
        TypeCode::Vector => octets,
        TypeCode::Blob => octets / u64::from(collation::charset_of(ty.collation).min_bytes_per_char()),
        _ => octets / bytes_per_char,
    });
    let precision = match ty.code {
        TypeCode::NewDecimal => Some(u64::from(ty.precision())),
        TypeCode::Tiny => Some(3),
        TypeCode::Short => Some(5),
        TypeCode::Int24 => Some(7),
        TypeCode::Long => Some(10),
        TypeCode::LongLong => Some(if ty.unsigned { 20 } else { 19 }),
        TypeCode::Float => Some(12),
        TypeCode::Double => Some(22),
        TypeCode::Bit => Some(u64::from(ty.meta)),
        _ => None,
    };
    let scale = match ty.code {
        TypeCode::NewDecimal => Some(u64::from(ty.scale())),
        _ if ty.is_integer() => Some(0),
        _ => None,
    };
    let has_time = matches!(ty.code, TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2);
    let charset = |name: &'static str| if ty.is_character() { text(name) } else { Value::Null };
    vec![
        text(&data_type),
        number(chars),
        number(octets),
        number(precision),
        number(scale),
        number(has_time.then(|| u64::from(ty.fsp()))),
        charset(collation::charset_of(ty.collation).name()),
        charset(collation::name(ty.collation)),
        text(&full),
    ]
}

/// An index, with what its rows in SHOW INDEX need.
pub(super) struct IndexView<'t> {
    pub name: &'t str,
    pub unique: bool,
    pub parts: &'t [IndexColumn],
    comment: &'t str,
    visible: bool,
}

impl<'t> IndexView<'t> {
    fn primary(table: &'t Table) -> Option<IndexView<'t>> {
        let parts = table.def.primary.as_ref()?;
        Some(IndexView { name: "PRIMARY", unique: true, parts, comment: "", visible: true })
    }

    fn of(index: &'t IndexDef) -> IndexView<'t> {
        IndexView {
            name: &index.name,
            unique: index.unique,
            parts: &index.columns,
            comment: &index.comment,
            visible: !index.invisible,
        }
    }
}

/// Returns the indexes that are maintained in trees.
pub(super) fn indexes(table: &Table) -> Vec<IndexView<'_>> {
    let secondary = indexes_as_shown(&table.def).into_iter().filter_map(|index| match index {
        ShownIndex::Tree(index) => Some(IndexView::of(index)),
        ShownIndex::Kept(_) => None,
    });
    IndexView::primary(table).into_iter().chain(secondary).collect()
}

/// Returns the rows of SHOW INDEX, from the column Table on. They equal those of STATISTICS without
/// the schemas.
pub(crate) fn index_rows(table: &Table) -> Vec<Vec<Value>> {
    // Nothing is known about a damaged table.
    let statistics = engine::TableStatistics::of(table).ok();
    let rows_of_table = statistics.as_ref().map_or(0, |statistics| statistics.rows);
    let values = |index: IndexRef| {
        let statistics = statistics.clone();
        move |parts: usize| match statistics.as_ref().and_then(|known| known.distinct(index, parts)) {
            Some(distinct) => distinct.round() as u64,
            None => rows_of_table,
        }
    };
    let mut rows = Vec::new();
    if let Some(primary) = IndexView::primary(table) {
        tree_rows(table, &primary, &values(IndexRef::Primary), &mut rows);
    }
    for index in indexes_as_shown(&table.def) {
        match index {
            ShownIndex::Tree(index) => {
                let at = table.def.index(&index.name).expect("it is one of the table's");
                tree_rows(table, &IndexView::of(index), &values(IndexRef::Secondary(at)), &mut rows);
            }
            ShownIndex::Kept(index) => kept_rows(table, index, rows_of_table, &mut rows),
        }
    }
    rows
}

fn tree_rows(
    table: &Table,
    index: &IndexView<'_>,
    values: &dyn Fn(usize) -> u64,
    rows: &mut Vec<Vec<Value>>,
) {
    for (at, part) in index.parts.iter().enumerate() {
        let column = &table.def.columns[part.column];
        if table.def.is_implied(column) {
            continue;
        }
        let expression = column.generated.as_ref().filter(|_| column.is_indexed_expression());
        rows.push(vec![
            text(&table.def.name),
            Value::UInt(u64::from(!index.unique)),
            text(index.name),
            Value::UInt(at as u64 + 1),
            if expression.is_some() { Value::Null } else { text(&column.name) },
            text(if part.descending { "D" } else { "A" }),
            Value::UInt(values(at + 1)),
            part.prefix.map_or(Value::Null, |prefix| Value::UInt(u64::from(prefix))),
            Value::Null,
            text(if column.nullable { "YES" } else { "" }),
            text("BTREE"),
            text(""),
            text(index.comment),
            text(if index.visible { "YES" } else { "NO" }),
            expression.map_or(Value::Null, |made| text(&escaped(&made.expression))),
        ]);
    }
}

/// The bytes of a geometry's bounding rectangle, which MySQL shows as the prefix of a SPATIAL
/// index.
const RECTANGLE_BYTES: u64 = 32;

fn kept_rows(table: &Table, index: &KeptIndex, rows_of_table: u64, rows: &mut Vec<Vec<Value>>) {
    let kind = match index.kind {
        KeptKind::Functional => "BTREE",
        KeptKind::FullText(_) => "FULLTEXT",
        KeptKind::Spatial { .. } => "SPATIAL",
        KeptKind::Vector(_) => "VECTOR",
    };
    for (at, part) in index.parts.iter().enumerate() {
        let name = if part.is_expression { Value::Null } else { text(&part.text) };
        let expression = if part.is_expression { text(&escaped(&part.text)) } else { Value::Null };
        let of_column = table.def.column(&part.text).filter(|_| !part.is_expression);
        let nullable = of_column.is_none_or(|at| table.def.columns[at].nullable);
        let order = match index.kind {
            KeptKind::FullText(_) => Value::Null,
            _ => text(if part.descending { "D" } else { "A" }),
        };
        let prefix = match index.kind {
            KeptKind::Spatial { .. } => Some(RECTANGLE_BYTES),
            _ => part.prefix.map(u64::from),
        };
        rows.push(vec![
            text(&table.def.name),
            Value::UInt(u64::from(!index.unique)),
            text(&index.name),
            Value::UInt(at as u64 + 1),
            name,
            order,
            Value::UInt(rows_of_table),
            prefix.map_or(Value::Null, Value::UInt),
            Value::Null,
            text(if nullable { "YES" } else { "" }),
            text(kind),
            text(""),
            text(&index.comment),
            text(if index.invisible { "NO" } else { "YES" }),
            expression,
        ]);
    }
}

fn statistics(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        for shown in index_rows(&table) {
            let mut row = vec![text("def"), text(&table.def.schema)];
            row.extend_from_slice(&shown[..2]);
            row.push(text(&table.def.schema));
            row.extend_from_slice(&shown[2..]);
            rows.push(row)?;
        }
    }
    for (schema, table) in dictionary.computed_tables() {
        for shown in declared(schema, &table).iter().flat_map(|declared| declared.index_rows()) {
            let mut row = vec![text("def"), text(schema)];
            row.extend_from_slice(&shown[..2]);
            row.push(text(schema));
            row.extend_from_slice(&shown[2..]);
            rows.push(row)?;
        }
    }
    Ok(())
}
