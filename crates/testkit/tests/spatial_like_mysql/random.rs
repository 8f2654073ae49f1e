//! Tests with random geometries that have small whole coordinates, so that they often meet.

use super::{are_near, both, shape};
use os::random::{Rng, test_seed_or};
use protocol::client::{Client, ClientError};

/// The numbers of geometries and of pairs in a run.
const GEOMETRIES: usize = 300;
const PAIRS: usize = 250;
/// All coordinates are below this number.
const SIZE: u64 = 7;

const OF_ONE: [&str; 5] = ["st_isvalid", "st_dimension", "st_length", "st_area", "st_astext(st_envelope"];
const DISTANCES: [&str; 3] = ["st_distance", "st_hausdorffdistance", "st_frechetdistance"];
/// The refusal that docs/geometries.md describes, for collections of several dimensions.
const REFUSED_HERE: &str =
    "1235 This version of MySQL doesn't yet support 'relations of collections of several dimensions'";
const RELATIONS: [&str; 8] = [
    "st_contains",
    "st_within",
    "st_intersects",
    "st_disjoint",
    "st_equals",
    "st_touches",
    "st_crosses",
    "st_overlaps",
];
const OF_BOXES: [&str; 9] = [
    "mbrcontains",
    "mbrwithin",
    "mbrcovers",
    "mbrcoveredby",
    "mbrintersects",
    "mbrdisjoint",
    "mbrequals",
    "mbrtouches",
    "mbroverlaps",
];
const SHAPES: [&str; 4] = ["st_union", "st_intersection", "st_difference", "st_symdifference"];

struct Maker {
    rng: Rng,
    /// The lattice that all points are on.
    lattice: Lattice,
}

/// Points whose coordinates are a multiple of a step away from an origin.
#[derive(Clone, Copy)]
struct Lattice {
    origin: [f64; 2],
    step: f64,
}

/// Whole coordinates.
const PLANE: Lattice = Lattice { origin: [0.0; 2], step: 1.0 };

impl Lattice {
    fn at(self, x: u64, y: u64) -> String {
        let [x, y] = [x as f64 * self.step + self.origin[0], y as f64 * self.step + self.origin[1]];
        // The second one may be a longitude.
        let y = if y > 180.0 { y - 360.0 } else { y };
        let text = |number: f64| (number * 1e6).round() / 1e6;
        format!("{} {}", text(x), text(y))
    }
}

impl Maker {
    fn below(&mut self, end: u64) -> u64 {
        self.rng.below(end)
    }

    fn list(&mut self, least: u64, most: u64, mut make: impl FnMut(&mut Maker) -> String) -> String {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect::<Vec<_>>().join(",")
    }

    fn point(&mut self) -> String {
        let (x, y) = (self.below(SIZE), self.below(SIZE));
        self.lattice.at(x, y)
    }

    fn line(&mut self) -> String {
        format!("({})", self.list(2, 4, Maker::point))
    }

    fn ring(&mut self) -> String {
        let first = self.point();
        let others = self.list(2, 4, Maker::point);
        format!("({first},{others},{first})")
    }

    fn rectangle(&mut self) -> String {
        let [left, low] = [self.below(5), self.below(5)];
        let [right, high] = [left + 1 + self.below(3), low + 1 + self.below(3)];
        self.rectangle_of([left, low], [right, high])
    }

    fn rectangle_of(&self, [left, low]: [u64; 2], [right, high]: [u64; 2]) -> String {
        let corners = [(left, low), (right, low), (right, high), (left, high), (left, low)];
        let points: Vec<String> = corners.into_iter().map(|(x, y)| self.lattice.at(x, y)).collect();
        format!("({})", points.join(","))
    }

    fn polygon(&mut self) -> String {
        match self.below(4) {
            0 => format!("({},{})", self.rectangle_of([0, 0], [6, 6]), self.ring()),
            1 => format!("({})", self.rectangle()),
            _ => format!("({})", self.ring()),
        }
    }

