//! SHOW CREATE for views, triggers, routines and events, and the SHOW statements that list them.

use super::objects::{ShowParts, text, with_types, words};
use crate::ast::TableName;
use crate::attribute;
use crate::ddl::{absent, not_a};
use crate::error::{Result, SqlError};
use crate::host::{Privilege, Sight, VirtualTable};
use crate::object_text;
use crate::quoting::qualified;
use crate::schema_tables::stored::{
    character_sets, definer, event_type, hundredths, originator, seconds, sees_object, shows_text, timing,
};
use engine::{Object, ObjectDef, ObjectKind};
use std::sync::Arc;
use types::{ColumnType, Value};

const CHARACTER_SETS: [&str; 3] = ["character_set_client", "collation_connection", "Database Collation"];

/// Returns a time of an event's schedule.
fn moment(text: &str) -> Value {
    types::temporal::parse::datetime(text.as_bytes()).map_or(Value::Null, |read| Value::DateTime(read.value))
}

fn with_character_sets<'c>(columns: &[&'c str]) -> Vec<&'c str> {
    columns.iter().copied().chain(CHARACTER_SETS).collect()
}

impl ShowParts<'_> {
    /// Runs SHOW CREATE VIEW, TRIGGER, PROCEDURE, FUNCTION or EVENT.
    pub(super) fn create_object(&self, kind: ObjectKind, name: &TableName) -> Result<VirtualTable> {
        let schema = name.schema.as_deref().or(self.schema).ok_or_else(SqlError::no_schema_selected)?;
        match kind {
            ObjectKind::View => self.host.check_sight(Sight::CreateView(schema, &name.name))?,
            ObjectKind::Event => self.host.check_privilege(Privilege::Event, Some(schema), None)?,
            _ => {}
        }
        let catalog = self.engine.catalog();
        let object = catalog.object(schema, kind, &name.name).filter(|object| {
            // Triggers and routines that the account may not see are treated as if they did not
            // exist.
            kind == ObjectKind::View || sees_object(self.host, &object.def)
        });
        let Some(object) = object else {
            return Err(match kind {
                ObjectKind::View if catalog.table(schema, &name.name).is_some() => {
                    not_a("VIEW", schema, &name.name)
                }
                ObjectKind::View => match catalog.schema(schema) {
                    None => SqlError::unknown_schema(schema),
                    Some(_) => SqlError::no_such_table(schema, &name.name),
                },
                ObjectKind::Procedure | ObjectKind::Function => {
                    SqlError::new(1305, format!("{} {} does not exist", kind.word(), name.name))
                }
                kind => absent(kind, schema, &name.name),
            });
        };
        Ok(self.created(&object.def))
    }

    pub(super) fn created(&self, def: &ObjectDef) -> VirtualTable {
        let [client, connection, schema] = character_sets(def);
        let (name, mode) = (text(&def.name), text(object_text::sql_mode(def)));
        let create = match def.kind {
            // Outside of the view's schema, all names are qualified with theirs.
            ObjectKind::View if self.schema != Some(&def.schema) => {
                text(object_text::view_text(&object_text::outside(def), "CREATE", &qualified(def)))
            }
            _ => text(object_text::shown(def)),
        };
        match def.kind {
            ObjectKind::View => words(
                &["View", "Create View", CHARACTER_SETS[0], CHARACTER_SETS[1]],
                vec![vec![name, create, client, connection]],
            ),
            ObjectKind::Trigger => with_types(
                words(
                    &[
                        "Trigger",
                        "sql_mode",
                        "SQL Original Statement",
                        CHARACTER_SETS[0],
                        CHARACTER_SETS[1],
                        CHARACTER_SETS[2],
                        "Created",
                    ],
                    vec![vec![name, mode, create, client, connection, schema, hundredths(def.created_us)]],
                ),
                &[("Created", ColumnType::timestamp(2))],
            ),
            ObjectKind::Event => {
                let zone = text(def.attribute(attribute::TIME_ZONE).unwrap_or("SYSTEM"));
                words(
                    &with_character_sets(&["Event", "sql_mode", "time_zone", "Create Event"]),
                    vec![vec![name, mode, zone, create, client, connection, schema]],
                )
            }
            kind => {
                let shows = shows_text(self.host, def);
                let create = if shows { create } else { Value::Null };
                let columns = match kind {
                    ObjectKind::Procedure => ["Procedure", "sql_mode", "Create Procedure"],
                    _ => ["Function", "sql_mode", "Create Function"],
                };
                words(
                    &with_character_sets(&columns),
                    vec![vec![name, mode, create, client, connection, schema]],
                )
            }
        }
    }

    /// Returns the objects of a schema that the account may see.
    fn seen_objects(&self, schema: &str, kind: ObjectKind) -> Vec<Arc<Object>> {
        let mut objects = self.engine.catalog().objects(schema);
        objects.retain(|object| object.def.kind == kind && sees_object(self.host, &object.def));
        objects
    }

    /// Returns the views of a schema that the account may see.
    pub(super) fn seen_views(&self, schema: &str) -> Vec<Arc<Object>> {
        self.seen_objects(schema, ObjectKind::View)
    }

    /// Runs SHOW TRIGGERS. The rows are ordered by table, and those of a table by the order in
    /// which the triggers run.
    pub(super) fn triggers(&self, schema: Option<&str>) -> Result<VirtualTable> {
        let schema = self.listed_schema(schema)?;
        let mut rows = Vec::new();
        for table in self.engine.catalog().tables(schema) {
            for trigger in self.engine.catalog().triggers(schema, &table.def.name) {
                let def = &trigger.def;
                let Some(place) = def.trigger.as_ref().filter(|_| sees_object(self.host, def)) else {
                    continue;
                };
                let mut row = vec![
                    text(&def.name),
                    text(place.event.word()),
                    text(&place.table),
                    text(object_text::body_of(def)),
                    text(timing(def)),
                    hundredths(def.created_us),
                    text(object_text::sql_mode(def)),
                    definer(def),
                ];
                row.extend(character_sets(def));
                rows.push(row);
            }
        }
        let columns = ["Trigger", "Event", "Table", "Statement", "Timing", "Created", "sql_mode", "Definer"];
        let listed = words(&with_character_sets(&columns), rows);
        Ok(with_types(listed, &[("Created", ColumnType::timestamp(2))]))
    }

    /// Runs SHOW EVENTS.
    pub(super) fn events(&self, schema: Option<&str>) -> Result<VirtualTable> {
        let schema = self.schema_name(schema)?;
        self.host.check_privilege(Privilege::Event, Some(schema), None)?;
        let row = |event: &Arc<Object>| {
            let def = &event.def;
            let part = |name: &str| def.attribute(name).map_or(Value::Null, text);
            let time = |name: &str| def.attribute(name).map_or(Value::Null, moment);
            let mut row = vec![
                text(&def.schema),
                text(&def.name),
                definer(def),
                part(attribute::TIME_ZONE),
                text(event_type(def)),
                time(attribute::AT),
                part(attribute::AMOUNT),
                part(attribute::UNIT),
                time(attribute::STARTS),
                time(attribute::ENDS),
                text(object_text::event_status(def)),
                originator(def),
            ];
            row.extend(character_sets(def));
            row
        };
        let columns = [
            "Db",
            "Name",
            "Definer",
            "Time zone",
            "Type",
            "Execute at",
            "Interval value",
            "Interval field",
            "Starts",
            "Ends",
            "Status",
            "Originator",
        ];
        let rows = self.seen_objects(schema, ObjectKind::Event).iter().map(row).collect();
        let listed = words(&with_character_sets(&columns), rows);
        let time = ColumnType::datetime(0);
        let times = ["Execute at", "Starts", "Ends"].map(|name| (name, time.clone()));
        Ok(with_types(with_types(listed, &times), &[("Originator", ColumnType::int(true))]))
    }

    /// Runs SHOW PROCEDURE STATUS or SHOW FUNCTION STATUS, for all schemas.
    pub(super) fn routine_status(&self, kind: ObjectKind) -> VirtualTable {
        let mut objects = self.engine.catalog().all_objects(kind);
        objects.retain(|object| sees_object(self.host, &object.def));
        let row = |routine: &Arc<Object>| {
            let def = &routine.def;
            let mut row = vec![
                text(&def.schema),
                text(&def.name),
                text(kind.word()),
                text("SQL"),
                definer(def),
                seconds(def.altered_us),
                seconds(def.created_us),
                text(object_text::security(def)),
                text(def.attribute(attribute::COMMENT).unwrap_or_default()),
            ];
            row.extend(character_sets(def));
            row
        };
        let columns =
            ["Db", "Name", "Type", "Language", "Definer", "Modified", "Created", "Security_type", "Comment"];
        let listed = words(&with_character_sets(&columns), objects.iter().map(row).collect());
        let time = ColumnType::timestamp(0);
        with_types(listed, &[("Modified", time.clone()), ("Created", time)])
    }
}
