//! System versioning and application periods as bytes.

use crate::bytes::{Put, Reader};
use crate::definition::{ColumnRoles, SystemVersioning, TableDef, Temporal};
use crate::error::Result;

pub(super) fn has_periods(def: &TableDef) -> bool {
    def.temporal != Temporal::default()
        || def.columns.iter().any(|column| column.roles != ColumnRoles::default())
}

/// The kinds of versioning by their numbers.
const NOT_VERSIONED: u8 = 0;
const VERSIONED: u8 = 1;
const VERSIONED_BY_IMPLIED_COLUMNS: u8 = 2;

/// Appends the versioning, the period's name, the indexes without overlaps, and the roles of
/// columns by their positions.
pub(super) fn put_periods(out: &mut Vec<u8>, def: &TableDef) {
    out.put_u8(match def.temporal.versioning {
        None => NOT_VERSIONED,
        Some(SystemVersioning { implied: false }) => VERSIONED,
        Some(SystemVersioning { implied: true }) => VERSIONED_BY_IMPLIED_COLUMNS,
    });
    out.put_str(def.temporal.period.as_deref().unwrap_or_default());
    out.put_varint(def.temporal.without_overlaps.len() as u64);
    def.temporal.without_overlaps.iter().for_each(|name| out.put_str(name));
    let roles =
        || def.columns.iter().enumerate().filter(|(_, column)| column.roles != ColumnRoles::default());
    out.put_varint(roles().count() as u64);
    for (at, column) in roles() {
        out.put_varint(at as u64);
        out.put_u8(column.roles.bits());
    }
}

pub(super) fn read_periods(reader: &mut Reader<'_>, def: &mut TableDef) -> Result<()> {
    def.temporal.versioning = match reader.u8()? {
        NOT_VERSIONED => None,
        VERSIONED => Some(SystemVersioning { implied: false }),
        VERSIONED_BY_IMPLIED_COLUMNS => Some(SystemVersioning { implied: true }),
        _ => return Err(reader.impossible("versioning")),
    };
    def.temporal.period = Some(reader.string()?).filter(|name| !name.is_empty());
    for _ in 0..reader.count()? {
        def.temporal.without_overlaps.push(reader.string()?);
    }
    for _ in 0..reader.count()? {
        let (at, roles) = (reader.varint()? as usize, reader.u8()?);
        match (def.columns.get_mut(at), ColumnRoles::from_bits(roles)) {
            (Some(column), Some(roles)) => column.roles = roles,
            _ => return Err(reader.impossible("column with a role")),
        }
    }
    let is_complete = def.temporal.versioning.is_none() || def.row_period().is_some();
    if is_complete { Ok(()) } else { Err(reader.impossible("row period")) }
}
