//! Computes what lines have in common with lines. The `geo` library takes some lines that run along
//! each other for lines that cross, where one of them meets itself. This module compares every
//! corner exactly.

use super::super::Call;
use super::crossings::{each_meeting, segments, shared_points};
use super::lines::cut;
use super::plane::bits;
use super::shared::{BOUNDARY, INSIDE, OUTSIDE, Shared};
use crate::error::Result;
use std::collections::HashSet;
use types::geometry::Coordinates;

type Points = HashSet<[u64; 2]>;

/// Returns the boundary of lines: the points in which an odd number of them ends.
fn boundary(lines: &[Vec<Coordinates>]) -> Points {
    let mut found = Points::new();
    for end in lines.iter().flat_map(|line| [line.first(), line.last()]).flatten() {
        let end = bits(*end);
        if !found.insert(end) {
            found.remove(&end);
        }
    }
    found
}

/// Returns what two lists of lines share. Each line must have a length above 0.
///
/// # Errors
/// Returns 1317 when the statement is interrupted.
pub(super) fn shared(
    call: &Call<'_>,
    one: &[Vec<Coordinates>],
    other: &[Vec<Coordinates>],
) -> Result<Shared> {
    let mut places = [[None; 3]; 3];
    places[OUTSIDE][OUTSIDE] = Some(2);
    for piece in cut(call, one, &other.iter().collect::<Vec<_>>())? {
        let place = if piece.is_shared { INSIDE } else { OUTSIDE };
        places[INSIDE][place] = Some(1);
    }
    for piece in cut(call, other, &one.iter().collect::<Vec<_>>())? {
        if !piece.is_shared {
            places[OUTSIDE][INSIDE] = Some(1);
        }
    }
    let paths = one.iter().chain(other).enumerate();
    let all = paths.flat_map(|(path, line)| segments(path, line)).collect();
    let mut common = Points::new();
    each_meeting(call, all, |first, second, meeting| {
        if (first.path < one.len()) != (second.path < one.len()) {
            common.extend(shared_points(first.ends, second.ends, meeting).map(bits));
        }
        true
    })?;
    let (of_one, of_other) = (boundary(one), boundary(other));
    for point in &common {
        let place = |ends: &Points| if ends.contains(point) { BOUNDARY } else { INSIDE };
        let shared = &mut places[place(&of_one)][place(&of_other)];
        *shared = shared.or(Some(0));
    }
    if of_one.iter().any(|end| !common.contains(end)) {
        places[BOUNDARY][OUTSIDE] = Some(0);
    }
    if of_other.iter().any(|end| !common.contains(end)) {
        places[OUTSIDE][BOUNDARY] = Some(0);
    }
    Ok(Shared { places, dimensions: [1, 1], has_points_alone: false })
}
