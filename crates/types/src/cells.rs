//! Cells of the plane, by which a SPATIAL index finds geometries: a geometry has an entry for each
//! of the at most four cells that cover the smallest box around it, and a box leads to the ranges
//! of the cells that it meets.
//!
//! The cells are those of a quadtree. The whole plane is the cell of level 0, and each cell
//! consists of four cells of the next level. A cell's number has the path from the plane to the
//! cell in its upper bits and the level in its lower ones, so that the cells within a cell have
//! neighbouring numbers behind its own.
//!
//! Coordinates become whole numbers first. Their order stays; beside zero the numbers are as dense
//! as the coordinates, and farther away as dense as floating-point numbers are, so that degrees and
//! meters both find cells of a fitting size. Nothing but comparisons and arithmetic of whole
//! numbers is used, because cells must be the same on each machine.

use crate::geometry::{Coordinates, Geometry};

/// The number of levels below the plane, which is the number of bits of a whole coordinate.
const LEVELS: u32 = 29;
/// The number of bits of a cell's level.
const LEVEL_BITS: u32 = 6;
/// The number of bits of whole coordinates for each power of two.
const OCTAVE_BITS: u32 = 22;
/// The binary exponent at which coordinates begin to be as dense as floating-point numbers.
const FIRST_EXPONENT: i64 = -10;
/// The SRID of longitudes and latitudes on the globe (WGS 84).
const GLOBE: u32 = 4326;
const POLE: f64 = 90.0;
const HALF_ROUND: f64 = 180.0;
/// An edge may rise by this many degrees above its ends, for each square of a degree between their
/// meridians. On a sphere it is a ninth less.
const RISE: f64 = 0.0014;
/// The most degrees between the meridians of an edge whose rise is known.
const MOST_OF_EDGE: f64 = 60.0;
/// What is so many degrees beside an edge may count as on it.
const BESIDE: f64 = 1e-8;
/// Beyond this latitude, meridians are too close to each other to tell what is beside an edge.
const NEAR_POLE: f64 = 89.9;
/// A box leads to no more than about so many cells at its edge.
const MOST_AT_EDGE: usize = 16;

/// What coordinates are on, which says what is between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A plane.
    Plane,
    /// The globe, with longitudes and latitudes in degrees. Edges rise towards the poles.
    Globe,
}

impl Surface {
    /// Returns the surface of a spatial reference system. Those that functions do not know are
    /// planes here.
    pub fn of(srid: Option<u32>) -> Surface {
        if srid == Some(GLOBE) { Surface::Globe } else { Surface::Plane }
    }
}

/// A box, and whether it is around the globe.
struct Bounds {
    least: Coordinates,
    greatest: Coordinates,
    /// Whether something lies across the meridian of 180 degrees, or may.
    is_around: bool,
    has_areas: bool,
}

impl Bounds {
    fn add(&mut self, point: Coordinates) {
        for (axis, coordinate) in point.into_iter().enumerate() {
            // A coordinate that is no number is everywhere.
            let span = if coordinate.is_nan() { [f64::NEG_INFINITY, f64::INFINITY] } else { [coordinate; 2] };
            self.least[axis] = self.least[axis].min(span[0]);
            self.greatest[axis] = self.greatest[axis].max(span[1]);
        }
    }

    /// Adds what an edge on the globe may reach. Only sums and products of coordinates are used,
    /// because the result must be the same on each machine.
    fn add_edge(&mut self, [from, to]: [Coordinates; 2]) {
        let apart = (to[0] - from[0]).abs();
        let crosses = apart >= HALF_ROUND;
        let apart = if crosses { 2.0 * HALF_ROUND - apart } else { apart };
        let [south, north] = [from[1].min(to[1]), from[1].max(to[1])];
        self.is_around |= crosses || north.max(-south) > NEAR_POLE;
        let rise = if apart <= MOST_OF_EDGE { RISE * apart * apart } else { POLE };
        let top = if north >= 0.0 { (north + rise).min(POLE) } else { north };
        let bottom = if south <= 0.0 { (south - rise).max(-POLE) } else { south };
        self.add([from[0].min(to[0]) - BESIDE, bottom - BESIDE]);
        self.add([from[0].max(to[0]) + BESIDE, top + BESIDE]);
    }

