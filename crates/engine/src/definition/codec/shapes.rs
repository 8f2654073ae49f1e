//! The shapes of columns, which are geometries and vectors, and the kept indexes over them, as
//! bytes.

use crate::bytes::{Put, Reader};
use crate::definition::{KeptKind, TableDef};
use crate::error::Result;
use types::{GeometryKind, Shape, TypeCode};

const FULL_TEXT: u8 = 1;
const SPATIAL: u8 = 2;
const VECTOR_INDEX: u8 = 3;

/// The shapes by their numbers: any geometry, a geometry of one spatial reference system, a vector.
const GEOMETRY: u8 = 1;
const GEOMETRY_IN_SRS: u8 = 2;
const VECTOR: u8 = 3;

pub(super) fn has_shapes(def: &TableDef) -> bool {
    def.columns.iter().any(|column| column.ty.shape.is_some())
        || def.kept_indexes.iter().any(|index| index.kind != KeptKind::Functional)
}

/// Appends the kinds of kept indexes that are not functional ones, and the shapes of columns, by
/// their positions.
pub(super) fn put_shapes(out: &mut Vec<u8>, def: &TableDef) {
    let kinds = || def.kept_indexes.iter().enumerate().filter(|(_, i)| i.kind != KeptKind::Functional);
    out.put_varint(kinds().count() as u64);
    for (at, index) in kinds() {
        out.put_varint(at as u64);
        match &index.kind {
            KeptKind::FullText(parser) => {
                out.put_u8(FULL_TEXT);
                out.put_str(parser.as_deref().unwrap_or_default());
            }
            KeptKind::Spatial { behind } => {
                out.put_u8(SPATIAL);
                out.put_u32(*behind);
            }
            KeptKind::Vector(options) => {
                out.put_u8(VECTOR_INDEX);
                out.put_str(options);
            }
            KeptKind::Functional => unreachable!("left out above"),
        }
    }
    let is_stored = |shape: &Shape| !matches!(shape, Shape::MostBytes(_) | Shape::MadeChar);
    let shapes = || {
        let all = def.columns.iter().enumerate().filter_map(|(at, column)| Some((at, column.ty.shape?)));
        all.filter(|(_, shape)| is_stored(shape))
    };
    out.put_varint(shapes().count() as u64);
    for (at, shape) in shapes() {
        out.put_varint(at as u64);
        match shape {
            Shape::Geometry(kind) => {
                out.put_u8(GEOMETRY);
                out.put_u8(kind.number());
            }
            Shape::GeometryInSrs(kind, srid) => {
                out.put_u8(GEOMETRY_IN_SRS);
                out.put_u8(kind.number());
                out.put_u32(srid);
            }
            Shape::MostBytes(_) | Shape::MadeChar => unreachable!("left out above"),
            Shape::Vector(dimensions) => {
                out.put_u8(VECTOR);
                out.put_u32(dimensions);
            }
        }
    }
}

pub(super) fn read_shapes(reader: &mut Reader<'_>, def: &mut TableDef) -> Result<()> {
    for _ in 0..reader.count()? {
        let at = reader.varint()? as usize;
        let kind = match reader.u8()? {
            FULL_TEXT => KeptKind::FullText(Some(reader.string()?).filter(|parser| !parser.is_empty())),
            SPATIAL => KeptKind::Spatial { behind: reader.u32()? },
            VECTOR_INDEX => KeptKind::Vector(reader.string()?),
            _ => return Err(reader.impossible("kind of index")),
        };
        let Some(index) = def.kept_indexes.get_mut(at) else { return Err(reader.impossible("kept index")) };
        index.kind = kind;
    }
    for _ in 0..reader.count()? {
        let at = reader.varint()? as usize;
        let number = reader.u8()?;
        let (code, shape) = match number {
            GEOMETRY | GEOMETRY_IN_SRS => {
                let kind = GeometryKind::from_number(u64::from(reader.u8()?));
                let kind = kind.ok_or_else(|| reader.impossible("kind of geometry"))?;
                let shape = match number {
                    GEOMETRY => Shape::Geometry(kind),
                    _ => Shape::GeometryInSrs(kind, reader.u32()?),
                };
                (TypeCode::Geometry, shape)
            }
            VECTOR => (TypeCode::Vector, Shape::Vector(reader.u32()?)),
            _ => return Err(reader.impossible("shape")),
        };
        match def.columns.get_mut(at) {
            Some(column) if column.ty.code == code => column.ty.shape = Some(shape),
            _ => return Err(reader.impossible("column with a shape")),
        }
    }
    Ok(())
}
