//! Views, triggers, stored routines and events, as the dictionary keeps them.
//!
//! The engine knows the name of an object and, for a trigger, the table that it belongs to, because
//! the table's DDL takes its triggers along. Everything else in an object is text that crate `sql`
//! writes and reads.

use crate::bytes::{Put, Reader};
use crate::error::Result;

const VERSION: u8 = 1;

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// `CREATE VIEW`. Views share their names with tables.
    View = 1,
    /// `CREATE TRIGGER`
    Trigger = 2,
    /// `CREATE PROCEDURE`
    Procedure = 3,
    /// `CREATE FUNCTION`
    Function = 4,
    /// `CREATE EVENT`
    Event = 5,
}

impl ObjectKind {
    /// All kinds.
    pub const ALL: [ObjectKind; 5] = [
        ObjectKind::View,
        ObjectKind::Trigger,
        ObjectKind::Procedure,
        ObjectKind::Function,
        ObjectKind::Event,
    ];

    /// Returns the word for the kind in statements.
    pub fn word(self) -> &'static str {
        match self {
            ObjectKind::View => "VIEW",
            ObjectKind::Trigger => "TRIGGER",
            ObjectKind::Procedure => "PROCEDURE",
            ObjectKind::Function => "FUNCTION",
            ObjectKind::Event => "EVENT",
        }
    }

    fn from_u8(number: u8) -> Option<ObjectKind> {
        ObjectKind::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Returns the form of a name by which names of this kind are compared: two names with the same
    /// form are the same name. Case counts only in the names of views, as it does in those of
    /// tables.
    pub fn key(self, name: &str) -> String {
        if self == ObjectKind::View { name.to_owned() } else { name.to_lowercase() }
    }
}

/// The change that a trigger is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerEvent {
    /// `INSERT`
    Insert = 1,
    /// `UPDATE`
    Update = 2,
    /// `DELETE`
    Delete = 4,
}

impl TriggerEvent {
    /// All events.
    pub const ALL: [TriggerEvent; 3] = [TriggerEvent::Insert, TriggerEvent::Update, TriggerEvent::Delete];

    /// Returns the word for the event in statements.
    pub fn word(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }

    /// Returns the bit of the event in the set of a table's triggers.
    pub fn bit(self) -> u8 {
        self as u8
    }
}

/// The place of a trigger: its table, its event and its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerPlace {
    /// The trigger's table, which is in the trigger's own schema.
    pub table: String,
    /// The change that the trigger is run for.
    pub event: TriggerEvent,
    /// Whether the trigger runs `BEFORE` the change, and not `AFTER` it.
    pub before: bool,
    /// The position of the trigger among those of the same table, event and time. The first has 1.
    pub order: u32,
    /// Whether the table had another name when the trigger was made.
    pub renamed: bool,
}

/// The definition of a view, trigger, routine or event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectDef {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The schema that the object is in.
    pub schema: String,
    /// The name as written.
    pub name: String,
    /// The place of a trigger; `None` for other kinds.
    pub trigger: Option<TriggerPlace>,
    /// The user and the host of the account whose privileges the object has.
    pub definer: (String, String),
    /// The `sql_mode` of the session that made the object, in the numbers of the server that it was
    /// made on.
    pub sql_mode: u64,
    /// The collation number of `character_set_client`.
    pub character_set_client: u16,
    /// The collation number of `collation_connection`.
    pub collation_connection: u16,
    /// The number of the schema's collation when the object was made.
    pub schema_collation: u16,
    /// The time when the object was made, in microseconds of Unix time.
    pub created_us: u64,
    /// The time when the object was last altered, in microseconds of Unix time.
    pub altered_us: u64,
    /// Whether a MariaDB server made the object. Then it is shown as MariaDB shows it.
    pub of_mariadb: bool,
    /// The body of the object: a view's query, or a statement.
    pub body: String,
    /// The other clauses of the object's statement, by name.
    pub attributes: Vec<(String, String)>,
}

impl ObjectDef {
    /// Returns the clause of the object's statement with this name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sets or replaces an attribute.
    pub fn set_attribute(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }

    /// Takes an attribute away.
    pub fn remove_attribute(&mut self, name: &str) {
        self.attributes.retain(|(known, _)| known != name);
    }
}

/// An object that exists.
#[derive(Debug)]
pub struct Object {
    /// The number of the object in the dictionary.
    pub id: u64,
    /// The definition of the object.
    pub def: ObjectDef,
}

