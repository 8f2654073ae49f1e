//! CREATE EVENT and ALTER EVENT: puts their clauses into an event's definition.

use super::object_errors::{absent, exists};
use super::run::DdlRun;
use crate::ast::{AlterEvent, EventClauses, EventSchedule, EventStatus};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::event_timing::is_dropped_at_end;
use crate::object_text;
use engine::{EngineError, ObjectChange, ObjectDef, ObjectKind, ObjectName};

/// The consequence for an event that would never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    /// None: the event has moments to come, keeps its old schedule, or stays disabled.
    No,
    /// The event is disabled instead of enabled.
    Disables,
    /// The event would be dropped at once.
    Drops,
}

/// Puts the clauses of CREATE EVENT or ALTER EVENT into a definition.
pub(super) fn put_clauses(run: &DdlRun<'_>, def: &mut ObjectDef, clauses: &EventClauses) -> Past {
    if let Some(schedule) = &clauses.schedule {
        put_schedule(run, def, schedule);
        let zone = &run.session.time_zone;
        def.set_attribute(attribute::TIME_ZONE, if zone.is_empty() { "SYSTEM" } else { zone });
    }
    if let Some(preserve) = clauses.preserve {
        def.set_attribute(attribute::COMPLETION, if preserve { "PRESERVE" } else { "NOT PRESERVE" });
    }
    if let Some(comment) = &clauses.comment {
        def.set_attribute(attribute::COMMENT, comment.clone());
    }
    let past = past(run, def, clauses);
    let known = def.attribute(attribute::STATUS);
    let status = match clauses.status {
        // An event of a source runs at the source. The replica gets its effects and does not run it
        // again.
        _ if run.settings.replicated && (clauses.status.is_some() || known.is_none()) => "REPLICA",
        _ if past == Past::Disables => "DISABLED",
        Some(EventStatus::Disabled) => "DISABLED",
        Some(EventStatus::DisabledOnReplica) => "REPLICA",
        Some(EventStatus::Enabled) => "ENABLED",
        None => known.unwrap_or("ENABLED"),
    };
    let status = status.to_owned();
    def.set_attribute(attribute::STATUS, status);
    let originator = run.options.server_id.unwrap_or(run.engine.config().server_id);
    def.set_attribute(attribute::ORIGINATOR, originator.to_string());
    past
}

fn put_schedule(run: &DdlRun<'_>, def: &mut ObjectDef, schedule: &EventSchedule) {
    let values = &run.schedule;
    // ALTER EVENT without ENDS keeps the end of a recurring event at MariaDB.
    let keeps_end = run.settings.of_mariadb && values.ends_s.is_none();
    let end = def.attribute(attribute::ENDS).filter(|_| keeps_end).map(str::to_owned);
    for name in [attribute::AT, attribute::AMOUNT, attribute::UNIT, attribute::STARTS, attribute::ENDS] {
        def.remove_attribute(name);
    }
    let mut put = |name: &str, at_s: Option<i64>| {
        if let Some(at_s) = at_s {
            let at_us = at_s.max(0) as u64 * 1_000_000;
            def.set_attribute(name, object_text::moment(at_us, run.settings.zone));
        }
    };
    match schedule {
        EventSchedule::At(_) => put(attribute::AT, values.at_s),
        EventSchedule::Every { unit, .. } => {
            put(attribute::STARTS, values.starts_s);
            put(attribute::ENDS, values.ends_s);
            if let Some(end) = end {
                def.set_attribute(attribute::ENDS, end);
            }
            def.set_attribute(attribute::AMOUNT, values.amount.clone().unwrap_or_default());
            def.set_attribute(attribute::UNIT, unit.name().to_uppercase());
        }
    }
}

