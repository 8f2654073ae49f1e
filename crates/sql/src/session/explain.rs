//! EXPLAIN: binds a statement and shows its plan, and for ANALYZE runs it and shows what it took.

use super::state::{Bound, Plan};
use super::{Session, bound, results, xa};
use crate::ast::{Explain, ExplainFormat, ExplainOf, Statement};
use crate::bind::Join;
use crate::error::{Result, SqlError};
use crate::exec::{Run, Subqueries, run_query};
use crate::expr::Level;
use crate::host::{VariableScope, VirtualTable};
use crate::memory::Charge;
use crate::parse::Hints;
use crate::plan::TableStep;
use crate::result_column::column_meta;
use crate::show::{Explained, Operations, Part, PartitionsOf};
use crate::sink::ResultSink;
use crate::stopwatch::Measures;
use engine::{StatementContext, Transaction};
use types::{ColumnType, NumberForm, Value};

/// The error of an interrupted statement.
const INTERRUPTED: u16 = 1317;

/// Runs an EXPLAIN.
pub(super) fn run(
    session: &mut Session,
    explain: &Explain,
    hints: &Hints,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    match &explain.of {
        ExplainOf::Statement { statement, schema: Some(schema) } => {
            let around = session.settings.schema.clone();
            session.change_schema(schema)?;
            let done = of_statement(session, explain, (statement, hints), sink);
            session.leave_schema(around);
            done
        }
        ExplainOf::Statement { statement, schema: None } => {
            of_statement(session, explain, (statement, hints), sink)
        }
        ExplainOf::Connection(id) => {
            let format = explain.format.map_or_else(|| format_of(session), Ok)?;
            let plan = session.server.host.plan_of_connection(*id)?;
            let bound = plan.downcast::<Bound>().map_err(|_| SqlError::unknown_plan())?;
            let table = shown(session, &bound, format, None);
            results::send_table(session, &table, sink)
        }
    }
}

fn of_statement(
    session: &mut Session,
    explain: &Explain,
    (statement, hints): (&Statement, &Hints),
    sink: &mut dyn ResultSink,
) -> Result<()> {
    let format = explain.format.map_or_else(|| format_of(session), Ok)?;
    // Binding comes before anything runs, and checks the privileges.
    let bound = bound::bind_explained(session, statement, hints)?;
    for (code, text) in &bound.constants.complaints {
        session.statement.diagnostics.borrow_mut().push(Level::Warning, *code, text.clone());
    }
    let mut measures = None;
    if explain.analyze {
        if format == ExplainFormat::Json && json_version(session)? == Some(1) {
            let text = "EXPLAIN ANALYZE does not support FORMAT=JSON with explain_json_format_version=1.";
            return Err(SqlError::new(6412, text));
        }
        measures = Some(analyzed(session, &bound)?);
    }
    let format = match format {
        ExplainFormat::Traditional if explain.analyze => ExplainFormat::Tree,
        format => format,
    };
    let table = shown(session, &bound, format, measures.as_ref());
    match &explain.into {
        Some(variable) => {
            let text = table.rows.into_iter().flatten().next().unwrap_or(Value::Null);
            session.settings.user_variables.set(variable, &text, &table.columns[0].ty)?;
            results::ok(session, sink)
        }
        None => results::send_table(session, &table, sink),
    }
}

/// Returns the format of an EXPLAIN that names none (`explain_format`).
fn format_of(session: &Session) -> Result<ExplainFormat> {
    let format = session.server.host.variable(VariableScope::Session, "explain_format")?;
    let format = format.and_then(|format| format.text_bytes(None)).unwrap_or_else(|| b"TREE".to_vec());
    ExplainFormat::named(&String::from_utf8_lossy(&format))
}

/// Returns the version of the JSON format, if it is known (`explain_json_format_version`).
fn json_version(session: &Session) -> Result<Option<i64>> {
    let version = session.server.host.variable(VariableScope::Session, "explain_json_format_version")?;
    Ok(match version {
        Some(Value::Int(version)) => Some(version),
        Some(Value::UInt(version)) => i64::try_from(version).ok(),
        other => other
            .and_then(|version| version.text_bytes(None))
            .and_then(|version| String::from_utf8_lossy(&version).parse().ok()),
    })
}

