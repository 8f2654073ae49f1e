//! The writing of QUERY events.

use super::frame::{EventBase, begin_event};
use crate::event::{QueryEvent, QueryStatus, event_type, status_var};

/// Appends a QUERY event. Schema names of more than 255 bytes and status variables of more than 64
/// KB do not exist; they are cut.
pub fn query(base: EventBase, query: &QueryEvent<'_>, flags: u16, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::QUERY, flags, out);
    let schema = &query.schema[..query.schema.len().min(255)];
    let status_vars = &query.status_vars[..query.status_vars.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&query.thread_id.to_le_bytes());
    out.extend_from_slice(&query.exec_time.to_le_bytes());
    out.push(schema.len() as u8);
    out.extend_from_slice(&query.error_code.to_le_bytes());
    out.extend_from_slice(&(status_vars.len() as u16).to_le_bytes());
    out.extend_from_slice(status_vars);
    out.extend_from_slice(schema);
    out.push(0);
    out.extend_from_slice(query.statement);
    start
}

/// Appends the status variables of a QUERY event, in the order in which MySQL writes them.
pub fn write_status(status: &QueryStatus<'_>, out: &mut Vec<u8>) {
    use status_var::*;
    if let Some(flags2) = status.flags2 {
        out.push(FLAGS2);
        out.extend_from_slice(&flags2.to_le_bytes());
    }
    if let Some(sql_mode) = status.sql_mode {
        out.push(SQL_MODE);
        out.extend_from_slice(&sql_mode.to_le_bytes());
    }
    if let Some(catalog) = status.catalog {
        out.push(CATALOG_NZ);
        put_short(catalog, out);
    }
    if let Some((increment, offset)) = status.auto_increment {
        out.push(AUTO_INCREMENT);
        put_u16s(&[increment, offset], out);
    }
    if let Some((client, connection, server)) = status.charset {
        out.push(CHARSET);
        put_u16s(&[client, connection, server], out);
    }
    if let Some(time_zone) = status.time_zone {
        out.push(TIME_ZONE);
        put_short(time_zone, out);
    }
    if let Some(lc_time_names) = status.lc_time_names {
        out.push(LC_TIME_NAMES);
        put_u16s(&[lc_time_names], out);
    }
    if let Some(charset) = status.charset_database {
        out.push(CHARSET_DATABASE);
        put_u16s(&[charset], out);
    }
    if let Some(tables) = status.table_map_for_update {
        out.push(TABLE_MAP_FOR_UPDATE);
        out.extend_from_slice(&tables.to_le_bytes());
    }
    if let Some((user, host)) = status.invoker {
        out.push(INVOKER);
        put_short(user, out);
        put_short(host, out);
    }
    write_later_status(status, out);
}

/// Appends the status variables of MySQL 5.6 and later.
fn write_later_status(status: &QueryStatus<'_>, out: &mut Vec<u8>) {
    use status_var::*;
    match &status.updated_schemas {
        None => {}
        Some(Some(names)) if names.len() < usize::from(OVER_MAX_DBS) => {
            out.extend_from_slice(&[UPDATED_DB_NAMES, names.len() as u8]);
            for name in names {
                out.extend_from_slice(name);
                out.push(0);
            }
        }
        Some(_) => out.extend_from_slice(&[UPDATED_DB_NAMES, OVER_MAX_DBS]),
    }
    if let Some(microseconds) = status.microseconds {
        out.push(MICROSECONDS);
        out.extend_from_slice(&microseconds.to_le_bytes()[..3]);
    }
    if let Some(explicit) = status.explicit_defaults_for_timestamp {
        out.extend_from_slice(&[EXPLICIT_DEFAULTS_FOR_TIMESTAMP, u8::from(explicit)]);
    }
    if let Some(xid) = status.ddl_xid {
        out.push(DDL_LOGGED_WITH_XID);
        out.extend_from_slice(&xid.to_le_bytes());
    }
    if let Some(collation) = status.default_collation_for_utf8mb4 {
        out.push(DEFAULT_COLLATION_FOR_UTF8MB4);
        put_u16s(&[collation], out);
    }
    if let Some(required) = status.sql_require_primary_key {
        out.extend_from_slice(&[SQL_REQUIRE_PRIMARY_KEY, required]);
    }
    if let Some(encryption) = status.default_table_encryption {
        out.extend_from_slice(&[DEFAULT_TABLE_ENCRYPTION, encryption]);
    }
}

fn put_short(text: &[u8], out: &mut Vec<u8>) {
    let text = &text[..text.len().min(255)];
    out.push(text.len() as u8);
    out.extend_from_slice(text);
}

fn put_u16s(numbers: &[u16], out: &mut Vec<u8>) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}
