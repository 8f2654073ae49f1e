//! Finds where segments of lines and rings meet. Robust predicates of the `geo` library decide
//! exactly on which side of a line a point is.

use super::super::Call;
use super::plane::coordinate;
use crate::error::Result;
use geo::kernels::{Kernel, Orientation, RobustKernel};
use types::geometry::Coordinates;

/// A part of a line between two different points.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    /// The points in which the segment begins and ends.
    pub ends: [Coordinates; 2],
    /// The number of the segment's line or ring.
    pub path: usize,
    /// The number of the segment within its line or ring.
    pub at: usize,
}

/// The way in which two segments meet.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Meeting {
    /// They meet in a point that is an end of one of them.
    Point(Coordinates),
    /// They cross in a point within both.
    Cross,
    /// They have more than a point in common.
    Along,
}

/// Returns the segments of a line, without those of length 0.
pub(super) fn segments(path: usize, points: &[Coordinates]) -> impl Iterator<Item = Segment> + '_ {
    let pairs = points.windows(2).filter(|ends| ends[0] != ends[1]);
    pairs.enumerate().map(move |(at, ends)| Segment { ends: [ends[0], ends[1]], path, at })
}

fn side(ends: [Coordinates; 2], point: Coordinates) -> Orientation {
    RobustKernel::orient2d(coordinate(ends[0]), coordinate(ends[1]), coordinate(point))
}

/// Returns the least and the largest coordinate on an axis.
fn span(ends: [Coordinates; 2], axis: usize) -> [f64; 2] {
    [ends[0][axis].min(ends[1][axis]), ends[0][axis].max(ends[1][axis])]
}

fn is_in_box(ends: [Coordinates; 2], point: Coordinates) -> bool {
    [0, 1].iter().all(|axis| {
        let [least, largest] = span(ends, *axis);
        least <= point[*axis] && point[*axis] <= largest
    })
}

/// Returns how two segments meet, or `None` if they do not meet.
fn meeting(one: [Coordinates; 2], other: [Coordinates; 2]) -> Option<Meeting> {
    let of_other = other.map(|point| side(one, point));
    let of_one = one.map(|point| side(other, point));
    if of_other == [Orientation::Collinear; 2] {
        return meeting_in_line(one, other);
    }
    let on_one = (0..2).find(|end| of_other[*end] == Orientation::Collinear && is_in_box(one, other[*end]));
    let on_other = (0..2).find(|end| of_one[*end] == Orientation::Collinear && is_in_box(other, one[*end]));
    match (on_one, on_other) {
        (Some(end), _) => Some(Meeting::Point(other[end])),
        (_, Some(end)) => Some(Meeting::Point(one[end])),
        _ => {
            let parts =
                |sides: [Orientation; 2]| sides[0] != sides[1] && !sides.contains(&Orientation::Collinear);
            (parts(of_other) && parts(of_one)).then_some(Meeting::Cross)
        }
    }
}

/// Does the same as [`meeting`] for segments on one straight line.
fn meeting_in_line(one: [Coordinates; 2], other: [Coordinates; 2]) -> Option<Meeting> {
    let length = |axis| span(one, axis)[1] - span(one, axis)[0];
    let axis = usize::from(length(1) > length(0));
    let ([least, largest], [other_least, other_largest]) = (span(one, axis), span(other, axis));
    let (from, to) = (least.max(other_least), largest.min(other_largest));
    if from > to {
        return None;
    }
    if from < to {
        return Some(Meeting::Along);
    }
    let shared = one.into_iter().find(|point| point[axis] == from)?;
    other.contains(&shared).then_some(Meeting::Point(shared))
}

/// Calls `f` for each two segments that meet, until it returns false. It compares each two segments
/// that overlap along the first axis, which are few where lines are long and winding. The statement
/// can be interrupted.
///
/// # Errors
/// Returns 1317 when the statement is interrupted.
pub(super) fn each_meeting(
    call: &Call<'_>,
    mut segments: Vec<Segment>,
    mut f: impl FnMut(&Segment, &Segment, Meeting) -> bool,
) -> Result<()> {
    call.ctx.check_interrupt()?;
    segments.sort_by(|one, other| span(one.ends, 0)[0].total_cmp(&span(other.ends, 0)[0]));
    let mut open: Vec<Segment> = Vec::new();
    for segment in segments {
        call.ctx.check_interrupt()?;
        let left = span(segment.ends, 0)[0];
        let [low, high] = span(segment.ends, 1);
        open.retain(|other| span(other.ends, 0)[1] >= left);
        for other in &open {
            let [other_low, other_high] = span(other.ends, 1);
            if other_low > high || other_high < low {
                continue;
            }
            if let Some(meeting) = meeting(other.ends, segment.ends)
                && !f(other, &segment, meeting)
            {
                return Ok(());
            }
        }
        open.push(segment);
    }
    Ok(())
}

/// Reports whether two segments of one path may meet like this, because they are neighbours and
/// have one end in common. `segments` is the number of the path's segments, and `is_closed` says
/// that its last segment ends where the first one begins.
pub(super) fn is_joint(
    one: &Segment,
    other: &Segment,
    meeting: Meeting,
    segments: usize,
    is_closed: bool,
) -> bool {
    let (first, second) = if one.at < other.at { (one, other) } else { (other, one) };
    let Meeting::Point(point) = meeting else { return false };
    let follows = second.at == first.at + 1 && point == first.ends[1];
    let closes = is_closed && first.at == 0 && second.at + 1 == segments && point == first.ends[0];
    follows || closes
}

/// Returns the point of a meeting, or `None` where the segments run along each other.
pub(super) fn crossing(
    one: [Coordinates; 2],
    other: [Coordinates; 2],
    meeting: Meeting,
) -> Option<Coordinates> {
    match meeting {
        Meeting::Point(point) => Some(point),
        Meeting::Along => None,
        Meeting::Cross => {
            let [[x, y], to] = one;
            let [from, [other_x, other_y]] = other;
            let (right, up) = (to[0] - x, to[1] - y);
            let (other_right, other_up) = (other_x - from[0], other_y - from[1]);
            let turn = right * other_up - up * other_right;
            let part = ((from[0] - x) * other_up - (from[1] - y) * other_right) / turn;
            let point = [x + part * right, y + part * up];
            point.iter().all(|number| number.is_finite()).then_some(point)
        }
    }
}

/// Returns the points of a meeting. Where the segments run along each other, they are the ends of
/// the common part.
pub(super) fn shared_points(
    one: [Coordinates; 2],
    other: [Coordinates; 2],
    meeting: Meeting,
) -> impl Iterator<Item = Coordinates> {
    let is_along = meeting == Meeting::Along;
    let of_one = one.into_iter().filter(move |point| is_along && is_in_box(other, *point));
    let of_other = other.into_iter().filter(move |point| is_along && is_in_box(one, *point));
    of_one.chain(of_other).chain(crossing(one, other, meeting))
}
