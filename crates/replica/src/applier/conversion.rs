//! Conversion of row events between tables that differ: each row event of the source is rewritten
//! as an event of this server's table.
//!
//! MySQL's rules apply (manual, "Replication with Differing Table Definitions on Source and
//! Replica"). Columns correspond by position. Columns at the end that only one of the tables has
//! are left out or get their defaults. A type may become another one of its family as far as
//! `replica_type_conversions` allows, by the lengths in the TABLE_MAP event. Bytes of characters
//! are taken as characters of the replica column's character set, whatever the source's was, and
//! numbers as signed unless ALL_UNSIGNED says otherwise.
//!
//! The engine, the log, recovery and replicas of this server see only this server's table.

use std::cmp::Ordering;

use binlog::Checksum;
use binlog::compressed::expand_mariadb_value;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{Header, RowsEvent, RowsKind, TableMap};
use engine::Table;
use types::row::RowLayout;
use types::{ColumnMask, ColumnType, TypeCode, Value, convert, packed};

use super::bind_error::BindError;
use super::type_conversions::TypeConversions;

/// The number of bytes that hold the length of a LONGBLOB.
const LONG_PREFIX_BYTES: usize = 4;

/// The plan by which rows of the source's table become rows of this server's.
#[derive(Debug)]
pub struct Conversion {
    /// The layout of the source's rows, in which each column has the attributes that the target
    /// needs.
    source: RowLayout,
    /// For each column that both tables have, whether its bytes stay as they are.
    stays: Vec<bool>,
}

impl Conversion {
    /// Plans the conversion for a table map event. `None` means that nothing has to be converted.
    ///
    /// # Errors
    /// Returns an error when a column's type cannot become the target's under the `allowed`
    /// conversions.
    pub fn plan(
        map: &TableMap<'_>,
        table: &Table,
        allowed: TypeConversions,
    ) -> Result<Option<Conversion>, BindError> {
        let mut theirs = map.columns().map_err(|error| BindError::Damaged(error.to_string()))?;
        let common = theirs.len().min(table.columns());
        let mut stays = Vec::with_capacity(common);
        for (column, theirs) in theirs.iter_mut().enumerate().take(common) {
            let ours = table.column_type(column);
            let order = order(&plain(theirs), ours).filter(|order| allowed.permit(*order));
            let Some(order) = order else {
                return Err(BindError::ColumnType {
                    table: table.qualified_name().to_string(),
                    column,
                    theirs: their_name(theirs),
                    ours: our_name(ours),
                });
            };
            stays.push(order == Ordering::Equal && theirs.code == ours.code);
            theirs.unsigned = allowed.unsigned() && (!allowed.signed() || ours.unsigned);
            theirs.collation = ours.collation;
            theirs.members = ours.members.clone();
        }
        if theirs.len() == table.columns() && stays.iter().all(|stays| *stays) {
            return Ok(None);
        }
        Ok(Some(Conversion { source: RowLayout::new(&theirs), stays }))
    }

    /// Reports whether all that the source's rows lack are the hidden columns of the table's
    /// functional indexes.
    pub fn only_adds_hidden(&self, table: &Table) -> bool {
        self.source.columns() == table.def.named_columns() && self.stays.iter().all(|stays| *stays)
    }

