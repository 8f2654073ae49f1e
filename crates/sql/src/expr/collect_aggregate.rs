//! ST_COLLECT, which makes one geometry of those of a group.

use super::Context;
use crate::error::{Result, SqlError};
use crate::memory::{Charge, growth};
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// The length of the SRID in front of a geometry's WKB.
const SRID_BYTES: usize = 4;
/// The length of a WKB head: the byte order, the kind and the number of parts.
const HEAD_BYTES: usize = 9;
const LITTLE_ENDIAN: u8 = 1;

/// The geometries of a group so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    srid: u32,
    count: u32,
    /// The kind of all geometries, or `Geometry` when their kinds differ. `None` means that there
    /// are none yet.
    kind: Option<GeometryKind>,
    /// The WKBs of the geometries, one after the other.
    parts: Vec<u8>,
}

impl Collected {
    /// Takes in a geometry, and adds its bytes to `charge`.
    ///
    /// # Errors
    /// Returns 3037 for a value that is no geometry, 4034 for one whose SRID differs from that of
    /// the geometries before, and the errors of charging memory.
    pub fn add(&mut self, value: &Value, charge: &mut Charge) -> Result<()> {
        let read = |value: &Value| match value {
            Value::Bytes(bytes) => Geometry::from_stored(bytes),
            _ => None,
        };
        let (Some((srid, geometry)), Value::Bytes(bytes)) = (read(value), value) else {
            return Err(with_state(
                3037,
                b"22023",
                "Invalid GIS data provided to function st_collect.".into(),
            ));
        };
        if self.count > 0 && srid != self.srid {
            let text = format!(
                "Arguments to function st_collect contains geometries with different SRIDs: {} and {srid}. All \
                 geometries must have the same SRID.",
                self.srid
            );
            return Err(with_state(4034, b"22S05", text));
        }
        let kind = geometry.kind();
        let is_alike = self.kind.is_none_or(|before| before == kind);
        self.kind = Some(if is_alike { kind } else { GeometryKind::Geometry });
        self.srid = srid;
        self.count += 1;
        growth::append(&mut self.parts, &bytes[SRID_BYTES..], charge)
    }

    /// Returns the geometry of the group. It is NULL where the group has none, and NULL with a
    /// warning where it is longer than `max_allowed_packet`.
    pub fn finish(self, ctx: &Context<'_>) -> Value {
        let Some(kind) = self.kind else { return Value::Null };
        let bytes = SRID_BYTES + HEAD_BYTES + self.parts.len();
        let limit = ctx.variables.max_allowed_packet;
        if bytes > limit {
            let text =
                format!("Result of st_collect() was larger than max_allowed_packet ({limit}) - truncated");
            ctx.warn(1301, text);
            return Value::Null;
        }
        let whole = match kind {
            GeometryKind::Point => GeometryKind::MultiPoint,
            GeometryKind::LineString => GeometryKind::MultiLineString,
            GeometryKind::Polygon => GeometryKind::MultiPolygon,
            _ => GeometryKind::Collection,
        };
        let mut stored = Vec::with_capacity(bytes);
        stored.extend_from_slice(&self.srid.to_le_bytes());
        stored.push(LITTLE_ENDIAN);
        stored.extend_from_slice(&u32::from(whole.number()).to_le_bytes());
        stored.extend_from_slice(&self.count.to_le_bytes());
        stored.extend_from_slice(&self.parts);
        Value::Bytes(stored)
    }
}

fn with_state(code: u16, state: &[u8; 5], message: String) -> SqlError {
    SqlError { state: *state, ..SqlError::new(code, message) }
}
