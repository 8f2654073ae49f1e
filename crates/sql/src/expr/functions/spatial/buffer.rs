//! ST_BUFFER(), the area around a geometry: the union of one piece for each point, each segment and
//! each corner.

use super::super::{Call, Coercibility, Function};
use super::areas::{self, Rings};
use super::argument::{
    ANY, BYTES_AT_WORK, geometry, invalid, is_geographic, not_on_ellipsoid_of, result, stored, with_state,
};
use super::geodesic::ahead;
use super::overlay::parts;
use super::plane::Flat;
use super::valid;
use crate::error::{Result, SqlError};
use crate::expr::functions::wrong_arguments;
use geo::bool_ops::OpType;
use std::f64::consts::{PI, TAU};
use types::geometry::{Coordinates, Geometry};
use types::{ColumnType, Value};

/// The names of the strategies. In a strategy's bytes they are numbered from 1.
const NAMES: [&str; 6] =
    ["end_round", "end_flat", "join_round", "join_miter", "point_circle", "point_square"];
const END_ROUND: u32 = 1;
const END_FLAT: u32 = 2;
const JOIN_ROUND: u32 = 3;
const JOIN_MITER: u32 = 4;
const POINT_CIRCLE: u32 = 5;
const POINT_SQUARE: u32 = 6;
/// The bytes of a strategy: its kind and a number.
const STRATEGY_BYTES: usize = 12;
/// MySQL's default for `max_points_in_geometry`.
const MOST_POINTS: f64 = 65_536.0;
/// The points of a circle where no strategy gives their number.
const POINTS_OF_CIRCLE: f64 = 32.0;

/// The shapes of the area at ends, corners and points.
#[derive(Clone, Copy)]
struct Strategies {
    /// The points of a circle at an end. `None` means that ends are flat.
    end: Option<f64>,
    /// The points of a circle at a corner. `None` means that corners have a tip.
    round_join: Option<f64>,
    /// The largest distance of a corner's tip, as a multiple of the buffer's distance.
    miter: f64,
    /// The points of a circle around a point. `None` means a square.
    circle: Option<f64>,
}

fn strategy(call: &Call<'_>) -> Result<Value> {
    let name = call.string(0);
    let kind = NAMES.iter().position(|known| known.eq_ignore_ascii_case(&name));
    let kind = kind.ok_or_else(|| wrong_arguments(call.name))? as u32 + 1;
    let takes_number = !matches!(kind, END_FLAT | POINT_SQUARE);
    if takes_number != call.is_given(1) {
        return Err(wrong_arguments(call.name));
    }
    let number = if takes_number { call.double(1) } else { 0.0 };
    if takes_number && number <= 0.0 {
        return Err(wrong_arguments(call.name));
    }
    if kind != JOIN_MITER && number > MOST_POINTS {
        let text = format!(
            "Parameter points_per_circle exceeds the maximum number of points in a geometry ({MOST_POINTS}) in \
             function {}.",
            call.name
        );
        return Err(SqlError::new(3134, text));
    }
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    Ok(Value::Bytes(bytes))
}

/// Reads the strategies, which are the arguments from the third one on.
fn strategies(call: &Call<'_>, found: &Flat) -> Result<Strategies> {
    let circle = Some(POINTS_OF_CIRCLE);
    let mut chosen = Strategies { end: circle, round_join: circle, miter: 0.0, circle };
    let mut seen = [false; 3];
    for value in &call.values[2..] {
        let read = |bytes: &[u8]| {
            let bytes: &[u8; STRATEGY_BYTES] = bytes.try_into().ok()?;
            let (kind, number) = bytes.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*kind), f64::from_le_bytes(number.try_into().ok()?)))
        };
        let Value::Bytes(bytes) = &**value else { return Err(wrong_arguments(call.name)) };
        let (kind, number) = read(bytes).ok_or_else(|| wrong_arguments(call.name))?;
        let (place, fits) = match kind {
            END_ROUND | END_FLAT => (0, !found.lines.is_empty()),
            JOIN_ROUND | JOIN_MITER => (1, !found.lines.is_empty() || !found.polygons.is_empty()),
            POINT_CIRCLE | POINT_SQUARE => (2, !found.points.is_empty()),
            _ => return Err(wrong_arguments(call.name)),
        };
        let is_number = (0.0..=MOST_POINTS).contains(&number) || (kind == JOIN_MITER && number > 0.0);
        if !fits || !is_number || std::mem::replace(&mut seen[place], true) {
            return Err(wrong_arguments(call.name));
        }
        match kind {
            END_ROUND => chosen.end = Some(number),
            END_FLAT => chosen.end = None,
            JOIN_ROUND => chosen.round_join = Some(number),
            JOIN_MITER => (chosen.round_join, chosen.miter) = (None, number),
            POINT_CIRCLE => chosen.circle = Some(number),
            _ => chosen.circle = None,
        }
    }
    Ok(chosen)
}

