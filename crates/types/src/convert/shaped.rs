//! The conversion of values for columns of GEOMETRY and VECTOR, which only accept bytes in their
//! own form.

use super::context::Assigned;
use super::problem::Problem;
use crate::geometry::Geometry;
use crate::{ColumnType, GeometryKind, Value};

/// Converts a value to a geometry: it must be in MySQL's internal form, of the column's kind and in
/// the column's spatial reference system. A wrong value cannot be adjusted, so it is an error even
/// outside of strict mode.
pub(super) fn to_geometry(value: &Value, ty: &ColumnType) -> Assigned {
    let Value::Bytes(bytes) = value else { return Err(Problem::NoGeometry) };
    let (srid, geometry) = Geometry::from_stored(bytes).ok_or(Problem::NoGeometry)?;
    if !takes(ty.geometry_kind(), geometry.kind()) {
        return Err(Problem::NoGeometry);
    }
    match ty.srid() {
        Some(column) if column != srid => Err(Problem::WrongSrid { geometry: srid, column }),
        _ => Ok((value.clone(), None)),
    }
}

/// Reports whether a column of one kind takes geometries of another one. A GEOMETRYCOLLECTION takes
/// those that are collections of one kind of part.
fn takes(column: GeometryKind, kind: GeometryKind) -> bool {
    use GeometryKind::{Collection, Geometry, MultiLineString, MultiPoint, MultiPolygon};
    match column {
        Geometry => true,
        Collection if matches!(kind, MultiPoint | MultiLineString | MultiPolygon) => true,
        _ => column == kind,
    }
}

/// The number of bytes of one dimension.
const FLOAT_BYTES: usize = 4;

/// Converts a value to a vector: it must consist of finite numbers of four bytes each, and have no
/// more dimensions than the column.
pub(super) fn to_vector(value: &Value, ty: &ColumnType) -> Assigned {
    let refused = |kind: &str, size: usize| Err(Problem::NoVector(format!("{kind}, size: {size}")));
    let Value::Bytes(bytes) = value else { return refused("numeric", size_of::<u64>()) };
    let (numbers, rest) = bytes.as_chunks::<FLOAT_BYTES>();
    if numbers.is_empty() || !rest.is_empty() {
        return refused("string", bytes.len());
    }
    if !numbers.iter().all(|number| f32::from_le_bytes(*number).is_finite()) {
        return refused("NAN or INF", bytes.len());
    }
    if bytes.len() as u64 > ty.max_bytes() {
        return Err(Problem::TooLong);
    }
    Ok((value.clone(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_are_of_the_columns_kind_and_system() {
        let point = Geometry::Point([1.0, 2.0]);
        let value = |srid| Value::Bytes(point.to_stored(srid));
        let any = ColumnType::geometry(GeometryKind::Geometry, None);
        let points = ColumnType::geometry(GeometryKind::Point, Some(4326));
        let lines = ColumnType::geometry(GeometryKind::LineString, None);
        assert_eq!(to_geometry(&value(7), &any), Ok((value(7), None)));
        assert_eq!(to_geometry(&value(4326), &points), Ok((value(4326), None)));
        assert_eq!(to_geometry(&value(0), &points), Err(Problem::WrongSrid { geometry: 0, column: 4326 }));
        for (value, ty) in [(value(0), &lines), (Value::text("abc"), &any), (Value::Int(1), &any)] {
            assert_eq!(to_geometry(&value, ty), Err(Problem::NoGeometry));
        }
    }

    #[test]
    fn a_collection_takes_collections_of_one_kind_of_part() {
        let several = Value::Bytes(
            Geometry::Several(GeometryKind::MultiPoint, vec![Geometry::Point([1.0, 2.0])]).to_stored(0),
        );
        let one = Value::Bytes(Geometry::Point([1.0, 2.0]).to_stored(0));
        let collections = ColumnType::geometry(GeometryKind::Collection, None);
        assert_eq!(to_geometry(&several, &collections), Ok((several.clone(), None)));
        assert_eq!(to_geometry(&one, &collections), Err(Problem::NoGeometry));
        let lines = ColumnType::geometry(GeometryKind::MultiLineString, None);
        assert_eq!(to_geometry(&several, &lines), Err(Problem::NoGeometry));
    }

    #[test]
    fn vectors_are_finite_and_fit() {
        let ty = ColumnType::vector(2);
        let bytes =
            |numbers: &[f32]| Value::Bytes(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
        assert!(to_vector(&bytes(&[1.0]), &ty).is_ok() && to_vector(&bytes(&[1.0, 2.0]), &ty).is_ok());
        assert_eq!(to_vector(&bytes(&[1.0, 2.0, 3.0]), &ty), Err(Problem::TooLong));
        for wrong in [bytes(&[f32::NAN]), bytes(&[]), Value::text("abc"), Value::Int(7)] {
            assert!(matches!(to_vector(&wrong, &ty), Err(Problem::NoVector(_))), "{wrong:?}");
        }
    }
}
