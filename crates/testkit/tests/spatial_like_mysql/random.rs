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
const OF_TWO: [&str; 20] = [
    "st_contains",
    "st_within",
    "st_intersects",
    "st_disjoint",
    "st_equals",
    "st_touches",
    "st_crosses",
    "st_overlaps",
    "st_distance",
    "st_hausdorffdistance",
    "st_frechetdistance",
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
/// The refusal that docs/geometries.md describes, for collections of several dimensions.
const REFUSED_HERE: &str =
    "1235 This version of MySQL doesn't yet support 'relations of collections of several dimensions'";
const SHAPES: [&str; 4] = ["st_union", "st_intersection", "st_difference", "st_symdifference"];

struct Maker {
    rng: Rng,
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
        format!("{} {}", self.below(SIZE), self.below(SIZE))
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
        format!("({left} {low},{right} {low},{right} {high},{left} {high},{left} {low})")
    }

    fn polygon(&mut self) -> String {
        match self.below(4) {
            0 => format!("((0 0,6 0,6 6,0 6,0 0),{})", self.ring()),
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
    let mut maker = Maker { rng: Rng::new(test_seed_or(test, 7)) };
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
        for function in OF_TWO {
            ask(&format!("{function}{pair}"), false);
        }
        for function in SHAPES {
            ask(&format!("st_astext({function}{pair})"), true);
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