/// The pieces around a geometry, and the settings that they are made with.
struct Pieces<'c> {
    call: &'c Call<'c>,
    strategies: Strategies,
    distance: f64,
    found: Vec<Rings>,
}

fn direction([from, to]: [Coordinates; 2]) -> f64 {
    (to[1] - from[1]).atan2(to[0] - from[0])
}

impl Pieces<'_> {
    /// Returns the point at the buffer's distance in a direction.
    fn around(&self, [x, y]: Coordinates, direction: f64) -> Coordinates {
        let (sine, cosine) = direction.sin_cos();
        [x + self.distance * cosine, y + self.distance * sine]
    }

    /// Closes a ring and adds it.
    ///
    /// # Errors
    /// Returns 1317 when the statement is interrupted.
    fn add(&mut self, mut ring: Vec<Coordinates>) -> Result<()> {
        ring.extend(ring.first().copied());
        self.call.ctx.check_interrupt()?;
        self.found.push(vec![ring]);
        Ok(())
    }

    /// Returns the points of an arc around a center, with both its ends.
    fn arc(&self, center: Coordinates, from: f64, turn: f64, points_of_circle: f64) -> Vec<Coordinates> {
        let steps = (points_of_circle.floor().max(1.0) * turn.abs() / TAU).ceil().max(1.0);
        (0..=steps as usize).map(|step| self.around(center, from + turn * step as f64 / steps)).collect()
    }

    fn point(&mut self, center: Coordinates) -> Result<()> {
        let [x, y] = center;
        let away = self.distance;
        match self.strategies.circle {
            None => {
                let [left, low, right, high] = [x - away, y - away, x + away, y + away];
                self.add(vec![[left, low], [right, low], [right, high], [left, high]])
            }
            Some(points) => {
                let count = points.floor().max(3.0);
                let turn = |at: usize| TAU * at as f64 / count;
                self.add((0..count as usize).map(|at| self.around(center, turn(at))).collect())
            }
        }
    }

    /// Returns the point at the buffer's distance beside a point of a way: on its left for a `side`
    /// of 1, on its right for -1.
    fn beside(&self, [x, y]: Coordinates, way: [Coordinates; 2], side: f64) -> Coordinates {
        let [right, up] = normal(way).map(|part| part * self.distance * side);
        [x + right, y + up]
    }

    fn segment(&mut self, way: [Coordinates; 2]) -> Result<()> {
        let [from, to] = way;
        let right = [from, to].map(|point| self.beside(point, way, -1.0));
        let left = [to, from].map(|point| self.beside(point, way, 1.0));
        // The ends themselves are corners too, so that the neighbouring pieces leave no gap on the
        // grid.
        self.add(vec![right[0], right[1], to, left[0], left[1], from])
    }

    /// Adds the piece that fills the outer side of a corner.
    fn corner(&mut self, before: [Coordinates; 2], after: [Coordinates; 2]) -> Result<()> {
        let corner = before[1];
        let mut turn = direction(after) - direction(before);
        if turn > PI {
            turn -= TAU;
        } else if turn <= -PI {
            turn += TAU;
        }
        if turn == 0.0 {
            return Ok(());
        }
        // The outer side of a way that turns left is on its right.
        let side = -turn.signum();
        let [from, to] = [before, after].map(|way| self.beside(corner, way, side));
        let mut ring = match self.strategies.round_join {
            Some(points) => {
                // The number of an arc's points depends on the last digit of its angle. As in
                // MySQL, this is the angle between the sides of the segments.
                let [first, last] = [from, to].map(|point| direction([corner, point]));
                let turn = (last - first).abs();
                let turn = turn.min(TAU - turn) * -side;
                let mut arc = self.arc(corner, first, turn, points);
                set_ends(&mut arc, from, to);
                arc
            }
            None => vec![from, self.tip(corner, [before, after], side, turn), to],
        };
        ring.push(corner);
        self.add(ring)
    }

    /// Returns the tip of a corner, which is no further away than the strategy allows.
    fn tip(&self, corner: Coordinates, ways: [[Coordinates; 2]; 2], side: f64, turn: f64) -> Coordinates {
        let [one, other] = ways.map(normal);
        let both = [one[0] + other[0], one[1] + other[1]];
        let half = (turn / 2.0).cos();
        let most = self.strategies.miter.max(1.0);
        let length = both[0].hypot(both[1]);
        // The tip is on the line that halves the angle between the two sides.
        let reach = if half > 0.0 && 1.0 / half <= most {
            1.0 / (1.0 + one[0] * other[0] + one[1] * other[1])
        } else {
            most / length
        };
        let reach = if reach.is_finite() { reach * self.distance * side } else { 0.0 };
        [corner[0] + both[0] * reach, corner[1] + both[1] * reach]
    }

    fn line(&mut self, points: &[Coordinates]) -> Result<()> {
        let ways: Vec<[Coordinates; 2]> = segments_of(points);
        let (Some(first), Some(last)) = (ways.first(), ways.last()) else {
            return self.point(points[0]);
        };
        if let Some(points) = self.strategies.end {
            let mut start = self.arc(first[0], direction(*first) + PI / 2.0, PI, points);
            let mut end = self.arc(last[1], direction(*last) - PI / 2.0, PI, points);
            let sides = |point, way| [1.0, -1.0].map(|side| self.beside(point, way, side));
            let ([start_left, start_right], [end_left, end_right]) =
                (sides(first[0], *first), sides(last[1], *last));
            set_ends(&mut start, start_left, start_right);
            set_ends(&mut end, end_right, end_left);
            start.push(first[0]);
            end.push(last[1]);
            self.add(start)?;
            self.add(end)?;
        }
        self.ways(&ways)
    }

    fn ways(&mut self, ways: &[[Coordinates; 2]]) -> Result<()> {
        for way in ways {
            self.segment(*way)?;
        }
        for pair in ways.windows(2) {
            self.corner(pair[0], pair[1])?;
        }
        Ok(())
    }

    fn ring(&mut self, points: &[Coordinates]) -> Result<()> {
        let mut ways = segments_of(points);
        ways.extend(ways.first().copied());
        self.ways(&ways)
    }
}