    fn add_on_globe(&mut self, geometry: &Geometry) {
        let mut add_path = |path: &[Coordinates]| {
            path.windows(2).for_each(|ends| self.add_edge([ends[0], ends[1]]));
        };
        match geometry {
            Geometry::Point(point) => self.add(*point),
            Geometry::LineString(points) => add_path(points),
            Geometry::Polygon(rings) => {
                rings.iter().for_each(|ring| add_path(ring));
                self.has_areas = true;
            }
            Geometry::Several(_, parts) => parts.iter().for_each(|part| self.add_on_globe(part)),
        }
    }

    /// Widens the box of a geometry on the globe to what may be between its points.
    fn widen(&mut self) {
        // The smallest box around several points may be the one across the meridian of 180 degrees.
        if self.is_around || self.greatest[0] - self.least[0] >= HALF_ROUND {
            (self.least[0], self.greatest[0]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        // An area across the meridian of 180 degrees may have a pole inside.
        if self.is_around && self.has_areas {
            (self.least[1], self.greatest[1]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
    }
}

/// The smallest box around a geometry, in whole coordinates: the least and the greatest of each
/// axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    least: [u32; 2],
    greatest: [u32; 2],
}

/// A cell: its level, and its place among the cells of its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    level: u32,
    place: [u32; 2],
}

/// Returns the whole number of a coordinate. The order of the numbers is that of the coordinates,
/// but coordinates that are very close have one number.
fn whole(coordinate: f64) -> u32 {
    let half = 1 << (LEVELS - 1);
    let size = size_of(coordinate.abs()).min(half - 1);
    if coordinate < 0.0 { half - 1 - size } else { half + size }
}

/// Returns the whole number of a coordinate that is not negative, counted from zero.
fn size_of(coordinate: f64) -> u32 {
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: i64 = 1023;
    let bits = coordinate.to_bits();
    let octave = (bits >> MANTISSA_BITS) as i64 - BIAS - FIRST_EXPONENT + 1;
    if octave <= 0 {
        // The coordinates below the first octave are divided into equal steps.
        let steps = coordinate * ((1u64 << (OCTAVE_BITS as i64 - FIRST_EXPONENT)) as f64);
        return steps as u32;
    }
    let within = (bits & ((1 << MANTISSA_BITS) - 1)) >> (MANTISSA_BITS - OCTAVE_BITS);
    let octave = u64::try_from(octave).unwrap_or_default().min(1 << 10);
    u32::try_from((octave << OCTAVE_BITS) | within).unwrap_or(u32::MAX)
}

impl Window {
    /// Returns the window of a box around a geometry and everything between its points: on a plane
    /// the smallest one. `None` means that the geometry has no points. One with a coordinate that
    /// is no number has the window of the whole plane along that axis.
    pub fn around(geometry: &Geometry, surface: Surface) -> Option<Window> {
        let mut bounds = Bounds {
            least: [f64::INFINITY; 2],
            greatest: [f64::NEG_INFINITY; 2],
            is_around: false,
            has_areas: false,
        };
        match surface {
            Surface::Plane => geometry.visit_points(&mut |point: &Coordinates| bounds.add(*point)),
            Surface::Globe => {
                bounds.add_on_globe(geometry);
                bounds.widen();
            }
        }
        (!geometry.is_empty())
            .then(|| Window { least: bounds.least.map(whole), greatest: bounds.greatest.map(whole) })
    }

    /// Returns the numbers of the cells that cover the window, in order: at most two along each
    /// axis, of the greatest level at which so few do.
    pub fn cells(&self) -> Vec<u64> {
        let extent = |axis: usize| self.greatest[axis] - self.least[axis];
        let up = u32::BITS - extent(0).max(extent(1)).leading_zeros();
        assert!(up <= LEVELS, "a window is in the plane");
        let mut cells = Vec::with_capacity(4);
        for x in self.least[0] >> up..=self.greatest[0] >> up {
            for y in self.least[1] >> up..=self.greatest[1] >> up {
                cells.push(Cell { level: LEVELS - up, place: [x, y] }.number());
            }
        }
        assert!(!cells.is_empty() && cells.len() <= 4, "a window has one to four cells");
        cells.sort_unstable();
        cells
    }

    /// Returns ranges of numbers, both ends included and in order, that have a cell of each
    /// geometry whose window meets this one. `are_points` says that there are only points, whose
    /// cells are all of the last level.
    pub fn ranges(&self, are_points: bool) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        let mut edge = vec![Cell { level: 0, place: [0, 0] }];
        while !edge.is_empty() {
            let mut next = Vec::with_capacity(4 * edge.len());
            let is_last = edge.len() > MOST_AT_EDGE;
            for cell in edge {
                if is_last || cell.level == LEVELS || self.has(cell) {
                    ranges.push((cell.number(), cell.last_within()));
                    continue;
                }
                if !are_points {
                    // Greater geometries are at the cell itself.
                    ranges.push((cell.number(), cell.number()));
                }
                next.extend(cell.children().into_iter().filter(|child| self.meets(*child)));
            }
            edge = next;
        }
        ranges.sort_unstable();
        ranges.dedup_by(|later, earlier| {
            let touches = later.0 <= earlier.1.saturating_add(1);
            earlier.1 = if touches { earlier.1.max(later.1) } else { earlier.1 };
            touches
        });
        ranges
    }

    fn meets(&self, cell: Cell) -> bool {
        (0..2).all(|axis| {
            let (least, greatest) = cell.span(axis);
            least <= self.greatest[axis] && self.least[axis] <= greatest
        })
    }

    fn has(&self, cell: Cell) -> bool {
        (0..2).all(|axis| {
            let (least, greatest) = cell.span(axis);
            self.least[axis] <= least && greatest <= self.greatest[axis]
        })
    }
}

impl Cell {
    /// Returns the least and the greatest whole coordinate of the cell along an axis.
    fn span(self, axis: usize) -> (u32, u32) {
        let down = LEVELS - self.level;
        let least = self.place[axis] << down;
        (least, least + ((1 << down) - 1))
    }