    /// Appends the row event as one of this server's table.
    ///
    /// # Errors
    /// Returns text that says what in the event does not fit the table.
    pub fn rewrite(
        &self,
        table: &Table,
        header: &Header,
        event: &RowsEvent<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if event.columns != self.source.columns() {
            return Err(format!(
                "a row event has {} columns, its table map {}",
                event.columns,
                self.source.columns()
            ));
        }
        let none = ColumnMask::empty(table.columns());
        let (before, after) = (event.before_mask(), event.after_mask());
        let ours = |mask: &Option<ColumnMask>| mask.as_ref().map(|mask| self.our_mask(table, mask));
        let (our_before, our_after) = (ours(&before), ours(&after));
        if event.kind != RowsKind::Write && our_before.as_ref().is_none_or(ColumnMask::is_empty) {
            return Err("the event names rows by columns that the table does not have".to_string());
        }
        let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
        let start = encode::rows(
            base,
            event.kind,
            table.id,
            event.flags,
            our_before.as_ref().unwrap_or(&none),
            our_after.as_ref().unwrap_or(&none),
            out,
        );
        for row in event.iter(&self.source) {
            let row = row.map_err(|error| error.to_string())?;
            for (mask, our_mask, image) in
                [(&before, &our_before, row.before), (&after, &our_after, row.after)]
            {
                if let (Some(mask), Some(our_mask), Some(image)) = (mask, our_mask, image) {
                    self.image(table, (mask, image), our_mask, out)?;
                }
            }
        }
        finish_event(out, start, None, Checksum::None);
        Ok(())
    }

    /// Returns the columns of a mask of the source that this server's table has too.
    fn our_mask(&self, table: &Table, theirs: &ColumnMask) -> ColumnMask {
        let mut ours = ColumnMask::empty(table.columns());
        theirs.iter().take_while(|column| *column < self.stays.len()).for_each(|column| ours.insert(column));
        ours
    }

    fn image(
        &self,
        table: &Table,
        (mask, image): (&ColumnMask, &[u8]),
        our_mask: &ColumnMask,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut raw = vec![None; self.source.columns()];
        let walked = self.source.walk_partial(mask, image, |column, bytes| raw[column] = bytes);
        walked.map_err(|error| error.to_string())?;
        let mut converted: Vec<Option<Vec<u8>>> = vec![None; table.columns()];
        for (column, stays) in self.stays.iter().enumerate() {
            let Some(bytes) = raw[column] else { continue };
            converted[column] = Some(match stays {
                true => bytes.to_vec(),
                false => converted_value(&self.source.types()[column], table.column_type(column), bytes)
                    .map_err(|why| format!("column {column}: {why}"))?,
            });
        }
        let ours: Vec<Option<&[u8]>> = converted.iter().map(Option::as_deref).collect();
        let mut whole = Vec::new();
        table.layout.encode_raw(&ours, &mut whole).map_err(|error| error.to_string())?;
        table.layout.extract(&whole, our_mask, out).map_err(|error| error.to_string())
    }
}

