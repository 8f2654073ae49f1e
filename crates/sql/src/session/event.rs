//! Runs events for the event scheduler: runs an event's body, notes the run in the dictionary, and
//! drops an event that has run for the last time.

use super::Session;
use super::ddl_run::ddl_run;
use crate::ast::{Statement, TableName};
use crate::attribute;
use crate::error::Result;
use crate::event_timing::{EventTiming, executed};
use crate::expr::Level;
use crate::quoting::quoted;
use crate::sink::Unread;
use crate::time_zone;
use engine::{
    CommitOptions, DdlContext, Engine, GtidNext, InstantColumns, Object, ObjectChange, ObjectDef, ObjectKind,
    ObjectName, SessionContext,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A condition that the run of an event has left, for the error log.
#[derive(Debug)]
pub struct EventCondition {
    /// The level: error, warning, or info for a note.
    pub level: log::Level,
    /// The condition's message.
    pub message: String,
}

/// The result of an event's run.
#[derive(Debug)]
pub struct EventRun {
    /// Whether the body has run to its end.
    pub is_done: bool,
    /// The conditions that the run has left.
    pub conditions: Vec<EventCondition>,
}

/// Runs the body of an event in its time zone, with its `sql_mode` and its definer's privileges.
/// Result sets are dropped. A transaction that the body leaves open is rolled back with the
/// session, unless [`drop_event`] comes before.
pub fn run_event(session: &mut Session, event: &Arc<Object>) -> EventRun {
    let zone = event.def.attribute(attribute::TIME_ZONE).unwrap_or("SYSTEM");
    if let Some(found) = time_zone::find(&session.server.engine, zone) {
        session.settings.variables.time_zone = zone.to_owned();
        session.settings.variables.zone = found;
    }
    let done = super::program::run_event_body(session, event, &mut Unread::default());
    if let Err(error) = &done {
        session.note_error(error);
    }
    let diagnostics = session.statement.diagnostics.borrow();
    let conditions = diagnostics.warnings.iter().map(|condition| EventCondition {
        level: match condition.level {
            Level::Error => log::Level::Error,
            Level::Warning => log::Level::Warn,
            Level::Note => log::Level::Info,
        },
        message: condition.message.clone(),
    });
    EventRun { is_done: done.is_ok(), conditions: conditions.collect() }
}

/// Drops an event that has run for the last time, logged with the text that MySQL logs. An event
/// that was altered meanwhile stays. No privilege is checked, and a read-only server does it too,
/// because this only carries out what CREATE EVENT has demanded.
///
/// # Errors
/// Returns the errors of the engine.
pub fn drop_event(session: &mut Session, event: &Object) -> Result<()> {
    let def = &event.def;
    let is_over =
        |now: &Arc<Object>| now.id == event.id && timing_of(&session.server.engine, &now.def).is_none();
    if !session
        .server
        .engine
        .catalog()
        .object(&def.schema, ObjectKind::Event, &def.name)
        .is_some_and(|o| is_over(&o))
    {
        return Ok(());
    }
    // Like any DDL, this commits the transaction that the event has left open.
    session.transacting().commit()?;
    session.settings.schema = Some(def.schema.clone());
    let text = format!("DROP EVENT IF EXISTS{}.{}", quoted(&def.schema), quoted(&def.name));
    let name = TableName { schema: Some(def.schema.clone()), name: def.name.clone() };
    let mut run = ddl_run(session, &text);
    run.options.binlog &= session.server.engine.binlog_filter().allows(&def.schema);
    run.run(&Statement::DropObjects { kind: ObjectKind::Event, names: vec![name], if_exists: true })
}

/// Notes in the dictionary that a run of an event begins now, and disables the event if this is its
/// last run. The note is a commit of its own that is not logged. Returns false if the event was
/// altered or dropped meanwhile.
///
/// # Errors
/// Returns the errors of the engine, and 1317 when `interrupt` is set while it waits for a lock.
pub fn note_event_run(
    engine: &Arc<Engine>,
    event: &Object,
    (now_s, is_last): (i64, bool),
    interrupt: Arc<AtomicBool>,
) -> Result<bool> {
    let (kind, def) = (ObjectKind::Event, &event.def);
    let _pass = engine.enter_ddl(None, Some(&interrupt))?;
    let mut is_noted = false;
    let mut plan = || {
        let now = engine.catalog().object(&def.schema, kind, &def.name);
        let same =
            now.filter(|now| now.id == event.id && timing_of(engine, &now.def) == timing_of(engine, def));
        let Some(old) = same else { return Ok(Vec::new()) };
        is_noted = true;
        let new = executed(&old.def, now_s, is_last);
        Ok(vec![ObjectChange { old: Some(old), new: Some(new) }])
    };
    let options = CommitOptions { gtid: GtidNext::Anonymous, binlog: false, ..CommitOptions::default() };
    let context = DdlContext {
        statement: "",
        schema: "",
        session: &SessionContext::default(),
        received_group: None,
        options,
        lock_timeout_ms: None,
        locked_tables: None,
        interrupt: Some(interrupt.clone()),
        lock_interrupt: None,
        exclusive: false,
        dropped_rows: None,
        instant: InstantColumns::default(),
        renamed_columns: &[],
        auto_increment: None,
        on_stage: None,
    };
    let name = ObjectName { kind, schema: &def.schema, name: &def.name };
    engine.change_objects(&[name], &mut plan, &context)?;
    Ok(is_noted)
}

/// Returns the times at which an event runs, or `None` if this server does not run it any more.
pub fn timing_of(engine: &Arc<Engine>, def: &ObjectDef) -> Option<EventTiming> {
    EventTiming::of(def, |zone| time_zone::find(engine, zone))
}