/// Returns the direction to the left of a way, as a vector of length 1.
fn normal([from, to]: [Coordinates; 2]) -> Coordinates {
    let [right, up] = [to[0] - from[0], to[1] - from[1]];
    let length = right.hypot(up);
    [-up / length, right / length]
}

/// Sets the ends of an arc to those of its neighbours, so that they are equal to the last digit.
fn set_ends(arc: &mut [Coordinates], from: Coordinates, to: Coordinates) {
    if let [first, .., last] = arc {
        (*first, *last) = (from, to);
    }
}

fn segments_of(points: &[Coordinates]) -> Vec<[Coordinates; 2]> {
    points.windows(2).filter(|ends| ends[0] != ends[1]).map(|ends| [ends[0], ends[1]]).collect()
}

/// Returns a bound for the bytes of the points that the pieces around a geometry consist of.
fn bytes_of_pieces(flat: &Flat, strategies: &Strategies) -> usize {
    // A segment's ring has seven points. A corner or an end is a part of a circle with its center.
    const OTHERS: f64 = 16.0;
    let of_circle = |points: Option<f64>| points.unwrap_or_default() + OTHERS;
    let paths = flat.lines.iter().chain(flat.polygons.iter().flatten());
    let corners: usize = paths.map(Vec::len).sum();
    let points = flat.points.len() as f64 * of_circle(strategies.circle)
        + corners as f64 * of_circle(strategies.round_join)
        // A line without length has the circle of a point.
        + flat.lines.len() as f64 * (of_circle(strategies.end) + of_circle(strategies.circle));
    (points * size_of::<Coordinates>() as f64) as usize
}

