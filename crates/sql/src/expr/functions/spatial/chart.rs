//! Charts: geometries of the ellipsoid on a plane, where the same code relates and combines them as
//! in a plane system.
//!
//! The projection is gnomonic around the middle of all the geometries, so edges stay straight. What
//! touches stays touching, because a corner that is on an edge of the ellipsoid becomes a corner of
//! that edge: the plane need not find out that it is on it. Where the projection of a long edge is
//! bent more than [`MOST_BENT`] of its length, more points of the edge go into the chart (fillers),
//! which no result shows.

use super::super::Call;
use super::argument::BYTES_AT_WORK;
use super::caps::Cap;
use super::geodesic::{EQUATOR_RADIUS, FLATTENING, ON_EDGE, Way, ahead, is_on};
use super::gnomonic::Gnomonic;
use super::plane::bits;
use crate::error::Result;
use std::collections::{HashMap, HashSet};
use types::geometry::{Coordinates, Geometry};

/// The largest angle, in radians, from the middle of a chart to a point on it (80 degrees).
const MOST_RADIUS: f64 = 1.4;
/// How far an edge of a chart may be from the geodesic, as a part of its length.
const MOST_BENT: f64 = 1e-8;
/// How far an edge of a chart may be from the geodesic in any case, in metres.
const ALWAYS_STRAIGHT: f64 = 1e-4;
/// The most pieces that an edge of a chart consists of.
const MOST_PIECES: f64 = 64.0;

/// A point on the ellipsoid and its place on a chart.
#[derive(Clone, Copy)]
struct Corner {
    place: Coordinates,
    point: Coordinates,
}

/// A plane on which geometries of the ellipsoid are.
pub(super) struct Chart {
    gnomonic: Gnomonic,
    /// All corners of the geometries, sorted by the first coordinate of their places.
    corners: Vec<Corner>,
    /// The places of points.
    places: HashMap<[u64; 2], Coordinates>,
    /// The points of places.
    points: HashMap<[u64; 2], Coordinates>,
    /// The places of fillers.
    fillers: HashSet<[u64; 2]>,
}

/// Returns how far the projection of an edge may be from a straight line, in metres: about four
/// times of what it is in the worst case.
fn most_bent([from, to]: [Coordinates; 2]) -> f64 {
    let square = |[x, y]: Coordinates| x * x + y * y;
    let length = square([to[0] - from[0], to[1] - from[1]]);
    FLATTENING / 8.0 * length * square(from).max(square(to)) / EQUATOR_RADIUS.powi(3)
}

/// Returns how far a place is from the line through two others.
fn distance_to_line([from, to]: [Coordinates; 2], place: Coordinates) -> f64 {
    let (right, up) = (to[0] - from[0], to[1] - from[1]);
    ((place[0] - from[0]) * up - (place[1] - from[1]) * right).abs() / right.hypot(up)
}

impl Chart {
    /// Returns a chart of these geometries, and the geometries on it. `None` means that they do not
    /// fit on half of the globe.
    ///
    /// # Errors
    /// Returns 1317 when the statement is interrupted.
    pub fn of<const N: usize>(
        call: &Call<'_>,
        geometries: [&Geometry; N],
    ) -> Result<Option<(Chart, [Geometry; N])>> {
        let Some(cap) = Cap::around(&geometries).filter(|cap| cap.radius < MOST_RADIUS) else {
            return Ok(None);
        };
        let mut chart = Chart {
            gnomonic: Gnomonic { center: cap.center() },
            corners: Vec::new(),
            places: HashMap::new(),
            points: HashMap::new(),
            fillers: HashSet::new(),
        };
        let mut all = Vec::new();
        geometries.iter().for_each(|geometry| geometry.visit_points(&mut |point| all.push(*point)));
        for point in all {
            call.ctx.check_interrupt()?;
            if !chart.add(point) {
                return Ok(None);
            }
        }
        chart.corners.sort_by(|one, other| one.place[0].total_cmp(&other.place[0]));
        let mut on_chart = Vec::with_capacity(N);
        for geometry in geometries {
            on_chart.push(chart.put(call, geometry)?);
        }
        let on_chart: Option<[Geometry; N]> = on_chart.try_into().ok();
        Ok(on_chart.map(|on_chart| (chart, on_chart)))
    }

    /// Adds a corner, and returns whether it has a place.
    fn add(&mut self, point: Coordinates) -> bool {
        if self.places.contains_key(&bits(point)) {
            return true;
        }
        let Some(place) = self.gnomonic.place(point) else { return false };
        self.places.insert(bits(point), place);
        // Both names of a pole have one place.
        let place = match point[1].abs() == 90.0 {
            true => *self.places.entry(bits([0.0, point[1]])).or_insert(place),
            false => place,
        };
        self.places.insert(bits(point), place);
        if let std::collections::hash_map::Entry::Vacant(entry) = self.points.entry(bits(place)) {
            entry.insert(point);
            self.corners.push(Corner { place, point });
        }
        true
    }

    fn place(&self, point: Coordinates) -> Coordinates {
        self.places[&bits(point)]
    }

    fn put(&mut self, call: &Call<'_>, geometry: &Geometry) -> Result<Geometry> {
        Ok(match geometry {
            Geometry::Point(point) => Geometry::Point(self.place(*point)),
            Geometry::LineString(points) => Geometry::LineString(self.path(call, points)?),
            Geometry::Polygon(rings) => {
                let rings = rings.iter().map(|ring| self.path(call, ring)).collect::<Result<_>>()?;
                Geometry::Polygon(rings)
            }
            Geometry::Several(kind, parts) => {
                let parts = parts.iter().map(|part| self.put(call, part)).collect::<Result<_>>()?;
                Geometry::Several(*kind, parts)
            }
        })
    }

