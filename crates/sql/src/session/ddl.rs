//! DDL of a session: commits before itself, and is logged with the session's settings.

use super::state::Bound;
use super::{Session, temporary};
use crate::ast::{self, CreateTable, EventSchedule, Insert, InsertSource, Query, Statement};
use crate::ddl::{
    DdlReport, DdlRun, DdlSettings, ScheduleValues, about_temporary, columns_of_query, routine_change,
    schedule_of,
};
use crate::error::{Result, SqlError};
use crate::exec::{Run, run_query};
use crate::expr::Level;
use binlog::event::flags2;
use engine::{EngineError, SessionContext, StatementContext, Table, Transaction};
use std::sync::Arc;
use types::{Value, collation, convert};

impl Session {
    pub(super) fn session_context(&self, now_us: u64) -> SessionContext {
        let mut flags = 0;
        if !self.settings.variables.foreign_key_checks {
            flags |= flags2::NO_FOREIGN_KEY_CHECKS;
        }
        if !self.settings.variables.unique_checks {
            flags |= flags2::RELAXED_UNIQUE_CHECKS;
        }
        SessionContext {
            thread_id: self.server.host.connection_id(),
            flags2: flags,
            sql_mode: self.settings.variables.sql_mode.0,
            character_set_client: self.logged_character_set(),
            collation_connection: self.settings.variables.connection_collation,
            collation_server: self.settings.variables.server_collation,
            auto_increment: (
                self.settings.variables.auto_increment_increment as u16,
                self.settings.variables.auto_increment_offset as u16,
            ),
            explicit_timestamps: self.settings.variables.explicit_timestamps,
            time_zone: self.settings.variables.time_zone.clone(),
            timestamp_us: now_us,
            exec_time_s: 0,
        }
    }

    /// Texts are logged as they are parsed, in utf8mb4.
    fn logged_character_set(&self) -> u16 {
        match self.settings.variables.client_collation {
            id if collation::charset_of(id) == collation::Charset::Utf8mb4 => id,
            _ => collation::UTF8MB4_0900_AI_CI,
        }
    }

    pub(super) fn ddl_run<'s>(&'s self, text: &'s str) -> DdlRun<'s> {
        let now_us = self.settings.now_us();
        DdlRun {
            engine: &self.server.engine,
            schema: self.settings.schema.as_deref(),
            settings: DdlSettings {
                collation: self.settings.variables.server_collation,
                utf8mb4_collation: types::collation::UTF8MB4_0900_AI_CI,
                strict: self.settings.variables.sql_mode.strict(),
                dates: self.settings.variables.sql_mode.dates(),
                no_engine_substitution: self.settings.variables.sql_mode.no_engine_substitution(),
                is_temporary: false,
                zone_offset_s: self.settings.variables.time_zone_offset_s,
                now_us,
                foreign_key_checks: self.settings.variables.foreign_key_checks,
                explicit_timestamps: self.settings.variables.explicit_timestamps,
                inline_references: true,
                replicated: false,
                of_mariadb: false,
                literal_collation: self.settings.variables.connection_collation,
            },
            text,
            session: self.session_context(now_us),
            received_group: None,
            options: self.commit_options(),
            lock_timeout_ms: Some(self.settings.variables.lock_wait_timeout_s * 1000),
            current_user: self.definer(),
            schedule: ScheduleValues::default(),
            locked_tables: self.locks.tables.as_ref().map(|locked| &*locked.tables),
            interrupt: Some(self.server.interrupt.clone()),
            temporary: self.temporary.clone(),
            is_temporary: false,
            notes: Vec::new(),
            report: DdlReport::default(),
        }
    }

