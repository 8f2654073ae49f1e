//! The comparison of two geometries as sets of points: the order of a ring's points and the last
//! digits may differ.

use types::geometry::{Coordinates, Geometry};

/// The distance below which two points count as the same where none is given.
const NEAR: f64 = 1e-7;

#[derive(Default)]
struct Shape {
    points: Vec<Coordinates>,
    lines: Vec<[Coordinates; 2]>,
    edges: Vec<[Coordinates; 2]>,
    area: f64,
    /// The distance below which two points count as the same.
    near: f64,
}

fn pairs(points: &[Coordinates]) -> impl Iterator<Item = [Coordinates; 2]> + '_ {
    points.windows(2).map(|ends| [ends[0], ends[1]])
}

fn area_of(ring: &[Coordinates]) -> f64 {
    pairs(ring).map(|[[a, b], [c, d]]| a * d - c * b).sum::<f64>().abs() / 2.0
}

impl Shape {
    fn add(&mut self, geometry: &Geometry) {
        match geometry {
            Geometry::Point(point) => self.points.push(*point),
            Geometry::LineString(points) => self.lines.extend(pairs(points)),
            Geometry::Polygon(rings) => {
                self.edges.extend(rings.iter().flat_map(|ring| pairs(ring)));
                let holes: f64 = rings[1..].iter().map(|ring| area_of(ring)).sum();
                self.area += area_of(&rings[0]) - holes;
            }
            Geometry::Several(_, parts) => parts.iter().for_each(|part| self.add(part)),
        }
    }

    fn of(text: &str, near: f64) -> Option<Shape> {
        let mut shape = Shape { near, ..Shape::default() };
        shape.add(&Geometry::from_wkt(text)?);
        // A point on a line or an edge adds nothing to the set of points.
        let ways = [&shape.lines[..], &shape.edges[..]].concat();
        shape.points.retain(|point| !ways.iter().any(|way| distance(*point, *way) < near));
        Some(shape)
    }

    /// Reports whether this shape's points, the ends and middles of its lines, and the starts of
    /// its edges are on the other shape.
    fn is_on(&self, other: &Shape) -> bool {
        let points: Vec<[Coordinates; 2]> = other.points.iter().map(|point| [*point, *point]).collect();
        let near = |point: Coordinates, ways: &[[Coordinates; 2]]| {
            ways.iter().any(|way| distance(point, *way) < self.near)
        };
        self.points.iter().all(|point| near(*point, &points))
            && self
                .lines
                .iter()
                .all(|line| [line[0], line[1], middle(*line)].iter().all(|point| near(*point, &other.lines)))
            && self.edges.iter().all(|edge| near(edge[0], &other.edges))
    }
}

fn middle([one, other]: [Coordinates; 2]) -> Coordinates {
    [(one[0] + other[0]) / 2.0, (one[1] + other[1]) / 2.0]
}

fn distance(point: Coordinates, [from, to]: [Coordinates; 2]) -> f64 {
    let (right, up) = (to[0] - from[0], to[1] - from[1]);
    let square = right * right + up * up;
    let along = (point[0] - from[0]) * right + (point[1] - from[1]) * up;
    let part = if square == 0.0 { 0.0 } else { (along / square).clamp(0.0, 1.0) };
    (point[0] - from[0] - part * right).hypot(point[1] - from[1] - part * up)
}

/// Reports whether two texts have the same shape. Both have to be geometries in WKT.
pub fn are_same(one: &str, other: &str) -> bool {
    are_same_within(one, other, NEAR)
}

/// Does the same as [`are_same`] for points that may be this far from each other.
pub fn are_same_within(one: &str, other: &str, near: f64) -> bool {
    let (Some(one), Some(other)) = (Shape::of(one, near), Shape::of(other, near)) else { return false };
    (one.area - other.area).abs() < near && one.is_on(&other) && other.is_on(&one)
}

#[test]
fn shapes_differ_by_more_than_the_order_of_points() {
    let square = "POLYGON((0 0,4 0,4 4,0 4,0 0))";
    assert!(are_same(square, "POLYGON((4 4,0 4,0 0,4 0.00000000001,4 4))"));
    assert!(!are_same(square, "POLYGON((0 0,4 0,4 4,0 0))"));
    assert!(!are_same(square, "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 1))"));
    assert!(!are_same("POINT(1 1)", "MULTIPOINT((1 1),(2 2))"));
    assert!(!are_same("LINESTRING(0 0,1 1)", "LINESTRING(0 0,1 0)"));
}
