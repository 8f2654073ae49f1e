//! The ranges of SPATIAL indexes: which entries lead to the geometries whose boxes meet that of a
//! known geometry.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr};
use engine::{IndexRef, KeyRange, Table};
use types::cells::{Surface, Window};
use types::convert::Problem;
use types::geometry::Geometry;
use types::{GeometryKind, Value};

/// So few entries are read in any case.
const LEAST_ENTRIES: u64 = 16;

/// Returns the ranges of a SPATIAL index's entries that lead to the rows whose boxes meet that of
/// another geometry. `None` means that all rows have to be read: where the condition has an error,
/// which the first row then shows, for a geometry without points, and if many rows would be found.
///
/// # Errors
/// Returns 3643 for a geometry of another spatial reference system than the column's, as MySQL does
/// where it looks for ranges, and the errors of computing the geometry and of reading.
pub(super) fn ranges(
    table: &Table,
    entries: IndexRef,
    other: &Expr,
    row: &[Value],
    ctx: &Context<'_>,
) -> Result<Option<Vec<KeyRange>>> {
    let Some(column) = table.first_column(entries) else { return Ok(None) };
    let (srid, other) = match &*other.eval(row, ctx)? {
        Value::Null => return Ok(Some(Vec::new())),
        Value::Bytes(stored) => match Geometry::from_stored(stored) {
            Some(other) => other,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    if let Some(of_column) = column.ty.srid().filter(|of_column| *of_column != srid) {
        let problem = Problem::WrongSrid { geometry: srid, column: of_column };
        return Err(SqlError::new(problem.code(), problem.message(&column.name, 1)));
    }
    let Some(window) = Window::around(&other, Surface::of(Some(srid))) else { return Ok(None) };
    let ranges = engine::cell_ranges(&window, column.ty.geometry_kind() == GeometryKind::Point);
    let are_few = engine::are_few_entries(&ranges, table, entries, LEAST_ENTRIES)?;
    Ok(are_few.then_some(ranges))
}
