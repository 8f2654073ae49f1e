//! ST_COLLECT: one geometry of a group's.

use super::Context;
use crate::error::{Result, SqlError};
use crate::memory::{Charge, growth};
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// Bytes of the SRID before a geometry's WKB.
const SRID_BYTES: usize = 4;
/// Bytes of a byte order, a kind and a number of parts.
const HEAD_BYTES: usize = 9;
const LITTLE_ENDIAN: u8 = 1;

/// What a group has given so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    srid: u32,
    count: u32,
    /// Of all, or `Geometry` when they are of several.
    kind: Option<GeometryKind>,
    /// One WKB after the other.
    parts: Vec<u8>,
}

impl Collected {
    /// Takes a geometry in, whose bytes are added to `charge`.
    ///
    /// # Errors
    /// 3037 of what is none, 4034 of one in another system than those before; the memory's.
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

    /// The geometry; NULL where there were none, and with a warning where it is longer than a
    /// packet may be.
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
