//! VIEWS, TRIGGERS, ROUTINES, PARAMETERS and EVENTS of information_schema.

use super::columns::type_values;
use super::definition::{Definition, Dictionary, Rows};
use crate::attribute;
use crate::ddl::kept_type;
use crate::error::Result;
use crate::event_timing::last_executed_s;
use crate::host::{Privilege, Sight};
use crate::object_text;
use crate::parse::object::{parameters_of, type_of};
use crate::sql_mode::SqlMode;
use engine::{Object, ObjectDef, ObjectKind};
use std::sync::Arc;
use types::{ColumnType, DateTime, TypeCode, Value, Zone, collation};

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "VIEWS", fill: views },
    Definition { name: "TRIGGERS", fill: triggers },
    Definition { name: "ROUTINES", fill: routines },
    Definition { name: "PARAMETERS", fill: parameters },
    Definition { name: "EVENTS", fill: events },
];

fn text(text: &str) -> Value {
    Value::text(text)
}

fn optional(value: Option<&str>) -> Value {
    value.map_or(Value::Null, text)
}

/// Returns the definer as `user@host`.
pub(crate) fn definer(def: &ObjectDef) -> Value {
    text(&format!("{}@{}", def.definer.0, def.definer.1))
}

/// Returns `character_set_client`, `collation_connection`, and the collation of the schema.
pub(crate) fn character_sets(def: &ObjectDef) -> [Value; 3] {
    [
        text(collation::charset_of(def.character_set_client).name()),
        text(collation::name(def.collation_connection)),
        text(collation::name(def.schema_collation)),
    ]
}

/// Returns a moment as a DATETIME in whole seconds.
pub(crate) fn seconds(unix_us: u64) -> Value {
    Value::DateTime(DateTime::from_unix((unix_us / 1_000_000) as i64, 0, Zone::UTC))
}

/// Returns a moment as a DATETIME in hundredths of a second, as triggers have it.
pub(crate) fn hundredths(unix_us: u64) -> Value {
    let micros = (unix_us % 1_000_000) as u32 / 10_000 * 10_000;
    Value::DateTime(DateTime::from_unix((unix_us / 1_000_000) as i64, micros, Zone::UTC))
}

/// Returns the time at which a trigger runs: `BEFORE` or `AFTER`.
pub(crate) fn timing(def: &ObjectDef) -> &'static str {
    if def.trigger.as_ref().is_some_and(|place| place.before) { "BEFORE" } else { "AFTER" }
}

impl Dictionary<'_> {
    fn objects(&self, kind: ObjectKind) -> Vec<Arc<Object>> {
        let mut objects = self.engine.catalog().all_objects(kind);
        objects.retain(|object| sees_object(self.host, &object.def));
        objects
    }
}

/// Reports whether the account may read the body of a routine, because it is the definer or may
/// read all of them.
pub(crate) fn shows_text(host: &dyn crate::host::Host, def: &ObjectDef) -> bool {
    is_definer(host, def) || host.check_sight(Sight::RoutineText(&def.schema)).is_ok()
}

fn is_definer(host: &dyn crate::host::Host, def: &ObjectDef) -> bool {
    host.current_user() == format!("{}@{}", def.definer.0, def.definer.1)
}

/// Reports whether the account may see an object.
pub(crate) fn sees_object(host: &dyn crate::host::Host, def: &ObjectDef) -> bool {
    let schema = def.schema.as_str();
    match def.kind {
        ObjectKind::View => host.check_sight(Sight::Table(schema, &def.name)).is_ok(),
        ObjectKind::Trigger => def
            .trigger
            .as_ref()
            .is_some_and(|place| host.check_table(&[Privilege::Trigger], schema, &place.table).is_ok()),
        ObjectKind::Event => host.check_privilege(Privilege::Event, Some(schema), None).is_ok(),
        _ => is_definer(host, def) || host.check_sight(Sight::Routine(def.kind, schema, &def.name)).is_ok(),
    }
}

fn views(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |view: &Arc<Object>| {
        let def = &view.def;
        let shows = dictionary.host.check_sight(Sight::CreateView(&def.schema, &def.name)).is_ok();
        let [client, connection, _] = character_sets(def);
        vec![
            text("def"),
            text(&def.schema),
            text(&def.name),
            text(if shows { def.attribute(attribute::QUALIFIED).unwrap_or(&def.body) } else { "" }),
            text(def.attribute(attribute::CHECK).unwrap_or("NONE")),
            text(if def.attribute(attribute::UPDATABLE) == Some(attribute::HAS_COLUMNS) {
                "YES"
            } else {
                "NO"
            }),
            definer(def),
            text(object_text::security(def)),
            client,
            connection,
        ]
    };
    rows.extend(dictionary.objects(ObjectKind::View).iter().map(row))
}

fn triggers(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |trigger: &Arc<Object>| {
        let def = &trigger.def;
        let place = def.trigger.as_ref()?;
        let mut row = vec![
            text("def"),
            text(&def.schema),
            text(&def.name),
            text(place.event.word()),
            text("def"),
            text(&def.schema),
            text(&place.table),
            Value::UInt(u64::from(place.order)),
            Value::Null,
            text(&object_text::body_of(def)),
            text("ROW"),
            text(timing(def)),
            Value::Null,
            Value::Null,
            text("OLD"),
            text("NEW"),
            hundredths(def.created_us),
            text(&object_text::sql_mode(def)),
            definer(def),
        ];
        row.extend(character_sets(def));
        Some(row)
    };
    rows.extend(dictionary.objects(ObjectKind::Trigger).iter().filter_map(row))
}

