//! Cuts lines where other lines and rings meet them.

use super::super::Call;
use super::crossings::{Meeting, Segment, crossing, each_meeting, segments};
use crate::error::Result;
use std::collections::HashMap;
use types::geometry::Coordinates;

/// A part of a line's segment between two points in which something meets it.
pub(super) struct Piece {
    /// The number of the line.
    pub line: usize,
    /// The points in which the piece begins and ends.
    pub ends: [Coordinates; 2],
    /// Whether another path runs along the piece.
    pub is_shared: bool,
    /// Whether the piece begins within the segment and not at a corner of the line.
    is_cut: bool,
    /// The number of the piece among all pieces.
    number: usize,
}

impl Piece {
    /// Returns the point in the middle of the piece.
    pub fn middle(&self) -> Coordinates {
        let [one, other] = self.ends;
        [one[0] / 2.0 + other[0] / 2.0, one[1] / 2.0 + other[1] / 2.0]
    }
}

/// Returns where a point is on a segment: 0 at its beginning, 1 at its end.
fn place(ends: [Coordinates; 2], point: Coordinates) -> f64 {
    let [from, to] = ends;
    let axis = usize::from((to[1] - from[1]).abs() > (to[0] - from[0]).abs());
    (point[axis] - from[axis]) / (to[axis] - from[axis])
}

/// The meetings of a segment with other paths: points, and stretches that run along it.
#[derive(Default)]
struct Cuts {
    points: Vec<(f64, Coordinates)>,
    shared: Vec<[f64; 2]>,
}

impl Cuts {
    fn add(&mut self, own: &Segment, other: &Segment, meeting: Meeting) {
        if meeting != Meeting::Along {
            let point = crossing(own.ends, other.ends, meeting);
            self.points.extend(point.map(|point| (place(own.ends, point), point)));
            return;
        }
        let [one, another] = other.ends.map(|point| place(own.ends, point));
        self.points.push((one, other.ends[0]));
        self.points.push((another, other.ends[1]));
        self.shared.push([one.min(another), one.max(another)]);
    }

    /// Appends the pieces of the segment.
    fn pieces(mut self, segment: &Segment, into: &mut Vec<Piece>) {
        self.points.retain(|(at, _)| 0.0 < *at && *at < 1.0);
        self.points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        self.points.push((1.0, segment.ends[1]));
        let (mut from, mut start) = (0.0, segment.ends[0]);
        for (to, end) in self.points {
            if end == start {
                continue;
            }
            let middle = (from + to) / 2.0;
            let is_shared = self.shared.iter().any(|[least, largest]| (*least..=*largest).contains(&middle));
            let number = into.len();
            into.push(Piece {
                line: segment.path,
                ends: [start, end],
                is_shared,
                is_cut: from > 0.0,
                number,
            });
            (from, start) = (to, end);
        }
    }
}

/// Returns the pieces of lines, which are cut where the paths of `others` meet them.
///
/// # Errors
/// Returns 1317 when the statement is interrupted.
pub(super) fn cut(
    call: &Call<'_>,
    lines: &[Vec<Coordinates>],
    others: &[&Vec<Coordinates>],
) -> Result<Vec<Piece>> {
    let own: Vec<Segment> = lines.iter().enumerate().flat_map(|(at, line)| segments(at, line)).collect();
    let foreign = others.iter().enumerate().flat_map(|(at, line)| segments(lines.len() + at, line));
    let all = own.iter().copied().chain(foreign).collect();
    let mut cuts: HashMap<(usize, usize), Cuts> = HashMap::new();
    each_meeting(call, all, |one, other, meeting| {
        let (own, other) = if one.path < other.path { (one, other) } else { (other, one) };
        if own.path < lines.len() && other.path >= lines.len() {
            cuts.entry((own.path, own.at)).or_default().add(own, other, meeting);
        }
        true
    })?;
    let mut pieces = Vec::new();
    for segment in &own {
        cuts.remove(&(segment.path, segment.at)).unwrap_or_default().pieces(segment, &mut pieces);
    }
    Ok(pieces)
}

/// Joins pieces to lines: pieces that follow each other become one line again.
pub(super) fn joined(pieces: Vec<Piece>) -> Vec<Vec<Coordinates>> {
    let mut lines: Vec<Vec<Coordinates>> = Vec::new();
    let mut next = None;
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if next == Some((piece.line, piece.number)) => {
                if piece.is_cut {
                    line.pop();
                }
                line.push(piece.ends[1]);
            }
            _ => lines.push(piece.ends.to_vec()),
        }
        next = Some((piece.line, piece.number + 1));
    }
    lines
}
