//! The result sets of SHOW, by the kind of statement.

use crate::ast::{Scope, Show};
use crate::error::{Result, SqlError};
use crate::expr::{Diagnostics, Level};
use crate::host::{Host, Sight, VariableScope, VirtualTable};
use crate::result_column::column_meta;
use crate::result_column::made_type;
use crate::schema_tables::{self, Declared, DeclaredColumn, view_columns};
use crate::temporary::TemporaryTables;
use crate::variables::Variables;
use engine::{Engine, ObjectKind, Table};
use std::sync::Arc;
use types::{ColumnType, Value, collation};

/// The parts of a session and its server that SHOW reads.
pub(crate) struct ShowParts<'a> {
    pub engine: &'a Arc<Engine>,
    pub host: &'a dyn Host,
    pub variables: &'a Variables,
    pub diagnostics: &'a Diagnostics,
    pub schema: Option<&'a str>,
    pub temporary: &'a TemporaryTables,
    pub last_insert_id: u64,
}

pub(super) fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

pub(super) fn words(columns: &[&str], rows: Vec<Vec<Value>>) -> VirtualTable {
    let ty = ColumnType::varchar(1024, collation::UTF8MB3_GENERAL_CI);
    VirtualTable { columns: columns.iter().map(|name| column_meta(name, ty.clone(), true)).collect(), rows }
}

/// Gives columns of a table types of their own.
pub(super) fn with_types(mut table: VirtualTable, types: &[(&str, ColumnType)]) -> VirtualTable {
    for (name, ty) in types {
        let column = table.columns.iter_mut().find(|column| column.name == *name);
        let column = column.unwrap_or_else(|| panic!("{name} is a column of the table"));
        *column = column_meta(name, ty.clone(), true);
    }
    table
}

/// Returns a table whose columns have types of their own, for those with numbers.
fn typed(columns: &[(&str, ColumnType)], rows: Vec<Vec<Value>>) -> VirtualTable {
    VirtualTable {
        columns: columns.iter().map(|(name, ty)| column_meta(name, ty.clone(), true)).collect(),
        rows,
    }
}

/// Returns the answer to SHOW ENGINES.
fn engines() -> VirtualTable {
    let column = |name: &str, chars: u32, nullable: bool| {
        column_meta(name, ColumnType::varchar(chars, collation::UTF8MB3_GENERAL_CI), nullable)
    };
    let columns = vec![
        column("Engine", 64, false),
        column("Support", 8, false),
        column("Comment", 80, false),
        column("Transactions", 3, true),
        column("XA", 3, true),
        column("Savepoints", 3, true),
    ];
    VirtualTable { columns, rows: vec![schema_tables::engine_row()] }
}

fn name_type() -> ColumnType {
    ColumnType::varchar(64, collation::UTF8MB3_GENERAL_CI)
}

fn number_type() -> ColumnType {
    ColumnType::bigint(true)
}