/// Returns the plan of a statement as rows.
fn shown(
    session: &Session,
    bound: &Bound,
    format: ExplainFormat,
    measures: Option<&Measures>,
) -> VirtualTable {
    let text = match format {
        ExplainFormat::Traditional => {
            let ctx = session.context(&[], false);
            let partitions =
                |step: &TableStep, is_inner: bool| crate::exec::used_partitions(step, is_inner, &ctx);
            let engine = &session.server.engine;
            let filled = match &bound.plan {
                Plan::Insert(plan) => crate::exec::filled_partitions(plan, &ctx),
                _ => None,
            };
            let found = (&partitions as &PartitionsOf<'_>, filled);
            let rows = crate::show::explain_rows(engine, &bound.parts(), &bound.subqueries, found);
            return VirtualTable { columns: columns(), rows };
        }
        ExplainFormat::Tree => crate::show::tree(&bound.operations(measures)),
        ExplainFormat::Json => crate::show::json(&bound.operations(measures)),
    };
    let ty = ColumnType::text(types::collation::UTF8MB4_0900_AI_CI);
    VirtualTable { columns: vec![column_meta("EXPLAIN", ty, true)], rows: vec![vec![Value::text(&text)]] }
}

fn columns() -> Vec<crate::ColumnMeta> {
    let text = |chars| ColumnType::varchar(chars, types::collation::UTF8MB4_0900_AI_CI);
    [
        ("id", ColumnType::bigint(true)),
        ("select_type", text(19)),
        ("table", text(64)),
        ("partitions", text(64)),
        ("type", text(10)),
        ("possible_keys", text(4096)),
        ("key", text(64)),
        ("key_len", text(4096)),
        ("ref", text(2048)),
        ("rows", ColumnType::bigint(true)),
        ("filtered", ColumnType { form: Some(NumberForm::new(5, Some(2), false)), ..ColumnType::double() }),
        ("Extra", text(255)),
    ]
    .into_iter()
    .map(|(name, ty)| column_meta(name, ty, true))
    .collect()
}

/// Runs a statement for EXPLAIN ANALYZE. Its rows go nowhere, and rows that it would change stay as
/// they are. If it is interrupted, as by its time limit, this becomes a warning.
fn analyzed(session: &mut Session, bound: &Bound) -> Result<Measures> {
    xa::check_allows(session, bound)?;
    bound::within_time(session, bound.is_query(), bound.hints.max_execution_time_ms, |session| {
        let measures = Measures::default();
        let mut transaction = session.transacting().take();
        let place = session.server.engine.enter_statement();
        let outcome = match run_measured(session, &mut transaction, bound, &measures) {
            Err(error) if error.code == INTERRUPTED => {
                session.statement.diagnostics.borrow_mut().push(Level::Warning, error.code, error.message);
                Ok(())
            }
            other => other,
        };
        drop(place);
        bound::finish_statement(session, transaction, outcome, true)?;
        Ok(measures)
    })
}

fn run_measured(
    session: &Session,
    transaction: &mut Transaction,
    bound: &Bound,
    measures: &Measures,
) -> Result<()> {
    let mut charge = Charge::new(&session.server.memory);
    let mut complaints = Vec::new();
    let parameters = &session.parameters.arguments.values;
    let read = bound::read_parameters(session, bound, parameters, &mut complaints, &mut charge)?;
    let mut ctx = session.context(read.as_deref().unwrap_or(parameters), false);
    ctx.tables = &bound.tables;
    ctx.measures = Some(measures);
    complaints.into_iter().for_each(|(code, text)| ctx.warn(code, text));
    let savepoint =
        transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
    let changes_rows = !bound.is_query();
    let run_plan = |mut run: Run<'_, '_>| {
        if changes_rows {
            run.set_changes_rows();
        }
        match &bound.plan {
            Plan::Query(plan) => run_query(&mut run, plan, &mut |_| Ok(())).map(|_| ()),
            Plan::Insert(plan) => match plan.query() {
                Some(query) => run_query(&mut run, query, &mut |_| Ok(())).map(|_| ()),
                None => Ok(()),
            },
            Plan::UpdateSeveral(plan) => plan.read(&mut run),
            Plan::DeleteSeveral(plan) => plan.read(&mut run),
            Plan::Load(_) | Plan::Update(_) | Plan::Delete(_) => Ok(()),
        }
    };
    let done = Subqueries::with(&bound.subqueries, transaction, &ctx, changes_rows, bound.calls, run_plan);
    match &done {
        Ok(()) => transaction.end_statement(),
        Err(_) => transaction.rollback_to(savepoint),
    }
    done
}

/// Returns what EXPLAIN shows of an UPDATE or DELETE of several tables. `changed` are the slots of
/// the keys of the changed tables, each with whether the table's rows are changed as they are
/// found.
fn of_join<'p>(
    join: &'p Join,
    is_delete: bool,
    changed: impl Iterator<Item = (usize, bool)>,
) -> Explained<'p> {
    let named = |(key_slot, is_immediate): (usize, bool)| {
        let is_it = |step: &&TableStep| step.key_slot == Some(key_slot);
        join.tables.iter().find(is_it).map(|step| (step.alias.as_str(), is_immediate))
    };
    Explained::Changed {
        is_delete,
        tables: changed.filter_map(named).collect(),
        steps: &join.tables,
        slots: join.slots,
        preconditions: &join.preconditions,
    }
}

impl Bound {
    /// Returns the operations of the statement. `measures` is what was measured of it.
    fn operations(&self, measures: Option<&Measures>) -> Operations {
        let explained = match &self.plan {
            Plan::Query(plan) => Explained::Query(plan),
            Plan::Insert(plan) => Explained::Filled {
                is_replace: plan.is_replace(),
                table: &plan.table.def.name,
                query: plan.query(),
            },
            Plan::Load(_) => Explained::OneTable("load"),
            Plan::Update(_) => Explained::OneTable("update"),
            Plan::Delete(_) => Explained::OneTable("delete"),
            Plan::UpdateSeveral(plan) => of_join(&plan.join, false, plan.changed_keys()),
            Plan::DeleteSeveral(plan) => of_join(&plan.join, true, plan.changed_keys()),
        };
        crate::show::operations(&explained, &self.subqueries, measures)
    }

    /// Returns the parts of the statement that EXPLAIN shows as a table.
    fn parts(&self) -> Vec<Part<'_>> {
        match &self.plan {
            Plan::Query(plan) => vec![Part::Query(plan)],
            Plan::Insert(plan) => {
                let kind = if plan.is_replace() { "REPLACE" } else { "INSERT" };
                let filled = Part::Filled(kind, &plan.table);
                std::iter::once(filled).chain(plan.query().map(Part::Query)).collect()
            }
            Plan::Load(_) => Vec::new(),
            Plan::Update(plan) => vec![Part::Changed("UPDATE", std::slice::from_ref(&plan.target.step))],
            Plan::Delete(plan) => vec![Part::Changed("DELETE", std::slice::from_ref(&plan.target.step))],
            Plan::UpdateSeveral(plan) => vec![Part::Changed("UPDATE", &plan.join.tables)],
            Plan::DeleteSeveral(plan) => vec![Part::Changed("DELETE", &plan.join.tables)],
        }
    }
}