/// Returns the consequence if the last moment of a new schedule is past.
fn past(run: &DdlRun<'_>, def: &ObjectDef, clauses: &EventClauses) -> Past {
    let now_s = (run.settings.now_us / 1_000_000) as i64;
    let last_s = run.schedule.at_s.or(run.schedule.ends_s);
    if run.settings.replicated || clauses.schedule.is_none() || last_s.is_none_or(|last_s| last_s >= now_s) {
        return Past::No;
    }
    match clauses.status {
        _ if is_dropped_at_end(def) => Past::Drops,
        None | Some(EventStatus::Enabled) => Past::Disables,
        Some(EventStatus::Disabled | EventStatus::DisabledOnReplica) => Past::No,
    }
}

/// Returns note 1544, which tells that the event is disabled because its time is past.
pub(super) fn disabled_note() -> (u16, String) {
    (1544, "Event execution time is in the past. Event has been disabled".to_owned())
}

/// Returns note 1588, which tells that the event was dropped at once because its time is past.
pub(super) fn dropped_note() -> (u16, String) {
    let text = "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event \
                was dropped immediately after creation.";
    (1588, text.to_owned())
}

fn within(error: SqlError) -> EngineError {
    EngineError::Statement { code: error.code, message: error.message }
}

/// Runs an ALTER EVENT.
pub(super) fn alter(run: &mut DdlRun<'_>, alter: &AlterEvent) -> Result<()> {
    let kind = ObjectKind::Event;
    let schema = run.schema_of(&alter.name)?;
    let to = match &alter.clauses.rename {
        Some(to) => (run.schema_of(to)?, to.name.clone()),
        None => (schema.clone(), alter.name.name.clone()),
    };
    if alter.clauses.rename.is_some() && to.0 == schema && kind.key(&to.1) == kind.key(&alter.name.name) {
        return Err(SqlError::new(1551, "Same old and new event name"));
    }
    let names = [
        ObjectName { kind, schema: &schema, name: &alter.name.name },
        ObjectName { kind, schema: &to.0, name: &to.1 },
    ];
    let mut is_disabled = false;
    let mut plan = || altered(run, alter, &schema, &to, &mut is_disabled).map_err(within);
    // The account that alters an event becomes its definer. Naming it in the logged text makes
    // replicas do the same.
    let definer = object_text::account(&run.definer_of(alter.definer.as_ref()));
    let text = format!("ALTER DEFINER={definer} {}", alter.text);
    let context = engine::DdlContext { statement: &text, ..run.context() };
    run.engine.change_objects(&names, &mut plan, &context)?;
    if is_disabled {
        run.notes.push(disabled_note());
    }
    Ok(())
}

fn altered(
    run: &DdlRun<'_>,
    alter: &AlterEvent,
    schema: &str,
    to: &(String, String),
    is_disabled: &mut bool,
) -> Result<Vec<ObjectChange>> {
    let kind = ObjectKind::Event;
    let catalog = run.engine.catalog();
    let unknown = || absent(kind, schema, &alter.name.name);
    let old = catalog.object(schema, kind, &alter.name.name).ok_or_else(unknown)?;
    if catalog.object(&to.0, kind, &to.1).is_some_and(|other| other.id != old.id) {
        return Err(exists(kind, &to.1));
    }
    if catalog.schema(&to.0).is_none() {
        return Err(SqlError::unknown_schema(&to.0));
    }
    let mut def = old.def.clone();
    (def.schema, def.name) = to.clone();
    if alter.clauses.rename.is_none() {
        def.name.clone_from(&old.def.name);
    }
    def.definer = run.definer_of(alter.definer.as_ref());
    def.altered_us = run.settings.now_us;
    if let Some(body) = &alter.body {
        def.body.clone_from(body);
        def.sql_mode = run.session.sql_mode;
        def.character_set_client = run.session.character_set_client;
        def.collation_connection = run.session.collation_connection;
    }
    match put_clauses(run, &mut def, &alter.clauses) {
        Past::No => {}
        Past::Disables => *is_disabled = true,
        Past::Drops => {
            let text = "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event \
                        was not changed. Specify a time in the future.";
            return Err(SqlError::new(1589, text));
        }
    }
    Ok(vec![ObjectChange { old: Some(old), new: Some(def) }])
}