/// Returns the area up to `distance` around a geometry. A negative distance leaves the part of its
/// areas that is further than that from their edges.
fn around(call: &Call<'_>, flat: Flat, distance: f64, strategies: Strategies) -> Result<Geometry> {
    let mut pieces = Pieces { call, strategies, distance: distance.abs(), found: Vec::new() };
    for point in &flat.points {
        pieces.point(*point)?;
    }
    for line in &flat.lines {
        pieces.line(line)?;
    }
    for ring in flat.polygons.iter().flatten() {
        pieces.ring(ring)?;
    }
    let mut found = pieces.found;
    let is_number = |point: &Coordinates| point.iter().all(|number| number.abs() < 1e100);
    if !found.iter().flatten().flatten().all(is_number) {
        return Err(invalid(call));
    }
    let polygons = if distance > 0.0 {
        found.extend(flat.polygons);
        areas::union(call, &found)?
    } else {
        areas::combined(call, &flat.polygons, &areas::union(call, &found)?, OpType::Difference)?
    };
    Ok(Flat { polygons, ..Flat::default() }.into_geometry())
}

/// Returns the area around a point on the ellipsoid. As in MySQL there is none around anything
/// else, and strategies are not taken.
fn on_ellipsoid(call: &Call<'_>, found: &Geometry, distance: f64) -> Result<Geometry> {
    let Geometry::Point(center) = found else { return Err(not_on_ellipsoid_of(call, found)) };
    if distance < 0.0 || call.values.len() > 2 {
        return Err(wrong_arguments(call.name));
    }
    const SOUTH: f64 = 180.0;
    let turn = |at: f64| SOUTH - 360.0 * at / POINTS_OF_CIRCLE;
    let mut ring: Vec<Coordinates> =
        (0..POINTS_OF_CIRCLE as usize).map(|at| ahead(*center, turn(at as f64), distance)).collect();
    ring.push(ring[0]);
    Ok(Geometry::Polygon(vec![ring]))
}

fn buffer(call: &Call<'_>) -> Result<Value> {
    let (srid, found) = stored(call, 0)?;
    let distance = call.double(1);
    if !distance.is_finite() {
        return Err(invalid(call));
    }
    let flat = Flat::of(&found);
    let strategies = strategies(call, &flat)?;
    if is_geographic(call, srid)? && distance != 0.0 {
        return result(call, srid, &on_ellipsoid(call, &found, distance)?);
    }
    if distance == 0.0 || found.is_empty() {
        return result(call, srid, &found);
    }
    if !valid::are_areas(call, &found)? {
        let text = format!("Unknown GIS error occurred in function {}.", call.name);
        return Err(with_state(3035, b"HY000", text));
    }
    let Flat { points, lines, polygons } = parts(call, &found)?;
    let has_no_area = !points.is_empty() || !lines.is_empty() || flat.polygons.is_empty();
    if distance < 0.0 && has_no_area {
        return Err(wrong_arguments(call.name));
    }
    let whole = match distance < 0.0 {
        true => Flat { polygons, ..Flat::default() },
        false => Flat { polygons, ..flat },
    };
    // A short text may ask for any number of points.
    let bytes = bytes_of_pieces(&whole, &strategies);
    if !call.may_make(bytes, call.name)? {
        return Ok(Value::Null);
    }
    call.check_room(bytes.saturating_mul(BYTES_AT_WORK))?;
    result(call, srid, &around(call, whole, distance, strategies)?)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_buffer", 2..=5, geometry::<ANY>, buffer),
    Function::new(
        "st_buffer_strategy",
        1..=2,
        |_| Ok((ColumnType::varbinary(16), Coercibility::Literal)),
        strategy,
    ),
];