/// Returns the values from DATA_TYPE to DTD_IDENTIFIER for a type that is stored as text.
fn kept_type_values(ty: Option<&ColumnType>, written: &str) -> Vec<Value> {
    let Some(ty) = ty else {
        let mut values = vec![text(written.split(['(', ' ']).next().unwrap_or_default())];
        values.extend(std::iter::repeat_n(Value::Null, 7));
        values.push(text(written));
        return values;
    };
    let mut values = type_values(ty);
    if let TypeCode::Float | TypeCode::Double = ty.code {
        values[4] = Value::Null;
    }
    values
}

fn returned(def: &ObjectDef) -> Option<(Option<ColumnType>, String)> {
    let written = def.attribute(attribute::RETURNS)?;
    let spec = type_of(written, SqlMode(def.sql_mode).lex());
    Some((spec.and_then(|spec| kept_type(&spec, def.schema_collation)), written.to_owned()))
}

fn all_routines(dictionary: &Dictionary<'_>) -> Vec<Arc<Object>> {
    let mut routines = dictionary.objects(ObjectKind::Function);
    routines.extend(dictionary.objects(ObjectKind::Procedure));
    routines
}

fn routines(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |routine: &Arc<Object>| {
        let def = &routine.def;
        let shows = shows_text(dictionary.host, def);
        let mut row =
            vec![text(&def.name), text("def"), text(&def.schema), text(&def.name), text(def.kind.word())];
        row.extend(match returned(def) {
            Some((ty, written)) => kept_type_values(ty.as_ref(), &written),
            None => std::iter::once(text("")).chain(std::iter::repeat_n(Value::Null, 8)).collect(),
        });
        row.extend([
            text("SQL"),
            if shows { text(&object_text::body_of(def)) } else { Value::Null },
            Value::Null,
            text("SQL"),
            text("SQL"),
            text(def.attribute(attribute::DETERMINISTIC).unwrap_or("NO")),
            text(def.attribute(attribute::ACCESS).unwrap_or("CONTAINS SQL")),
            Value::Null,
            text(object_text::security(def)),
            seconds(def.created_us),
            seconds(def.altered_us),
            text(&object_text::sql_mode(def)),
            text(def.attribute(attribute::COMMENT).unwrap_or_default()),
            definer(def),
        ]);
        row.extend(character_sets(def));
        row
    };
    rows.extend(all_routines(dictionary).iter().map(row))
}

fn parameters(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for routine in all_routines(dictionary) {
        let def = &routine.def;
        let mut row = |position: usize, mode: Value, name: Value, of_type: Vec<Value>| {
            let position = Value::UInt(position as u64);
            let mut row = vec![text("def"), text(&def.schema), text(&def.name), position, mode, name];
            row.extend(of_type);
            row.push(text(def.kind.word()));
            rows.push(row)
        };
        if let Some((ty, written)) = returned(def) {
            row(0, Value::Null, Value::Null, kept_type_values(ty.as_ref(), &written))?;
        }
        let written = def.attribute(attribute::PARAMETERS).unwrap_or_default();
        let is_procedure = def.kind == ObjectKind::Procedure;
        let found = parameters_of(written, is_procedure, SqlMode(def.sql_mode).lex());
        for (at, parameter) in found.into_iter().enumerate() {
            let ty = parameter.ty.as_ref().and_then(|spec| kept_type(spec, def.schema_collation));
            row(at + 1, text(parameter.mode), text(&parameter.name), kept_type_values(ty.as_ref(), ""))?;
        }
    }
    Ok(())
}

fn events(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |event: &Arc<Object>| {
        let def = &event.def;
        let part = |name: &str| optional(def.attribute(name));
        let mut row = vec![
            text("def"),
            text(&def.schema),
            text(&def.name),
            definer(def),
            part(attribute::TIME_ZONE),
            text("SQL"),
            text(&object_text::body_of(def)),
            text(event_type(def)),
            part(attribute::AT),
            part(attribute::AMOUNT),
            part(attribute::UNIT),
            text(&object_text::sql_mode(def)),
            part(attribute::STARTS),
            part(attribute::ENDS),
            text(object_text::event_status(def)),
            text(def.attribute(attribute::COMPLETION).unwrap_or("NOT PRESERVE")),
            seconds(def.created_us),
            seconds(def.altered_us),
            last_executed_s(def)
                .map_or(Value::Null, |at_s| seconds(at_s.max(0).unsigned_abs().saturating_mul(1_000_000))),
            text(def.attribute(attribute::COMMENT).unwrap_or_default()),
            originator(def),
        ];
        row.extend(character_sets(def));
        row
    };
    rows.extend(dictionary.objects(ObjectKind::Event).iter().map(row))
}

/// Returns the type of an event: `ONE TIME` or `RECURRING`.
pub(crate) fn event_type(def: &ObjectDef) -> &'static str {
    if def.attribute(attribute::AT).is_some() { "ONE TIME" } else { "RECURRING" }
}

/// Returns the id of the server that an event comes from.
pub(crate) fn originator(def: &ObjectDef) -> Value {
    Value::UInt(def.attribute(attribute::ORIGINATOR).and_then(|id| id.parse().ok()).unwrap_or(0))
}