impl ShowParts<'_> {
    /// Returns the rows of a SHOW statement, before its filter.
    pub fn rows(&self, show: &Show) -> Result<VirtualTable> {
        Ok(match show {
            Show::Schemas => self.schemas(),
            Show::Tables { schema, full } => self.tables(schema.as_deref(), *full)?,
            Show::TableStatus { schema } => self.table_status(schema.as_deref())?,
            Show::Columns { table, full } => self.columns(table, *full)?,
            Show::Index { table: name } if let Some(declared) = self.declared(name) => {
                self.host.check_sight(Sight::Description(declared.schema, declared.name))?;
                typed(&index_columns(), declared.index_rows())
            }
            Show::Index { table } if self.is_view(table) => typed(&index_columns(), Vec::new()),
            Show::Index { table } => {
                let table = self.table(table)?;
                if !table.is_temporary() {
                    self.host.check_sight(Sight::Description(&table.def.schema, &table.def.name))?;
                }
                typed(&index_columns(), schema_tables::index_rows(&table))
            }
            Show::CreateTable(name) => self.quoted_by_mode(self.create_table(name)?),
            Show::CreateSequence(name) => self.create_sequence(name)?,
            Show::CreateSchema { schema, if_not_exists } => {
                self.quoted_by_mode(self.create_schema(schema, *if_not_exists)?)
            }
            Show::Variables(scope) => self.variables(*scope),
            Show::Status(scope) => {
                let scope =
                    if *scope == Scope::Global { VariableScope::Global } else { VariableScope::Session };
                pairs(self.host.status(scope))
            }
            Show::Warnings { errors_only, limit, .. } => self.warnings(*errors_only, *limit),
            Show::CountOf { errors } => self.count_of(*errors),
            Show::Engines => engines(),
            Show::Collation => typed(
                &[
                    ("Collation", name_type()),
                    ("Charset", name_type()),
                    ("Id", number_type()),
                    ("Default", name_type()),
                    ("Compiled", name_type()),
                    ("Sortlen", number_type()),
                    ("Pad_attribute", name_type()),
                ],
                schema_tables::collations(),
            ),
            Show::CharacterSet => {
                let rows = schema_tables::character_sets();
                let rows = rows.into_iter().map(|mut row| {
                    row.swap(1, 2);
                    row
                });
                typed(
                    &[
                        ("Charset", name_type()),
                        ("Description", name_type()),
                        ("Default collation", name_type()),
                        ("Maxlen", number_type()),
                    ],
                    rows.collect(),
                )
            }
            Show::OpenTables => with_types(
                words(&["Database", "Table", "In_use", "Name_locked"], Vec::new()),
                &[("In_use", ColumnType::bigint(false)), ("Name_locked", ColumnType::bigint(false))],
            ),
            Show::Triggers { schema } => self.triggers(schema.as_deref())?,
            Show::Events { schema } => self.events(schema.as_deref())?,
            Show::ProcedureStatus => self.routine_status(ObjectKind::Procedure),
            Show::FunctionStatus => self.routine_status(ObjectKind::Function),
            Show::CreateObject { kind: ObjectKind::View, name } => {
                self.quoted_by_mode(self.create_object(ObjectKind::View, name)?)
            }
            Show::CreateObject { kind, name } => self.create_object(*kind, name)?,
            Show::Help(pattern) => super::help::rows(self.engine, &self.host.memory(), pattern)?,
            Show::Profiles => with_types(
                words(&["Query_ID", "Duration", "Query"], Vec::new()),
                &[("Query_ID", ColumnType::int(true)), ("Duration", ColumnType::double())],
            ),
        })
    }

    pub(super) fn schema_name<'s>(&'s self, written: Option<&'s str>) -> Result<&'s str> {
        let name = written.or(self.schema).ok_or_else(SqlError::no_schema_selected)?;
        if self.engine.catalog().schema(name).is_none() && !schema_tables::is_virtual_schema(name) {
            return Err(SqlError::unknown_schema(name));
        }
        Ok(name)
    }

    /// Returns the name of a schema whose tables, triggers or the like are listed. The account has
    /// to be allowed to see them.
    pub(super) fn listed_schema<'s>(&'s self, written: Option<&'s str>) -> Result<&'s str> {
        let name = self.schema_name(written)?;
        self.host.check_sight(Sight::TablesOf(name))?;
        Ok(name)
    }

    fn seen_tables(&self, schema: &str) -> Vec<Arc<Table>> {
        let mut tables = self.engine.catalog().tables(schema);
        tables.retain(|table| self.host.check_sight(Sight::Table(schema, &table.def.name)).is_ok());
        tables
    }

    fn is_view(&self, name: &crate::ast::TableName) -> bool {
        let schema = name.schema.as_deref().or(self.schema).unwrap_or_default();
        !self.temporary.has(schema, &name.name)
            && self.engine.catalog().object(schema, ObjectKind::View, &name.name).is_some()
    }

    /// Returns the temporary table with this name.
    fn own_table(&self, name: &crate::ast::TableName) -> Option<Arc<Table>> {
        self.temporary.table(name.schema.as_deref().or(self.schema)?, &name.name)
    }

    fn table(&self, name: &crate::ast::TableName) -> Result<Arc<Table>> {
        if let Some(table) = self.own_table(name) {
            return Ok(table);
        }
        let schema = self.schema_name(name.schema.as_deref())?;
        self.engine
            .catalog()
            .table(schema, &name.name)
            .ok_or_else(|| SqlError::no_such_table(schema, &name.name))
    }

    /// Returns a table of `information_schema` or `performance_schema` as MySQL declares it.
    fn declared(&self, name: &crate::ast::TableName) -> Option<&'static Declared> {
        schema_tables::declared(name.schema.as_deref().or(self.schema)?, &name.name)
    }

    fn schemas(&self) -> VirtualTable {
        let mut names = self.engine.catalog().schemas();
        names.extend(["information_schema", "performance_schema"].map(str::to_owned));
        names.sort();
        names.dedup();
        names.retain(|name| self.host.check_sight(Sight::Schema(name)).is_ok());
        words(&["Database"], names.into_iter().map(|name| vec![text(name)]).collect())
    }

    fn tables(&self, schema: Option<&str>, full: bool) -> Result<VirtualTable> {
        let schema = self.listed_schema(schema)?;
        let mut names: Vec<(String, &str)> = if schema_tables::is_virtual_schema(schema) {
            let is_view = schema.eq_ignore_ascii_case("information_schema");
            let kind = if is_view { "SYSTEM VIEW" } else { "BASE TABLE" };
            schema_tables::names(self.host, schema).into_iter().map(|name| (name, kind)).collect()
        } else {
            let tables = self.seen_tables(schema);
            let tables =
                tables.iter().map(|table| (table.def.name.clone(), schema_tables::table_type(&table.def)));
            let views = self.seen_views(schema);
            tables.chain(views.iter().map(|view| (view.def.name.clone(), "VIEW"))).collect()
        };
        names.sort();
        let column = format!("Tables_in_{schema}");
        Ok(if full {
            let rows = names.into_iter().map(|(name, kind)| vec![text(name), text(kind)]).collect();
            words(&[&column, "Table_type"], rows)
        } else {
            words(&[&column], names.into_iter().map(|(name, _)| vec![text(name)]).collect())
        })
    }

    fn table_status(&self, schema: Option<&str>) -> Result<VirtualTable> {
        let schema = self.listed_schema(schema)?;
        let mut rows = Vec::new();
        for table in self.seen_tables(schema) {
            let mut row = vec![text(&table.def.name)];
            row.extend(schema_tables::status_of(self.engine, &table));
            rows.push(row);
        }
        for view in self.seen_views(schema) {
            let mut row = vec![text(&view.def.name)];
            row.extend(schema_tables::status_of_view(&view.def));
            rows.push(row);
        }
        rows.sort_by_key(|row| row[0].text_bytes(None));
        let (name, number, time) = (name_type, number_type, || ColumnType::datetime(0));
        let columns = [
            ("Name", name()),
            ("Engine", name()),
            ("Version", number()),
            ("Row_format", name()),
            ("Rows", number()),
            ("Avg_row_length", number()),
            ("Data_length", number()),
            ("Max_data_length", number()),
            ("Index_length", number()),
            ("Data_free", number()),
            ("Auto_increment", number()),
            ("Create_time", time()),
            ("Update_time", time()),
            ("Check_time", time()),
            ("Collation", name()),
            ("Checksum", number()),
            ("Create_options", name()),
            ("Comment", ColumnType::text(collation::UTF8MB3_GENERAL_CI)),
        ];
        Ok(typed(&columns, rows))
    }

    fn columns(&self, name: &crate::ast::TableName, full: bool) -> Result<VirtualTable> {
        let own = self.own_table(name);
        let schema = match &own {
            Some(own) => &own.def.schema,
            None => self.schema_name(name.schema.as_deref())?,
        };
        let mut rows = Vec::new();
        if let Some(table) = own.clone().or_else(|| self.engine.catalog().table(schema, &name.name)) {
            if own.is_none() {
                self.host.check_sight(Sight::Description(schema, &name.name))?;
            }
            for (at, column) in table.def.columns.iter().enumerate() {
                let sight = Sight::Column(schema, &name.name, &column.name);
                let is_seen = own.is_some() || self.host.check_sight(sight).is_ok();
                if !is_seen || table.def.is_hidden(column) {
                    continue;
                }
                let collation = match column.ty.is_character() {
                    true => text(collation::name(column.ty.collation)),
                    false => Value::Null,
                };
                let extra = match schema_tables::extra_of(column) {
                    none if none.is_empty() && own.is_some() => Value::Null,
                    extra => text(extra),
                };
                rows.push((
                    text(&column.name),
                    text(column.ty.sql_name()),
                    collation,
                    text(if column.nullable { "YES" } else { "NO" }),
                    text(schema_tables::key_of(&table, at)),
                    schema_tables::default_of(column),
                    extra,
                    text(&column.comment),
                ));
            }
        } else if let Some(view) = self.engine.catalog().object(schema, ObjectKind::View, &name.name) {
            self.host.check_sight(Sight::Description(schema, &name.name))?;
            let columns = crate::bind::view_columns(self.engine, self.host, self.variables, &view.def)?;
            for column in columns {
                let collation = match column.ty.is_character() {
                    true => text(collation::name(column.ty.collation)),
                    false => Value::Null,
                };
                let (default, comment) = view_columns::default_and_comment(self.engine, &column);
                rows.push((
                    text(&column.name),
                    text(made_type(&column).sql_name()),
                    collation,
                    text(if view_columns::is_nullable(&column) { "YES" } else { "NO" }),
                    text(""),
                    default,
                    text(""),
                    comment,
                ));
            }
        } else if let Some(declared) = schema_tables::declared(schema, &name.name) {
            rows.extend(declared.columns.iter().map(|column| declared_column(declared, column)));
        } else if let Some(columns) = schema_tables::columns_of(self.host, schema, &name.name) {
            for column in columns {
                let nothing = || text("");
                let ty = text(column.ty.sql_name());
                let is_nullable = column.flags & crate::sink::column_flag::NOT_NULL == 0;
                let nullable = text(if is_nullable { "YES" } else { "NO" });
                let row = (
                    text(&column.name),
                    ty,
                    Value::Null,
                    nullable,
                    nothing(),
                    Value::Null,
                    nothing(),
                    nothing(),
                );
                rows.push(row);
            }
        } else {
            return Err(SqlError::no_such_table(schema, &name.name));
        }
        Ok(if full {
            let rows = rows.into_iter().map(|(column, ty, collation, null, key, default, extra, comment)| {
                let held = match &column {
                    Value::Bytes(bytes) => {
                        let column = String::from_utf8_lossy(bytes);
                        self.host.column_privileges(schema, &name.name, &column)
                    }
                    _ => String::new(),
                };
                vec![column, ty, collation, null, key, default, extra, text(&held), comment]
            });
            words(
                &["Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"],
                rows.collect(),
            )
        } else {
            let rows = rows
                .into_iter()
                .map(|(name, ty, _, null, key, default, extra, _)| vec![name, ty, null, key, default, extra]);
            words(&["Field", "Type", "Null", "Key", "Default", "Extra"], rows.collect())
        })
    }

    fn create_table(&self, name: &crate::ast::TableName) -> Result<VirtualTable> {
        let schema = name.schema.as_deref().or(self.schema).ok_or_else(SqlError::no_schema_selected)?;
        if self.own_table(name).is_none() {
            self.host.check_sight(Sight::CreateTable(schema, &name.name))?;
            if let Some(view) = self.engine.catalog().object(schema, ObjectKind::View, &name.name) {
                // Unlike SHOW CREATE VIEW, this does not demand SELECT on the view.
                self.host.check_sight(Sight::CreateTableOfView(schema, &name.name))?;
                return Ok(self.created(&view.def));
            }
            if let Some(declared) = schema_tables::declared(schema, &name.name) {
                let row = vec![text(declared.name), text(declared.statement())];
                return Ok(words(&["Table", "Create Table"], vec![row]));
            }
        }
        let table = self.table(name)?;
        let next =
            table.def.auto_increment_column().map(|_| self.engine.table_figures(&table).next_auto_increment);
        let mut statement = super::create_table(&table.def, next, self.variables.zone);
        if table.is_temporary() {
            statement.insert_str("CREATE ".len(), "TEMPORARY ");
        }
        Ok(words(&["Table", "Create Table"], vec![vec![text(&table.def.name), text(statement)]]))
    }

    /// Puts the names in a definition, which is the second column, into double quotes if sql_mode
    /// has ANSI_QUOTES.
    fn quoted_by_mode(&self, mut shown: VirtualTable) -> VirtualTable {
        if self.variables.sql_mode.lex().ansi_quotes {
            for row in &mut shown.rows {
                if let Some(Value::Bytes(definition)) = row.get_mut(1) {
                    *definition = crate::quoting::with_double_quotes(definition);
                }
            }
        }
        shown
    }

    fn create_sequence(&self, name: &crate::ast::TableName) -> Result<VirtualTable> {
        let schema = name.schema.as_deref().or(self.schema).ok_or_else(SqlError::no_schema_selected)?;
        self.host.check_sight(Sight::CreateTable(schema, &name.name))?;
        let is_view = self.engine.catalog().object(schema, ObjectKind::View, &name.name).is_some();
        let not_one = || crate::ddl::not_a_sequence(4089, schema, &name.name);
        let table = if is_view { Err(not_one()) } else { self.table(name) }?;
        if !table.def.is_sequence() {
            return Err(not_one());
        }
        let statement = crate::ddl::sequence_statement(self.engine, &table, super::engine_of(&table.def))?;
        Ok(words(&["Table", "Create Table"], vec![vec![text(&table.def.name), text(statement)]]))
    }

    fn create_schema(&self, name: &str, if_not_exists: bool) -> Result<VirtualTable> {
        self.host.check_sight(Sight::CreateSchema(name))?;
        let collation_id = match self.engine.catalog().schema(name) {
            Some(schema) => schema.collation,
            None if name.eq_ignore_ascii_case("information_schema") => collation::UTF8MB3_GENERAL_CI,
            None if schema_tables::is_virtual_schema(name) => collation::UTF8MB4_0900_AI_CI,
            None => return Err(SqlError::unknown_schema(name)),
        };
        let charset = collation::charset_of(collation_id);
        let collate = match charset.default_collation() == collation_id && charset.name() != "utf8mb4" {
            true => String::new(),
            false => format!(" COLLATE {}", collation::name(collation_id)),
        };
        let statement = format!(
            "CREATE DATABASE {}{} /*!40100 DEFAULT CHARACTER SET {}{collate} */ /*!80016 DEFAULT ENCRYPTION='N' */",
            if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" },
            crate::quoting::quoted(name),
            charset.name()
        );
        Ok(words(&["Database", "Create Database"], vec![vec![text(name), text(statement)]]))
    }

    fn variables(&self, scope: Scope) -> VirtualTable {
        if scope == Scope::Global {
            return pairs(self.host.variables(VariableScope::Global));
        }
        let mut list = self.host.variables(VariableScope::Session);
        for (name, value) in &mut list {
            if let Some(own) = self.variables.shown(name, self.last_insert_id) {
                *value = own;
            }
        }
        pairs(list)
    }

    fn warnings(&self, errors_only: bool, limit: Option<(u64, u64)>) -> VirtualTable {
        let (offset, count) = limit.unwrap_or((0, u64::MAX));
        let shown = self.diagnostics.warnings.iter().filter(|w| !errors_only || w.level == Level::Error);
        let row = |w: &crate::expr::Warning| {
            vec![text(w.level.name()), Value::UInt(u64::from(w.code)), text(&w.message)]
        };
        let rows = shown
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .map(row);
        typed(
            &[
                ("Level", ColumnType::varchar(7, collation::UTF8MB4_0900_AI_CI)),
                ("Code", ColumnType::int(true)),
                ("Message", ColumnType::varchar(512, collation::UTF8MB4_0900_AI_CI)),
            ],
            rows.collect(),
        )
    }

    fn count_of(&self, errors: bool) -> VirtualTable {
        let count = match errors {
            true => self.diagnostics.warnings.iter().filter(|w| w.level == Level::Error).count() as u64,
            false => self.diagnostics.count,
        };
        let name = if errors { "@@session.error_count" } else { "@@session.warning_count" };
        typed(&[(name, number_type())], vec![vec![Value::UInt(count)]])
    }
}

