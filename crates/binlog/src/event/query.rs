//! QUERY events: a statement, with the parts of its session that it depends on.

use super::HEADER_LEN;
use crate::cursor::{Cursor, DecodeError};

/// A QUERY event. BEGIN, COMMIT and every DDL statement are QUERY events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryEvent<'a> {
    /// The id of the client thread that ran the statement.
    pub thread_id: u32,
    /// The number of seconds that the statement took.
    pub exec_time: u32,
    /// The error that the statement ended with, 0 for none.
    pub error_code: u16,
    /// The status variables, undecoded; see [`QueryEvent::status`].
    pub status_vars: &'a [u8],
    /// The default schema.
    pub schema: &'a [u8],
    /// The statement, in the client's character set.
    pub statement: &'a [u8],
}

/// The session as a QUERY event describes it. `None` means that the event does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are named after the Q_..._CODE constants.
pub struct QueryStatus<'a> {
    /// The session options, bits of [`flags2`].
    pub flags2: Option<u32>,
    /// The bits of `sql_mode`.
    pub sql_mode: Option<u64>,
    /// The catalog, which is always `std`.
    pub catalog: Option<&'a [u8]>,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub auto_increment: Option<(u16, u16)>,
    /// `character_set_client`, `collation_connection`, `collation_server`, as collation ids.
    pub charset: Option<(u16, u16, u16)>,
    pub time_zone: Option<&'a [u8]>,
    pub lc_time_names: Option<u16>,
    pub charset_database: Option<u16>,
    /// The tables that a multi-table update writes, as bits.
    pub table_map_for_update: Option<u64>,
    /// The user and host that invoked the statement.
    pub invoker: Option<(&'a [u8], &'a [u8])>,
    /// The schemas that the statement changes. An inner `None` means that they are too many to
    /// list.
    pub updated_schemas: Option<Option<Vec<&'a [u8]>>>,
    /// The microseconds of the statement's start time.
    pub microseconds: Option<u32>,
    pub explicit_defaults_for_timestamp: Option<bool>,
    /// The XID under which DDL was logged.
    pub ddl_xid: Option<u64>,
    pub default_collation_for_utf8mb4: Option<u16>,
    pub sql_require_primary_key: Option<u8>,
    pub default_table_encryption: Option<u8>,
}

/// The bits of `flags2` (`OPTION_...`).
#[allow(missing_docs)]
pub mod flags2 {
    pub const AUTO_IS_NULL: u32 = 1 << 14;
    /// The bit is MariaDB's: `check_constraint_checks` is off.
    pub const NO_CHECK_CONSTRAINT_CHECKS: u32 = 1 << 15;
    pub const NOT_AUTOCOMMIT: u32 = 1 << 19;
    pub const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
    pub const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;
}

/// The numbers of the status variables (`Q_..._CODE`).
#[allow(missing_docs)]
pub mod status_var {
    pub const FLAGS2: u8 = 0;
    pub const SQL_MODE: u8 = 1;
    pub const CATALOG: u8 = 2;
    pub const AUTO_INCREMENT: u8 = 3;
    pub const CHARSET: u8 = 4;
    pub const TIME_ZONE: u8 = 5;
    pub const CATALOG_NZ: u8 = 6;
    pub const LC_TIME_NAMES: u8 = 7;
    pub const CHARSET_DATABASE: u8 = 8;
    pub const TABLE_MAP_FOR_UPDATE: u8 = 9;
    pub const MASTER_DATA_WRITTEN: u8 = 10;
    pub const INVOKER: u8 = 11;
    pub const UPDATED_DB_NAMES: u8 = 12;
    pub const MICROSECONDS: u8 = 13;
    pub const COMMIT_TS: u8 = 14;
    pub const COMMIT_TS2: u8 = 15;
    pub const EXPLICIT_DEFAULTS_FOR_TIMESTAMP: u8 = 16;
    pub const DDL_LOGGED_WITH_XID: u8 = 17;
    pub const DEFAULT_COLLATION_FOR_UTF8MB4: u8 = 18;
    pub const SQL_REQUIRE_PRIMARY_KEY: u8 = 19;
    pub const DEFAULT_TABLE_ENCRYPTION: u8 = 20;
    pub const MARIADB_HRNOW: u8 = 128;
    pub const MARIADB_XID: u8 = 129;
    pub const MARIADB_GTID_FLAGS3: u8 = 130;
    /// The count of schemas which means that there are too many, and none is listed.
    pub const OVER_MAX_DBS: u8 = 254;
}