    fn children(self) -> [Cell; 4] {
        let [x, y] = self.place.map(|place| place << 1);
        [[x, y], [x, y + 1], [x + 1, y], [x + 1, y + 1]].map(|place| Cell { level: self.level + 1, place })
    }

    /// Returns the way from the plane to the cell's first part of the last level, two bits a level.
    fn way(self) -> u64 {
        let down = LEVELS - self.level;
        interleaved(self.place[0] << down) << 1 | interleaved(self.place[1] << down)
    }

    fn number(self) -> u64 {
        self.way() << LEVEL_BITS | u64::from(self.level)
    }

    /// Returns the greatest number of a cell within this one.
    fn last_within(self) -> u64 {
        let parts = 1u64 << (2 * (LEVELS - self.level));
        (self.way() + (parts - 1)) << LEVEL_BITS | u64::from(LEVELS)
    }
}

/// Returns a number whose bits stand at the even places, in order.
fn interleaved(number: u32) -> u64 {
    const STEPS: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    STEPS.iter().fold(u64::from(number), |spread, (shift, mask)| (spread | spread << shift) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    fn window(points: &[Coordinates]) -> Window {
        let points = points.iter().map(|point| Geometry::Point(*point)).collect();
        let all = Geometry::several(crate::GeometryKind::MultiPoint, points).expect("there are points");
        Window::around(&all, Surface::Plane).expect("there are points")
    }

    fn coordinate(rng: &mut Rng) -> f64 {
        let part = rng.below(1 << 30) as f64 / f64::from(1 << 30) - 0.5;
        match rng.below(6) {
            0 => part,
            1 => part * 1e-6,
            2 => part * 1e9,
            3 => part * 1e300,
            4 => (part * 20.0).round(),
            _ => part * 360.0,
        }
    }

    #[test]
    fn whole_numbers_have_the_order_of_coordinates() {
        let mut rng = Rng::new(test_seed("whole_numbers_have_the_order_of_coordinates"));
        let mut all: Vec<f64> = (0..20_000).map(|_| coordinate(&mut rng)).collect();
        all.extend([0.0, -0.0, f64::MIN_POSITIVE, -5e-324, f64::MAX, f64::MIN, 1.0, 2.0, 0.000_976_562_5]);
        all.sort_by(f64::total_cmp);
        assert!(all.windows(2).all(|pair| whole(pair[0]) <= whole(pair[1])));
        assert!(all.iter().all(|coordinate| whole(*coordinate) < 1 << LEVELS));
        assert_eq!(whole(0.0), whole(-0.0));
        let close = [(13.37, 13.3701), (100.0, 100.0001), (-0.001, -0.0011), (4e6, 4e6 + 2.0)];
        assert!(close.iter().all(|(one, other)| whole(*one) != whole(*other)));
    }

    #[test]
    fn a_window_leads_to_whatever_meets_it() {
        let mut rng = Rng::new(test_seed("a_window_leads_to_whatever_meets_it"));
        for _ in 0..20_000 {
            let point = |rng: &mut Rng| [coordinate(rng), coordinate(rng)];
            let near = |rng: &mut Rng, [x, y]: Coordinates| {
                let size = coordinate(rng);
                [x + size * coordinate(rng).fract(), y + size * coordinate(rng).fract()]
            };
            let first = point(&mut rng);
            let second = near(&mut rng, first);
            let asked = window(&[first, second]);
            let third = if rng.one_in(2) { near(&mut rng, first) } else { point(&mut rng) };
            let is_point = rng.one_in(2);
            let fourth = if is_point { third } else { near(&mut rng, third) };
            let other = window(&[third, fourth]);
            let ranges = asked.ranges(is_point);
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
            assert!(ranges.len() < 150, "{} ranges", ranges.len());
            let is_led = other.cells().iter().any(|cell| ranges.iter().any(|(a, b)| a <= cell && cell <= b));
            let meets = (0..2).all(|axis| {
                asked.least[axis] <= other.greatest[axis] && other.least[axis] <= asked.greatest[axis]
            });
            assert!(is_led || !meets, "{asked:?} {other:?}");
        }
    }

    #[test]
    fn edges_on_the_globe_are_in_their_windows() {
        let mut rng = Rng::new(test_seed("edges_on_the_globe_are_in_their_windows"));
        let mut part = || rng.below(1 << 30) as f64 / f64::from(1 << 30);
        let direction = |[longitude, latitude]: Coordinates| {
            let [x, y] = [longitude.to_radians(), latitude.to_radians()];
            [y.cos() * x.cos(), y.cos() * x.sin(), y.sin()]
        };
        for _ in 0..20_000 {
            let size = 180.0 * part() * part();
            let from = [part() * 360.0 - 180.0, part() * 180.0 - 90.0];
            let longitude = from[0] + (part() - 0.5) * size;
            let to = [longitude - 360.0 * (longitude / 360.0).round(), (part() - 0.5) * 180.0];
            let line = Geometry::line(vec![from, to]).expect("two points");
            let window = Window::around(&line, Surface::Globe).expect("there are points");
            let along = part();
            let [one, other] = [from, to].map(direction);
            let [x, y, z] = [0, 1, 2].map(|axis| one[axis] * (1.0 - along) + other[axis] * along);
            let between = [y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees()].map(whole);
            let is_in = (0..2)
                .all(|axis| window.least[axis] <= between[axis] && between[axis] <= window.greatest[axis]);
            assert!(is_in, "{from:?} {to:?} {along}");
        }
        let boxed = |text: &str| {
            Window::around(&Geometry::from_wkt(text).expect("a geometry"), Surface::Globe).expect("points")
        };
        let small = boxed("LINESTRING(10 50,11 50)");
        assert!(small.greatest[1] > whole(50.001) && small.greatest[1] < whole(50.002), "{small:?}");
        let whole_globe = [whole(f64::NEG_INFINITY), whole(f64::INFINITY)];
        let polar = boxed("POLYGON((0 80,120 80,-120 80,0 80))");
        assert_eq!([polar.least[1], polar.greatest[1]], whole_globe);
        let across = boxed("LINESTRING(179 10,-179 10)");
        assert_eq!([across.least[0], across.greatest[0]], whole_globe);
        assert!(across.least[1] > whole(9.9));
    }

    #[test]
    fn few_others_are_led_to() {
        // A thousand points on a grid of degrees, of which a window wants four.
        let asked = window(&[[9.5, 9.5], [11.4, 11.4]]);
        let ranges = asked.ranges(true);
        let points = (0..32).flat_map(|x| (0..32).map(move |y| [f64::from(x), f64::from(y)]));
        let is_led = |point: &Coordinates| {
            let cells = window(&[*point]).cells();
            ranges.iter().any(|(a, b)| (*a..=*b).contains(&cells[0]))
        };
        let led = points.filter(is_led).count();
        assert!((4..12).contains(&led), "{led}");
    }
}