/// A column as SHOW FULL COLUMNS shows it, without its privileges: name, type, collation, whether
/// it may be NULL, key, default, what else there is, and comment.
type ShownColumn = (Value, Value, Value, Value, Value, Value, Value, Value);

fn declared_column(declared: &Declared, column: &DeclaredColumn) -> ShownColumn {
    let collation = match column.ty.is_character() {
        true => text(collation::name(column.ty.collation)),
        false => Value::Null,
    };
    (
        text(column.name),
        text(column.ty.sql_name()),
        collation,
        text(if column.nullable { "YES" } else { "NO" }),
        text(declared.key_of(column.name)),
        column.default.map_or(Value::Null, text),
        text(""),
        text(column.comment),
    )
}

fn pairs(list: Vec<(String, String)>) -> VirtualTable {
    let rows = list.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect();
    words(&["Variable_name", "Value"], rows)
}

fn index_columns() -> Vec<(&'static str, ColumnType)> {
    let (name, number) = (name_type, number_type);
    vec![
        ("Table", name()),
        ("Non_unique", number()),
        ("Key_name", name()),
        ("Seq_in_index", number()),
        ("Column_name", name()),
        ("Collation", name()),
        ("Cardinality", number()),
        ("Sub_part", number()),
        ("Packed", name()),
        ("Null", name()),
        ("Index_type", name()),
        ("Comment", name()),
        ("Index_comment", ColumnType::varchar(2048, collation::UTF8MB3_GENERAL_CI)),
        ("Visible", name()),
        ("Expression", ColumnType::longtext(collation::UTF8MB3_GENERAL_CI)),
    ]
}