    /// Runs a DDL statement; `text` is what the binary log gets.
    pub(super) fn run_ddl(&mut self, text: &[u8], statement: &Statement) -> Result<DdlReport> {
        let schema_of = |name: &ast::TableName| self.settings.schema_of(name);
        if let Some(about) = about_temporary(statement, &self.temporary, &schema_of)? {
            return temporary::define_temporary(self, text, statement, about);
        }
        self.check_writable()?;
        self.check_locked_for_ddl(statement)?;
        self.commit_transaction()?;
        self.check_session_writable()?;
        if self.check_gtid_next()? {
            return Ok(DdlReport::default());
        }
        if let Statement::CreateObject(create) = statement {
            super::program::check_body(self, create)?;
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let schedule = match schedule_of(statement) {
            Some(schedule) => self.schedule_values(schedule)?,
            None => ScheduleValues::default(),
        };
        let (notes, report) = {
            if let Statement::CreateTable(create) = statement
                && create.query.is_some()
            {
                return self.create_table_select(create);
            }
            let mut run = self.ddl_run(&text);
            run.schedule = schedule;
            run.options.binlog &= self.server.engine.binlog_filter().allows(self.filtered_schema(statement));
            let done = run.run(statement);
            let told = (std::mem::take(&mut run.notes), std::mem::take(&mut run.report));
            self.spend_gtid();
            done?;
            told
        };
        let maker = self.definer();
        if let Some(change) = routine_change(statement, self.schema(), (&maker.0, &maker.1), &notes) {
            self.server.host.routine_changed(&change)?;
        }
        for (code, message) in notes {
            self.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
        }
        self.note_definer(statement);
        if let Statement::DropSchema { schema, .. } = statement
            && self.settings.schema.as_deref() == Some(schema)
        {
            self.settings.schema = None;
            self.server.host.schema_changed(None);
        }
        self.invalidate_plans();
        Ok(report)
    }

    /// Note 1449 of an object whose definer is not there.
    fn note_definer(&self, statement: &Statement) {
        let Statement::CreateObject(create) = statement else { return };
        let Some(definer) = create.definer.as_ref().filter(|definer| !definer.is_current_user) else {
            return;
        };
        match self.server.host.act_as((&definer.user, &definer.host)) {
            Ok(()) => self.server.host.act_no_more(),
            Err(absent) => {
                self.statement.diagnostics.borrow_mut().push(Level::Note, absent.code, &absent.message);
            }
        }
    }

    /// The account that makes an object that names no definer.
    fn definer(&self) -> (String, String) {
        let account = self.server.host.current_user();
        let (user, host) = account.rsplit_once('@').unwrap_or((&account, ""));
        (user.to_owned(), host.to_owned())
    }

    /// What the expressions of an event's schedule are now.
    pub(super) fn schedule_values(&mut self, schedule: &EventSchedule) -> Result<ScheduleValues> {
        let mut values = ScheduleValues::default();
        match schedule {
            EventSchedule::At(at) => values.at = self.schedule_moment(at)?,
            EventSchedule::Every { amount, starts, ends, .. } => {
                let amount = self.evaluate(amount)?;
                let shown = amount.text_bytes(None).map(|text| String::from_utf8_lossy(&text).into_owned());
                values.amount = match amount {
                    Value::Bytes(_) => shown.map(|text| format!("'{text}'")),
                    _ => shown,
                };
                values.starts = starts.as_ref().map_or(Ok(None), |starts| self.schedule_moment(starts))?;
                values.ends = ends.as_ref().map_or(Ok(None), |ends| self.schedule_moment(ends))?;
            }
        }
        Ok(values)
    }

    fn schedule_moment(&mut self, written: &crate::ast::Expr) -> Result<Option<String>> {
        let value = self.evaluate(written)?;
        let ctx = self.context(&[], false);
        let Some(mut at) = crate::expr::datetime_of(&value, &ctx) else { return Ok(None) };
        at.micros = 0;
        let text = Value::DateTime(at).text_bytes(None).unwrap_or_default();
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// The schema that `binlog_do_db` and `binlog_ignore_db` go by.
    fn filtered_schema<'s>(&'s self, statement: &'s Statement) -> &'s str {
        match statement {
            Statement::CreateSchema { schema, .. } | Statement::DropSchema { schema, .. } => schema,
            Statement::AlterSchema { schema: Some(schema), .. } => schema,
            _ => self.settings.schema.as_deref().unwrap_or_default(),
        }
    }

    /// Whether a statement defines temporary tables and nothing else.
    pub(super) fn is_about_temporary(&self, statement: &Statement) -> Result<bool> {
        let schema_of = |name: &ast::TableName| self.settings.schema_of(name);
        Ok(about_temporary(statement, &self.temporary, &schema_of)?.is_some())
    }

    /// Runs such a statement of a source, which has run it: a table that is in the way is left of a
    /// transaction that is tried again.
    pub(super) fn define_received(
        &mut self,
        transaction: &mut Transaction,
        text: &[u8],
        statement: &Statement,
    ) -> Result<()> {
        if let Statement::CreateTable(create) = statement
            && !create.if_not_exists
            && let Some(left) =
                self.temporary.table(&self.settings.schema_of(&create.table)?, &create.table.name)
        {
            self.temporary.remove(&left);
        }
        let text = String::from_utf8_lossy(text).into_owned();
        self.invalidate_plans();
        if let Statement::CreateTable(create) = statement
            && let Some(query) = &create.query
        {
            let Some((made, bound)) = self.begin_select(create, query)? else { return Ok(()) };
            let filled = self.change_rows(transaction, &bound, None);
            if filled.is_err() {
                self.temporary.remove(&made);
            }
            return filled;
        }
        let mut run = self.ddl_run(&text);
        run.is_temporary = true;
        run.as_of_source(self.settings.variables.of_mariadb);
        run.run(statement)
    }

    /// Makes the table of a CREATE ... SELECT, and the INSERT that fills it; `None`: it was there.
    pub(super) fn begin_select(
        &self,
        create: &CreateTable,
        query: &Query,
    ) -> Result<Option<(Arc<Table>, Bound)>> {
        let extra = columns_of_query(&crate::bind::bind_query(&mut self.binder(), query, None)?)?;
        let columns = extra.iter().map(|column| column.name.clone()).collect();
        let mut run = self.ddl_run("");
        run.is_temporary = true;
        let created = run.create_table(create, extra);
        for (code, message) in std::mem::take(&mut run.notes) {
            self.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
        }
        if !created? {
            return Ok(None);
        }
        let schema = self.settings.schema_of(&create.table)?;
        let made = self.temporary.table(&schema, &create.table.name);
        let made = made.ok_or_else(|| SqlError::no_such_table(&schema, &create.table.name))?;
        let insert = Statement::Insert(Insert {
            table: create.table.clone(),
            partitions: Vec::new(),
            columns: Some(columns),
            source: InsertSource::Query(Box::new(query.clone())),
            replace: false,
            ignore: false,
            row_alias: None,
            on_duplicate: Vec::new(),
        });
        match self.bind_unseen(&insert, made.id) {
            Ok(bound) => Ok(Some((made, bound))),
            Err(error) => {
                self.temporary.remove(&made);
                Err(error)
            }
        }
    }

    /// CREATE TABLE ... SELECT: the table is logged by its definition, and its rows as the
    /// transaction that follows.
    fn create_table_select(&mut self, create: &CreateTable) -> Result<DdlReport> {
        let Some(query) = &create.query else { return Ok(DdlReport::default()) };
        if !create.foreign_keys.is_empty() {
            return Err(SqlError::new(
                3978,
                "Foreign key creation is not allowed with CREATE TABLE as SELECT and CREATE TABLE with START TRANSACTION statement.",
            ));
        }
        let mut binder = self.binder();
        binder.keeps_order = true;
        let plan = crate::bind::bind_query(&mut binder, query, None)?;
        let (subqueries, calls) = (binder.take_subqueries(), binder.calls_functions);
        let extra = columns_of_query(&plan)?;
        let created = {
            let schema = self.settings.schema_of(&create.table)?;
            let settings = self.ddl_run("").settings;
            let has_expressions =
                |spec: &ast::ColumnSpec| spec.generated.is_some() || spec.default_expression.is_some();
            if create.columns.iter().any(has_expressions) || !create.checks.is_empty() {
                return Err(SqlError::not_supported("CREATE TABLE ... SELECT with expressions of columns"));
            }
            let collation = self
                .server
                .engine
                .catalog()
                .schema(&schema)
                .map_or(settings.collation, |found| found.collation);
            let settings = DdlSettings { collation, ..settings };
            let def = crate::ddl::definition(create, &schema, extra.clone(), &settings)?;
            let zone = self.settings.variables.time_zone_offset_s;
            let text = crate::show::create_table(&def, None, zone);
            let qualified = text.replacen(
                &format!("CREATE TABLE {}", crate::quoting::quoted(&def.name)),
                &format!(
                    "CREATE TABLE {}.{}",
                    crate::quoting::quoted(&def.schema),
                    crate::quoting::quoted(&def.name)
                ),
                1,
            );
            let mut run = self.ddl_run(&qualified);
            run.create_table(create, extra)?
        };
        self.invalidate_plans();
        if !created {
            return Ok(DdlReport::default());
        }
        let table = self.binder().stored_table(&create.table)?;
        let mut transaction = self.take_transaction()?;
        let filled = {
            let ctx = self.context(&[], true);
            transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
            let read = |mut run: Run<'_, '_>| {
                let mut rows = Vec::new();
                run_query(&mut run, &plan, &mut |row| {
                    rows.push(row.to_vec());
                    Ok(())
                })?;
                Ok(rows)
            };
            let rows = crate::exec::Subqueries::with(&subqueries, &mut transaction, &ctx, false, calls, read);
            rows.and_then(|rows| {
                for row in &rows {
                    insert_row(&mut transaction, &table, &plan.columns, row, ctx.conversion(true))?;
                }
                ctx.check_refused()?;
                Ok(rows.len() as u64)
            })
        };
        match filled {
            Ok(records) => {
                transaction.commit(&self.commit_options())?;
                Ok(DdlReport::altered(records))
            }
            Err(error) => {
                transaction.rollback();
                let text = format!(
                    "DROP TABLE {}.{}",
                    crate::quoting::quoted(&table.def.schema),
                    crate::quoting::quoted(&table.def.name)
                );
                let drop = Statement::DropTable {
                    tables: vec![create.table.clone()],
                    if_exists: false,
                    temporary: false,
                    sequences: false,
                };
                self.ddl_run(&text).run(&drop)?;
                Err(error)
            }
        }
    }
}

/// A row of the query into the columns of the same names.
fn insert_row(
    transaction: &mut engine::Transaction,
    table: &std::sync::Arc<engine::Table>,
    columns: &[crate::ColumnMeta],
    row: &[Value],
    conversion: convert::Context,
) -> Result<()> {
    let mut values = vec![Value::Null; table.columns()];
    for (at, column) in table.def.columns.iter().enumerate() {
        let source = columns.iter().position(|meta| meta.name.eq_ignore_ascii_case(&column.name));
        let mut context = conversion;
        let value = match (source, column.default_literal()) {
            (Some(source), _) => row[source].clone(),
            (None, Some(literal)) => {
                context.dates = convert::DateModes::default();
                literal
            }
            (None, _) if column.auto_increment => Value::UInt(table.next_auto_increment(1)?),
            (None, _) => Value::Null,
        };
        if value.is_null() && !column.nullable {
            return Err(crate::SqlError::column_not_null(&column.name));
        }
        let value = match value {
            stamp @ Value::Timestamp { .. } if column.ty.code != types::TypeCode::Timestamp2 => {
                stamp.in_zone(conversion.zone_offset_seconds)
            }
            value => value,
        };
        let (value, _) = convert::assign(&value, &column.ty, context)
            .map_err(|problem| crate::SqlError::new(problem.code(), problem.message(&column.name, 1)))?;
        values[at] = value;
    }
    let mut image = Vec::new();
    table.layout.encode(&values, &mut image).map_err(EngineError::Row)?;
    Ok(transaction.insert(table, &image)?)
}