/// Returns a packed value as this server's column stores it. A value that does not fit is cut or
/// clamped, as MySQL does under ALL_LOSSY.
fn converted_value(theirs: &ColumnType, ours: &ColumnType, bytes: &[u8]) -> Result<Vec<u8>, String> {
    if let TypeCode::VarcharCompressed | TypeCode::BlobCompressed = theirs.code {
        let mut value = vec![0; LONG_PREFIX_BYTES];
        let expanded = expand_mariadb_value(packed::payload(theirs, bytes), &mut value);
        expanded.map_err(|error| error.to_string())?;
        let len = (value.len() - LONG_PREFIX_BYTES) as u32;
        value[..LONG_PREFIX_BYTES].copy_from_slice(&len.to_le_bytes());
        return converted_value(
            &ColumnType { collation: theirs.collation, ..ColumnType::longblob() },
            ours,
            &value,
        );
    }
    let value = packed::decode(theirs, bytes).map_err(|error| error.to_string())?;
    let value = match value {
        // The numbers of members stay as they are, whatever the members are called.
        Value::Enum { .. } | Value::Set { .. } => value,
        other => convert::to_column(&other, ours, false).map_err(|problem| problem.message("?", 1))?.0,
    };
    let mut out = Vec::new();
    packed::encode(ours, &value, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// Returns the plain type of a COMPRESSED column of MariaDB, which this server's tables hold
/// decompressed. The column's maximum length counts the byte that names the compression method.
fn plain(theirs: &ColumnType) -> ColumnType {
    let (code, meta) = match theirs.code {
        TypeCode::VarcharCompressed => (TypeCode::Varchar, theirs.meta.saturating_sub(1)),
        TypeCode::BlobCompressed => (TypeCode::Blob, theirs.meta),
        code => (code, theirs.meta),
    };
    ColumnType { code, meta, ..theirs.clone() }
}

/// Compares the source's type with this server's. `Equal` needs no conversion, `Less` one that
/// loses nothing, and `Greater` one that may lose something. `None` means that there is none.
fn order(theirs: &ColumnType, ours: &ColumnType) -> Option<Ordering> {
    use TypeCode::*;
    if theirs.code == ours.code {
        return Some(match theirs.code {
            NewDecimal => theirs.precision().cmp(&ours.precision()).then(theirs.scale().cmp(&ours.scale())),
            Varchar | String | Blob | Bit | Enum | Set | Time2 | Datetime2 | Timestamp2 => {
                theirs.meta.cmp(&ours.meta)
            }
            _ => Ordering::Equal,
        });
    }
    match (theirs.code, ours.code) {
        (Float, Double) => Some(Ordering::Less),
        (Double, Float) | (NewDecimal, Float | Double) | (Float | Double, NewDecimal) => {
            Some(Ordering::Greater)
        }
        // These are the same types in the storage formats of MariaDB and of MySQL before 5.6.4.
        (Time, Time2) | (Datetime, Datetime2) | (Timestamp, Timestamp2) => Some(Ordering::Equal),
        _ if theirs.is_integer() && ours.is_integer() => Some(theirs.max_bytes().cmp(&ours.max_bytes())),
        (Varchar | String | Blob, Varchar | String | Blob) => {
            // Types of the same length still differ in form and need a conversion, though it loses
            // nothing.
            Some(theirs.max_bytes().cmp(&ours.max_bytes()).then(Ordering::Less))
        }
        // MariaDB logs a vector as the bytes of a VARBINARY.
        (Varchar, Vector) => Some(Ordering::Equal),
        _ => None,
    }
}

/// Returns the source's type in MySQL's words, as far as a TABLE_MAP event tells it.
fn their_name(ty: &ColumnType) -> String {
    match ty.code {
        TypeCode::Varchar => format!("varchar({}(bytes))", ty.meta),
        TypeCode::String => format!("char({}(bytes))", ty.meta),
        TypeCode::Blob => {
            let size = ["tiny", "", "medium", "long"][usize::from(ty.meta.clamp(1, 4)) - 1];
            format!("{size}blob")
        }
        TypeCode::Enum => "enum".to_string(),
        TypeCode::Set => "set".to_string(),
        TypeCode::Timestamp | TypeCode::Timestamp2 => "timestamp".to_string(),
        TypeCode::Datetime | TypeCode::Datetime2 => "datetime".to_string(),
        TypeCode::Time | TypeCode::Time2 => "time".to_string(),
        _ => ColumnType { unsigned: false, ..ty.clone() }.sql_name(),
    }
}

/// Returns the type of this server's column in MySQL's words.
fn our_name(ty: &ColumnType) -> String {
    let characters = || types::collation::charset_of(ty.collation).name();
    match ty.code {
        TypeCode::Varchar if ty.is_character() => format!("varchar({}(bytes) {})", ty.meta, characters()),
        TypeCode::String if ty.is_character() => format!("char({}(bytes) {})", ty.meta, characters()),
        _ => ty.sql_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::encode::{RowMetadata, TableMapSource};
    use binlog::event::Event;
    use engine::{
        ColumnDef, DdlContext, Engine, EngineConfig, IndexColumn, SchemaDef, SessionContext, TableDef,
    };
    use os::random::{Rng, test_seed};
    use os::sim::SimDisk;
    use std::sync::Arc;

    #[test]
    fn types_compare_as_mysql_compares_them() {
        use Ordering::*;
        let (utf8, latin) = (255, 8);
        let cases = [
            (ColumnType::int(false), ColumnType::int(true), Some(Equal)),
            (ColumnType::int(false), ColumnType::bigint(false), Some(Less)),
            (ColumnType::bigint(false), ColumnType::tinyint(false), Some(Greater)),
            (ColumnType::int(false), ColumnType::varchar(20, utf8), None),
            (ColumnType::int(false), ColumnType::double(), None),
            (ColumnType::decimal(10, 2), ColumnType::decimal(12, 2), Some(Less)),
            (ColumnType::decimal(10, 2), ColumnType::decimal(10, 1), Some(Greater)),
            (ColumnType::decimal(10, 2), ColumnType::double(), Some(Greater)),
            (ColumnType::float(), ColumnType::double(), Some(Less)),
            (ColumnType::varchar(10, utf8), ColumnType::varchar(40, latin), Some(Equal)),
            (ColumnType::varchar(10, latin), ColumnType::varchar(10, utf8), Some(Less)),
            (ColumnType::char(10, latin), ColumnType::varchar(10, latin), Some(Less)),
            (ColumnType::text(utf8), ColumnType::varchar(10, utf8), Some(Greater)),
            (ColumnType::tinyblob(), ColumnType::text(utf8), Some(Less)),
            (ColumnType::bit(3), ColumnType::bit(8), Some(Less)),
            (ColumnType::date(), ColumnType::datetime(0), None),
            (ColumnType::datetime(6), ColumnType::datetime(0), Some(Greater)),
            (ColumnType::json(), ColumnType::longtext(utf8), None),
            (ColumnType::varchar(8, types::collation::BINARY), ColumnType::vector(2), Some(Equal)),
        ];
        for (theirs, ours, expected) in cases {
            assert_eq!(order(&theirs, &ours), expected, "{} to {}", theirs.sql_name(), ours.sql_name());
        }
    }

    /// A vector of MariaDB, which comes as a VARBINARY, has another prefix of its length here.
    #[test]
    fn vectors_of_mariadb() {
        let theirs = ColumnType::varchar(8, types::collation::BINARY);
        let ours = ColumnType::vector(2);
        let value = Value::Bytes(vec![0, 0, 128, 63, 0, 0, 0, 64]);
        let (mut received, mut stored) = (Vec::new(), Vec::new());
        packed::encode(&theirs, &value, &mut received).expect("fits");
        packed::encode(&ours, &value, &mut stored).expect("fits");
        assert_ne!(received, stored);
        assert_eq!(converted_value(&theirs, &ours, &received), Ok(stored));
    }

    /// Creates `test.t (id INT PRIMARY KEY, a BIGINT, b VARCHAR(10), c INT DEFAULT 7)` on a
    /// simulated disk.
    fn table(disk: &SimDisk) -> (Arc<Engine>, Arc<Table>) {
        let engine = Engine::open(EngineConfig {
            page_size: 4096,
            pool_bytes: 1 << 20,
            redo_capacity_bytes: 16 << 20,
            log_buffer_bytes: 1 << 20,
            background: false,
            ..EngineConfig::new(Arc::new(disk.clone()), "/data")
        })
        .expect("opens");
        let mut def = TableDef::new("test", "t");
        def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
        def.columns.push(ColumnDef::new("a", ColumnType::bigint(false)));
        def.columns.push(ColumnDef::new("b", ColumnType::varchar(10, 255)));
        def.columns.push(ColumnDef::new("c", ColumnType::int(false)));
        def.primary = Some(vec![IndexColumn::whole(0)]);
        let session = SessionContext::default();
        let context = DdlContext::new("CREATE", "test", &session);
        engine.create_schema(SchemaDef { name: "test".into(), collation: 255 }, &context).expect("is made");
        engine.create_table(def, &context).expect("is made");
        let table = engine.catalog().table("test", "t").expect("is there");
        (engine, table)
    }

    /// Returns events for the source's table `(id INT, a INT, b TEXT)`, which has a further DECIMAL
    /// column: its table map and an update of two rows.
    fn received() -> (Vec<u8>, Vec<u8>) {
        let columns = [
            ColumnType::int(false),
            ColumnType::int(false),
            ColumnType::text(255),
            ColumnType::int(false),
            ColumnType::decimal(10, 2),
        ];
        let base = EventBase { timestamp: 1, server_id: 2 };
        let full = ColumnMask::full(columns.len());
        let (mut map, mut rows) = (Vec::new(), Vec::new());
        let source = TableMapSource {
            table_id: 9,
            schema: "test",
            table: "t",
            columns: &columns,
            nullable: &full,
            has_generated_key: false,
            metadata: RowMetadata::Minimal,
        };
        let start = encode::table_map(base, &source, &mut map);
        finish_event(&mut map, start, None, Checksum::None);
        let layout = RowLayout::new(&columns);
        let start = encode::rows(base, RowsKind::Update, 9, 1, &full, &full, &mut rows);
        for (id, text) in [(1, "short"), (2, "longer than ten characters"), (3, ""), (4, "four")] {
            let price = convert::to_column(&Value::text("12.5"), &columns[4], true).expect("a number").0;
            let values = [Value::Int(id), Value::Int(-id), Value::text(text), Value::Null, price];
            layout.encode(&values, &mut rows).expect("encodes");
        }
        finish_event(&mut rows, start, None, Checksum::None);
        (map, rows)
    }

    fn event(bytes: &[u8]) -> Result<(Header, Event<'_>), binlog::DecodeError> {
        let header = Header::decode(bytes)?;
        Ok((header, binlog::event::decode_body(&header, bytes)?))
    }

    #[test]
    fn damaged_events_are_refused_or_written_anew() {
        let mut rng = Rng::new(test_seed("damaged_events_are_refused_or_written_anew"));
        let disk = SimDisk::new(1);
        let (_engine, table) = table(&disk);
        let allowed: TypeConversions = "ALL_LOSSY,ALL_NON_LOSSY".parse().expect("is one");
        let (map, rows) = received();
        let rewritten = |map: &[u8], rows: &[u8]| -> Option<Vec<u8>> {
            let (Ok((_, Event::TableMap(map))), Ok((header, Event::Rows(rows)))) = (event(map), event(rows))
            else {
                return None;
            };
            let conversion = Conversion::plan(&map, &table, allowed).ok()??;
            let mut out = Vec::new();
            conversion.rewrite(&table, &header, &rows, &mut out).ok()?;
            Some(out)
        };
        let whole = rewritten(&map, &rows).expect("is written anew");
        let Ok((_, Event::Rows(ours))) = event(&whole) else { panic!("no row event") };
        let changes: Vec<_> = ours.iter(&table.layout).map(|change| change.expect("decodes")).collect();
        assert_eq!((ours.table_id, ours.columns, changes.len()), (table.id, 4, 2));
        let values = table.layout.decode_all(changes[0].after.expect("an update")).expect("decodes");
        assert_eq!(values, [Value::Int(2), Value::Int(-2), Value::text("longer tha"), Value::Null]);
        let mut refused = 0;
        for _ in 0..20_000 {
            let done = match rng.one_in(4) {
                true => rewritten(&rng.damaged(&map), &rows),
                false => rewritten(&map, &rng.damaged(&rows)),
            };
            let Some(out) = done else {
                refused += 1;
                continue;
            };
            // The rewritten event must be one of this server's table.
            let Ok((_, Event::Rows(ours))) = event(&out) else { panic!("no row event") };
            assert!(ours.iter(&table.layout).all(|change| change.is_ok()), "it does not decode");
        }
        assert!((2_000..19_000).contains(&refused), "{refused} were refused");
    }
}