    /// Returns the places of a path's corners, of the corners on its edges, and of its fillers.
    fn path(&mut self, call: &Call<'_>, points: &[Coordinates]) -> Result<Vec<Coordinates>> {
        let mut places = vec![self.place(points[0])];
        for ends in points.windows(2) {
            call.ctx.check_interrupt()?;
            let ends = [ends[0], ends[1]].map(|point| Corner { place: self.place(point), point });
            if ends[0].place == ends[1].place && ends[0].point != ends[1].point && places.len() > 1 {
                // Two names of a pole are one corner.
                continue;
            }
            let mut from = ends[0];
            for corner in self.corners_on(ends).into_iter().chain([ends[1]]) {
                self.fill([from, corner], &mut places);
                places.push(corner.place);
                from = corner;
            }
        }
        let added = places.len().saturating_sub(points.len());
        call.check_room(added.saturating_mul(size_of::<Coordinates>() * BYTES_AT_WORK))?;
        Ok(places)
    }

    /// Returns the corners that are on an edge, in order, without its ends.
    fn corners_on(&self, ends: [Corner; 2]) -> Vec<Corner> {
        let places = ends.map(|end| end.place);
        if places[0] == places[1] {
            return Vec::new();
        }
        let far = places.iter().map(|place| place[0].hypot(place[1]) / EQUATOR_RADIUS).fold(1.0, f64::max);
        // Distances are larger on the chart than on the globe, the more so the farther out.
        let near = most_bent(places) + 2.0 * ON_EDGE * far * far;
        let span = |axis: usize| {
            let [one, other] = places.map(|place| place[axis]);
            one.min(other) - near..=one.max(other) + near
        };
        let (columns, rows) = (span(0), span(1));
        let first = self.corners.partition_point(|corner| corner.place[0] < *columns.start());
        let candidates = self.corners[first..].iter().take_while(|corner| corner.place[0] <= *columns.end());
        let mut found: Vec<Corner> = candidates
            .filter(|corner| rows.contains(&corner.place[1]) && !places.contains(&corner.place))
            .filter(|corner| distance_to_line(places, corner.place) <= near)
            .filter(|corner| is_on(ends.map(|end| end.point), corner.point))
            .copied()
            .collect();
        let [from, to] = places;
        let part = |place: Coordinates| {
            (place[0] - from[0]) * (to[0] - from[0]) + (place[1] - from[1]) * (to[1] - from[1])
        };
        found.sort_by(|one, other| part(one.place).total_cmp(&part(other.place)));
        found
    }

    /// Appends the fillers of an edge that is no longer cut. They are the same for both directions.
    fn fill(&mut self, ends: [Corner; 2], into: &mut Vec<Coordinates>) {
        let places = ends.map(|end| end.place);
        let length = (places[1][0] - places[0][0]).hypot(places[1][1] - places[0][1]);
        let enough = ALWAYS_STRAIGHT.max(length * MOST_BENT);
        if length == 0.0 || most_bent(places) <= enough {
            return;
        }
        let is_turned = bits(ends[0].point) > bits(ends[1].point);
        let [from, to] = if is_turned { [ends[1], ends[0]] } else { ends };
        let way = Way::between(from.point, to.point);
        let at = |part: f64| {
            let point = ahead(from.point, way.start, part * way.length);
            self.gnomonic.place(point).map(|place| Corner { place, point })
        };
        let bent = [0.25, 0.5, 0.75].into_iter().filter_map(at);
        let bent = bent.map(|corner| distance_to_line(places, corner.place)).fold(0.0, f64::max);
        let pieces = (bent / enough).sqrt().ceil().min(MOST_PIECES);
        let mut fillers: Vec<Corner> =
            (1..pieces as usize).filter_map(|piece| at(piece as f64 / pieces)).collect();
        if is_turned {
            fillers.reverse();
        }
        for filler in fillers {
            self.fillers.insert(bits(filler.place));
            self.points.entry(bits(filler.place)).or_insert(filler.point);
            into.push(filler.place);
        }
    }

    fn point(&self, place: Coordinates) -> Coordinates {
        self.points.get(&bits(place)).copied().unwrap_or_else(|| self.gnomonic.point(place))
    }

    /// Returns a geometry of the chart on the ellipsoid, without fillers.
    pub fn on_ellipsoid(&self, geometry: &Geometry) -> Geometry {
        match geometry {
            Geometry::Point(place) => Geometry::Point(self.point(*place)),
            Geometry::LineString(places) => Geometry::LineString(self.path_on_ellipsoid(places)),
            Geometry::Polygon(rings) => {
                Geometry::Polygon(rings.iter().map(|ring| self.path_on_ellipsoid(ring)).collect())
            }
            Geometry::Several(kind, parts) => {
                Geometry::Several(*kind, parts.iter().map(|part| self.on_ellipsoid(part)).collect())
            }
        }
    }

    fn path_on_ellipsoid(&self, places: &[Coordinates]) -> Vec<Coordinates> {
        let is_filler = |place: &Coordinates| self.fillers.contains(&bits(*place));
        let mut places = places.to_vec();
        let is_ring = places.len() > 3 && places.first() == places.last();
        if is_ring && let Some(start) = places.iter().position(|place| !is_filler(place)) {
            // A ring can begin at any corner.
            places.pop();
            places.rotate_left(start);
            places.push(places[0]);
        }
        let last = places.len() - 1;
        let kept =
            places.iter().enumerate().filter(|(at, place)| *at == 0 || *at == last || !is_filler(place));
        kept.map(|(_, place)| self.point(*place)).collect()
    }
}