impl<'a> QueryEvent<'a> {
    /// Decodes the status variables, up to the first unknown one (they are written in the order of
    /// their numbers, so that older readers can stop there).
    pub fn status(&self) -> Result<QueryStatus<'a>, DecodeError> {
        use status_var::*;
        let mut status = QueryStatus::default();
        let mut cursor = Cursor::new(self.status_vars);
        while !cursor.is_empty() {
            match cursor.u8()? {
                FLAGS2 => status.flags2 = Some(cursor.u32()?),
                SQL_MODE => status.sql_mode = Some(cursor.u64()?),
                CATALOG => {
                    status.catalog = Some(short_bytes(&mut cursor)?);
                    cursor.u8()?;
                }
                AUTO_INCREMENT => status.auto_increment = Some((cursor.u16()?, cursor.u16()?)),
                CHARSET => status.charset = Some((cursor.u16()?, cursor.u16()?, cursor.u16()?)),
                TIME_ZONE => status.time_zone = Some(short_bytes(&mut cursor)?),
                CATALOG_NZ => status.catalog = Some(short_bytes(&mut cursor)?),
                LC_TIME_NAMES => status.lc_time_names = Some(cursor.u16()?),
                CHARSET_DATABASE => status.charset_database = Some(cursor.u16()?),
                TABLE_MAP_FOR_UPDATE => status.table_map_for_update = Some(cursor.u64()?),
                MASTER_DATA_WRITTEN => drop(cursor.take(4)?),
                INVOKER => status.invoker = Some((short_bytes(&mut cursor)?, short_bytes(&mut cursor)?)),
                UPDATED_DB_NAMES => status.updated_schemas = Some(schema_names(&mut cursor)?),
                MICROSECONDS | MARIADB_HRNOW => status.microseconds = Some(cursor.uint(3)? as u32),
                COMMIT_TS | COMMIT_TS2 => drop(cursor.take(8)?),
                EXPLICIT_DEFAULTS_FOR_TIMESTAMP => {
                    status.explicit_defaults_for_timestamp = Some(cursor.u8()? != 0);
                }
                DDL_LOGGED_WITH_XID | MARIADB_XID => status.ddl_xid = Some(cursor.u64()?),
                DEFAULT_COLLATION_FOR_UTF8MB4 => status.default_collation_for_utf8mb4 = Some(cursor.u16()?),
                SQL_REQUIRE_PRIMARY_KEY => status.sql_require_primary_key = Some(cursor.u8()?),
                DEFAULT_TABLE_ENCRYPTION => status.default_table_encryption = Some(cursor.u8()?),
                _ => break,
            }
        }
        Ok(status)
    }

    /// Reports whether the statement is BEGIN, which starts a group.
    #[inline]
    pub fn is_begin(&self) -> bool {
        self.statement == b"BEGIN"
    }

    /// Reports whether the statement ends a group: COMMIT (of tables without transactions) or
    /// ROLLBACK.
    pub fn is_end(&self) -> bool {
        self.statement == b"COMMIT" || self.statement == b"ROLLBACK"
    }
}

/// Takes bytes that follow a length of one byte.
fn short_bytes<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = cursor.u8()?;
    cursor.take(usize::from(len))
}

fn schema_names<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Vec<&'a [u8]>>, DecodeError> {
    match cursor.u8()? {
        status_var::OVER_MAX_DBS => Ok(None),
        count => (0..count).map(|_| cursor.null_terminated()).collect::<Result<_, _>>().map(Some),
    }
}

/// Reports whether a QUERY event, which is given without its checksum, is the BEGIN, COMMIT or
/// ROLLBACK of a group of rows. Most QUERY events of a log are. An event that is cut short is none.
#[inline]
pub fn is_edge_of_group(event: &[u8]) -> bool {
    const SCHEMA_LEN_OFFSET: usize = HEADER_LEN + 8;
    let Some([schema_len, _, _, low, high]) = event.get(SCHEMA_LEN_OFFSET..).and_then(<[u8]>::first_chunk)
    else {
        return false;
    };
    let status_len = usize::from(u16::from_le_bytes([*low, *high]));
    // A zero byte ends the schema.
    let start = SCHEMA_LEN_OFFSET + 5 + status_len + usize::from(*schema_len) + 1;
    matches!(event.get(start..), Some(b"BEGIN" | b"COMMIT" | b"ROLLBACK"))
}

/// Reads the event, which is given without its checksum. `post_header_len` is 13 for all servers
/// since 5.0.
#[inline]
pub(super) fn decode(event: &[u8]) -> Result<QueryEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let thread_id = cursor.u32()?;
    let exec_time = cursor.u32()?;
    let schema_len = cursor.u8()?;
    let error_code = cursor.u16()?;
    let status_len = cursor.u16()?;
    let status_vars = cursor.take(usize::from(status_len))?;
    let schema = cursor.take(usize::from(schema_len))?;
    cursor.u8()?; // A zero byte ends the schema.
    Ok(QueryEvent { thread_id, exec_time, error_code, status_vars, schema, statement: cursor.rest() })
}
