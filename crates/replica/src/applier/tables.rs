//! The tables of row events. Each TABLE_MAP event is bound to a table of this server, once for
//! every different event.

use std::sync::Arc;

use binlog::event::{HEADER_LEN, TableMap};
use engine::{Engine, Table, TableHold};

use super::bind_error::BindError;
use super::conversion::Conversion;
use super::type_conversions::TypeConversions;

/// The number of bindings that are kept. A source that uses more tables at once has some bound
/// again.
const KEPT: usize = 256;

/// The number of bindings at the front whose order is left as it is when they are used. They are
/// far from being forgotten, and looked at soon in any order.
const NEAR: usize = 8;

/// The binding of a table map event to a table.
#[derive(Debug)]
pub struct Bound {
    /// The source's id of the table.
    pub source_id: u64,
    /// The body of the event behind the table id.
    map: Vec<u8>,
    /// The table of this server.
    pub table: Arc<Table>,
    /// The conversion of the source's rows. `None` means that they need none.
    pub conversion: Option<Conversion>,
}

impl Bound {
    /// Binds a TABLE_MAP event to a table; `bytes` is the body of the event behind the table id.
    pub fn of(
        map: &TableMap<'_>,
        bytes: &[u8],
        table: Arc<Table>,
        allowed: TypeConversions,
    ) -> Result<Bound, BindError> {
        let conversion = Conversion::plan(map, &table, allowed)?;
        Ok(Bound { source_id: map.table_id, map: bytes.to_vec(), table, conversion })
    }
}

/// The recently used bindings, the last used one first.
#[derive(Debug, Default)]
pub struct TableCache {
    bound: Vec<Arc<Bound>>,
    /// The value of `replica_type_conversions` under which the bindings were made.
    allowed: TypeConversions,
}

impl TableCache {
    /// Forgets all bindings, because a definition may have changed.
    pub fn clear(&mut self) {
        self.bound.clear();
    }

    /// Returns the binding of a TABLE_MAP event, given in bytes without checksum, if the same bytes
    /// were bound before to a table that is held. `None` means that the event has to be decoded.
    #[inline]
    pub fn known(&mut self, hold: &TableHold, event: &[u8], allowed: TypeConversions) -> Option<&Arc<Bound>> {
        let (id, bytes) = event.get(HEADER_LEN..)?.split_first_chunk::<6>()?;
        let mut wide = [0; 8];
        wide[..6].copy_from_slice(id);
        let source_id = u64::from_le_bytes(wide);
        let at = self.bound.iter().position(|b| b.source_id == source_id && b.map == bytes)?;
        if self.allowed != allowed || !hold.holds(&self.bound[at].table) {
            return None;
        }
        if at < NEAR {
            return Some(&self.bound[at]);
        }
        self.bound[..=at].rotate_right(1);
        Some(&self.bound[0])
    }

    /// Returns the binding of a TABLE_MAP event, which is given in bytes (without checksum) and
    /// decoded.
    pub fn bind(
        &mut self,
        hold: &TableHold,
        event: &[u8],
        map: &TableMap<'_>,
        allowed: TypeConversions,
    ) -> Result<Arc<Bound>, BindError> {
        if self.allowed != allowed {
            self.bound.clear();
            self.allowed = allowed;
        }
        // Everything behind the header and the table id: two maps with the same bytes mean the same
        // table.
        let bytes = event.get(HEADER_LEN + 6..).unwrap_or_default();
        if let Some(at) = self.bound.iter().position(|b| b.source_id == map.table_id && b.map == bytes) {
            let table = &self.bound[at].table;
            let current = || hold.engine().catalog().table_by_id(table.id);
            // A table that is held cannot have changed.
            if hold.holds(table) || current().is_some_and(|current| Arc::ptr_eq(&current, table)) {
                self.bound[..=at].rotate_right(1);
                return Ok(self.bound[0].clone());
            }
            self.bound.remove(at);
        }
        let table = table_of(hold.engine(), map)?;
        let bound = Arc::new(Bound::of(map, bytes, table, allowed)?);
        self.bound.truncate(KEPT - 1);
        self.bound.insert(0, bound.clone());
        Ok(bound)
    }
}

/// Returns the table that a TABLE_MAP event names.
pub(super) fn table_of(engine: &Engine, map: &TableMap<'_>) -> Result<Arc<Table>, BindError> {
    let schema = String::from_utf8_lossy(map.schema);
    let name = String::from_utf8_lossy(map.table);
    let table = engine.catalog().table(&schema, &name);
    table.ok_or_else(|| BindError::NoSuchTable(schema.to_string(), name.to_string()))
}