/// A change of an object. `old` is `None` when it is made, `new` is `None` when it is dropped.
#[derive(Debug)]
pub struct ObjectChange {
    /// The object as it is.
    pub old: Option<std::sync::Arc<Object>>,
    /// The definition that the object gets.
    pub new: Option<ObjectDef>,
}

/// Appends a definition.
pub(crate) fn put_object(out: &mut Vec<u8>, def: &ObjectDef) {
    out.put_u8(VERSION);
    out.put_u8(def.kind as u8);
    out.put_str(&def.schema);
    out.put_str(&def.name);
    out.put_bool(def.trigger.is_some());
    if let Some(place) = &def.trigger {
        out.put_str(&place.table);
        out.put_u8(place.event.bit());
        out.put_bool(place.before);
        out.put_u32(place.order);
        out.put_bool(place.renamed);
    }
    out.put_str(&def.definer.0);
    out.put_str(&def.definer.1);
    out.put_u64(def.sql_mode);
    out.put_u16(def.character_set_client);
    out.put_u16(def.collation_connection);
    out.put_u16(def.schema_collation);
    out.put_u64(def.created_us);
    out.put_u64(def.altered_us);
    out.put_bool(def.of_mariadb);
    out.put_str(&def.body);
    out.put_varint(def.attributes.len() as u64);
    for (name, value) in &def.attributes {
        out.put_str(name);
        out.put_str(value);
    }
}

fn read_place(reader: &mut Reader<'_>) -> Result<TriggerPlace> {
    let table = reader.string()?;
    let bit = reader.u8()?;
    let event = TriggerEvent::ALL.into_iter().find(|event| event.bit() == bit);
    let event = event.ok_or_else(|| reader.impossible("trigger event"))?;
    Ok(TriggerPlace { table, event, before: reader.bool()?, order: reader.u32()?, renamed: reader.bool()? })
}

/// Reads what [`put_object`] wrote.
pub(crate) fn read_object(reader: &mut Reader<'_>) -> Result<ObjectDef> {
    if reader.u8()? != VERSION {
        return Err(reader.impossible("version"));
    }
    let kind = ObjectKind::from_u8(reader.u8()?).ok_or_else(|| reader.impossible("kind"))?;
    let (schema, name) = (reader.string()?, reader.string()?);
    let trigger = if reader.bool()? { Some(read_place(reader)?) } else { None };
    if trigger.is_some() != (kind == ObjectKind::Trigger) {
        return Err(reader.impossible("place"));
    }
    let definer = (reader.string()?, reader.string()?);
    let sql_mode = reader.u64()?;
    let (character_set_client, collation_connection) = (reader.u16()?, reader.u16()?);
    let schema_collation = reader.u16()?;
    let (created_us, altered_us) = (reader.u64()?, reader.u64()?);
    let of_mariadb = reader.bool()?;
    let body = reader.string()?;
    let count = reader.count()?;
    let attributes =
        (0..count).map(|_| Ok((reader.string()?, reader.string()?))).collect::<Result<Vec<_>>>()?;
    Ok(ObjectDef {
        kind,
        schema,
        name,
        trigger,
        definer,
        sql_mode,
        character_set_client,
        collation_connection,
        schema_collation,
        created_us,
        altered_us,
        of_mariadb,
        body,
        attributes,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn trigger() -> ObjectDef {
        ObjectDef {
            kind: ObjectKind::Trigger,
            schema: "s".into(),
            name: "Tr".into(),
            trigger: Some(TriggerPlace {
                table: "t".into(),
                event: TriggerEvent::Delete,
                before: true,
                order: 2,
                renamed: true,
            }),
            definer: ("root".into(), "localhost".into()),
            sql_mode: 1 << 33 | 5,
            character_set_client: 45,
            collation_connection: 46,
            schema_collation: 255,
            created_us: 1,
            altered_us: 2,
            of_mariadb: true,
            body: "SET @a = 1".into(),
            attributes: vec![("head".into(), "TRIGGER tr".into())],
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_that_is_cut_short() {
        let def = trigger();
        let mut bytes = Vec::new();
        put_object(&mut bytes, &def);
        assert_eq!(read_object(&mut Reader::new(&bytes, "object")).expect("it is whole"), def);
        for end in 0..bytes.len() {
            assert!(read_object(&mut Reader::new(&bytes[..end], "object")).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn case_counts_in_names_of_views_alone() {
        assert_ne!(ObjectKind::View.key("V"), ObjectKind::View.key("v"));
        assert_eq!(ObjectKind::Trigger.key("TR"), ObjectKind::Trigger.key("tr"));
    }
}