    fn geometry(&mut self, in_collection: bool) -> String {
        match self.below(if in_collection { 8 } else { 10 }) {
            0 => format!("point({})", self.point()),
            1 => format!("multipoint({})", self.list(1, 3, Maker::point)),
            2 | 3 => format!("linestring{}", self.line()),
            4 => format!("multilinestring({})", self.list(1, 3, Maker::line)),
            5 | 6 => format!("polygon{}", self.polygon()),
            7 => format!("multipolygon({})", self.list(1, 2, Maker::polygon)),
            _ => format!("geometrycollection({})", self.list(0, 2, |maker| maker.geometry(true))),
        }
    }
}

/// Returns the value of a call as text, or its error.
fn value(client: &mut Client, call: &str) -> String {
    match client.query(&format!("SELECT {call}")) {
        Ok(result) => match &result.rows[0][0] {
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            None => "NULL".to_owned(),
        },
        Err(ClientError::Server(error)) => format!("{} {}", error.code, error.message),
        Err(error) => panic!("{call}: {error}"),
    }
}

#[test]
fn random_geometries_are_related_as_by_mysql() {
    let test = "random_geometries_are_related_as_by_mysql";
    let mut maker = Maker { rng: Rng::new(test_seed_or(test, 7)), lattice: PLANE };
    let Some(servers) = both(test) else { return };
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    let mut ask = |call: &str, is_shape: bool| {
        let [ours, theirs] = clients.each_mut().map(|client| value(client, call));
        let is_same = are_near(&ours, &theirs, 1e-9)
            || is_shape && shape::are_same(&ours, &theirs)
            || ours == REFUSED_HERE && call.contains("geometrycollection");
        if !is_same {
            wrong.push(format!("{call}\n  here:  {ours}\n  MySQL: {theirs}"));
        }
        ours
    };
    let mut valid = Vec::new();
    for _ in 0..GEOMETRIES {
        let geometry = format!("st_geomfromtext('{}')", maker.geometry(false));
        for function in OF_ONE {
            let close = if function.contains('(') { "))" } else { ")" };
            let said = ask(&format!("{function}({geometry}{close}"), false);
            if function == "st_isvalid" && said == "1" {
                valid.push(geometry.clone());
            }
        }
    }
    for geometry in &valid {
        ask(&format!("st_issimple({geometry})"), false);
        ask(&format!("st_astext(st_convexhull({geometry}))"), true);
        ask(&format!("st_astext(st_simplify({geometry},1))"), true);
        ask(&format!("st_astext(st_centroid({geometry}))"), true);
    }
    for _ in 0..PAIRS {
        let mut one = || valid[maker.below(valid.len() as u64) as usize].clone();
        let pair = format!("({},{})", one(), one());
        for function in RELATIONS.into_iter().chain(OF_BOXES).chain(DISTANCES) {
            ask(&format!("{function}{pair}"), false);
        }
        for function in SHAPES {
            ask(&format!("st_astext({function}{pair})"), true);
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Reports whether two distances are those of one formula of the first order of the flattening, or
/// of an exact one.
fn are_near_distances(ours: &str, theirs: &str, step: f64) -> bool {
    const METRES_OF_DEGREE: f64 = 111_000.0;
    let numbers = ours.parse::<f64>().ok().zip(theirs.parse::<f64>().ok());
    numbers
        .is_some_and(|(ours, theirs)| (ours - theirs).abs() <= 1e-4 * ours + 1e-4 * step * METRES_OF_DEGREE)
}

#[test]
fn random_geometries_on_the_ellipsoid_are_related_as_by_mysql() {
    // A county, the meridian of 180 degrees in the south, the far north, and half of a continent.
    const LATTICES: [Lattice; 4] = [
        Lattice { origin: [50.0, 10.0], step: 0.1 },
        Lattice { origin: [-33.5, 178.5], step: 0.5 },
        Lattice { origin: [60.0, -3.0], step: 2.0 },
        Lattice { origin: [10.0, -40.0], step: 10.0 },
    ];
    let test = "random_geometries_on_the_ellipsoid_are_related_as_by_mysql";
    let mut maker = Maker { rng: Rng::new(test_seed_or(test, 7)), lattice: PLANE };
    let Some(servers) = both(test) else { return };
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    let mut ask = |call: &str, is_same: &dyn Fn(&str, &str) -> bool| {
        let [ours, theirs] = clients.each_mut().map(|client| value(client, call));
        let is_refused = ours == REFUSED_HERE && call.contains("geometrycollection");
        if ours != theirs && !is_refused && !is_same(&ours, &theirs) {
            wrong.push(format!("{call}\n  here:  {ours}\n  MySQL: {theirs}"));
        }
        theirs
    };
    for lattice in LATTICES {
        maker.lattice = lattice;
        // MySQL's large boxes, and those across the meridian of 180 degrees, have other last digits
        // than its points.
        let has_boxes = lattice.origin[1] < 100.0 && lattice.step < 5.0;
        let mut valid = Vec::new();
        for _ in 0..100 {
            let geometry = format!("st_geomfromtext('{}',4326)", maker.geometry(false));
            if ask(&format!("st_isvalid({geometry})"), &|_, _| false) == "1" {
                ask(&format!("st_issimple({geometry})"), &|_, _| false);
                valid.push(geometry);
            }
        }
        for _ in 0..60 {
            let mut one = || valid[maker.below(valid.len() as u64) as usize].clone();
            let pair = format!("({},{})", one(), one());
            for function in RELATIONS.into_iter().chain(OF_BOXES.into_iter().filter(|_| has_boxes)) {
                ask(&format!("{function}{pair}"), &|_, _| false);
            }
            let near = |ours: &str, theirs: &str| are_near_distances(ours, theirs, lattice.step);
            ask(&format!("st_distance{pair}"), &near);
            if lattice.step < 0.5 {
                let near = |ours: &str, theirs: &str| shape::are_same_within(ours, theirs, 1e-5);
                for function in SHAPES {
                    ask(&format!("st_astext({function}{pair})"), &near);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns a shape with random corners around a center, at most `size` degrees from it along each
/// axis.
fn shape_around(rng: &mut Rng, center: [f64; 2], size: f64) -> String {
    let mut corner = || {
        let mut aside = || (rng.below(20_001) as f64 - 10_000.0) / 10_000.0 * size;
        let [latitude, longitude] = center.map(|number| number + aside());
        let longitude = longitude - 360.0 * (longitude / 360.0).round();
        format!("{:.5} {longitude:.5}", latitude.clamp(-89.0, 89.0))
    };
    let corners: Vec<String> = (0..3).map(|_| corner()).collect();
    let first = corners[0].clone();
    match rng.below(4) {
        0 => format!("point({first})"),
        1 => format!("multipoint({})", corners.join(",")),
        2 => format!("linestring({})", corners.join(",")),
        _ => format!("polygon(({},{first}))", corners.join(",")),
    }
}

#[test]
fn shapes_of_all_sizes_are_related_as_by_mysql() {
    let test = "shapes_of_all_sizes_are_related_as_by_mysql";
    let mut rng = Rng::new(test_seed_or(test, 77));
    let Some(servers) = both(test) else { return };
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    for _ in 0..150 {
        let center = [rng.below(170) as f64 - 85.0, rng.below(360) as f64 - 180.0];
        let size = [0.01, 0.1, 1.0, 5.0, 20.0, 40.0][rng.below(6) as usize];
        let mut one = || format!("st_geomfromtext('{}',4326)", shape_around(&mut rng, center, size));
        let pair = format!("({},{})", one(), one());
        // MySQL does not see all overlaps of boxes across the meridian of 180 degrees.
        let of_boxes = OF_BOXES.into_iter().filter(|function| *function != "mbroverlaps");
        for function in RELATIONS.into_iter().chain(of_boxes) {
            let call = format!("{function}{pair}");
            let [ours, theirs] = clients.each_mut().map(|client| value(client, &call));
            if ours != theirs {
                wrong.push(format!("{call}\n  here:  {ours}\n  MySQL: {theirs}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
