//! The smallest boxes of longitudes and latitudes around geometries on the ellipsoid. The edges of
//! geometries bulge towards the poles, and boxes may lie across the meridian of 180 degrees.

use super::geodesic::{FLATTENING, Way, longitude_in_range, longitudes_between};
use super::plane::{Flat, bits};
use super::rectangles::{Box, Span};
use types::geometry::{Coordinates, Geometry};

const POLE: f64 = 90.0;
/// The latitude at which a box ends that has a pole inside, so that the pole is not at its edge.
const BEYOND_POLE: f64 = 91.0;
const HALF_ROUND: f64 = 180.0;
const ROUND: f64 = 360.0;

/// Returns the latitude of the point of an edge that is nearest to a pole, if it is none of its
/// ends.
fn bulge(ends: [Coordinates; 2]) -> Option<f64> {
    // The last digits do not depend on the direction in which the edge is written.
    let [from, to] = if bits(ends[0]) > bits(ends[1]) { [ends[1], ends[0]] } else { ends };
    if from[1] == 0.0 && to[1] == 0.0 || from[0] == to[0] {
        return None;
    }
    let way = Way::between(from, to);
    let [start, end] = [way.start, way.end].map(|direction| direction.to_radians().cos());
    if start * end >= 0.0 {
        return None;
    }
    // The product of the sine of the direction and the cosine of the reduced latitude is the same
    // everywhere on a geodesic.
    let reduced = ((1.0 - FLATTENING) * from[1].to_radians().tan()).atan();
    let farthest = (way.start.to_radians().sin() * reduced.cos()).abs().min(1.0).acos();
    let latitude = (farthest.tan() / (1.0 - FLATTENING)).atan().to_degrees();
    Some(if start > 0.0 { latitude } else { -latitude })
}

/// Adds a path to the latitudes, and returns its longitudes, counted on beyond 180 degrees.
fn add_path(path: &[Coordinates], latitudes: &mut Span) -> Span {
    let mut longitude = path[0][0];
    let mut longitudes = Span { least: longitude, largest: longitude };
    latitudes.add(path[0][1]);
    for ends in path.windows(2) {
        longitude += longitudes_between(ends[0][0], ends[1][0]);
        // Turns of the globe are added to the digits of the corner itself.
        longitude = ends[1][0] + ROUND * ((longitude - ends[1][0]) / ROUND).round();
        longitudes.add(longitude);
        latitudes.add(ends[1][1]);
        if ends[0] != ends[1]
            && let Some(latitude) = bulge([ends[0], ends[1]])
        {
            latitudes.add(latitude);
        }
        if (ends[0][0] - ends[1][0]).abs() == HALF_ROUND {
            // The edge goes over a pole.
            latitudes.add(if ends[0][1] + ends[1][1] < 0.0 { -POLE } else { POLE });
        }
    }
    longitudes
}

/// Returns the smallest span around several ones on the globe.
fn around(mut spans: Vec<Span>) -> Span {
    for span in &mut spans {
        let least = longitude_in_range(span.least);
        let largest = if least == span.least { span.largest } else { span.largest + (least - span.least) };
        *span = Span { least, largest };
    }
    spans.sort_by(|one, other| one.least.total_cmp(&other.least));
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.least <= last.largest => last.largest = last.largest.max(span.largest),
            _ => joined.push(span),
        }
    }
    // What goes on beyond 180 degrees may reach the first ones again.
    let end = joined[joined.len() - 1].largest - ROUND;
    let reached = joined.iter().take_while(|span| span.least <= end).count();
    let last = joined.len() - 1;
    if reached > last {
        return Span { least: -HALF_ROUND, largest: HALF_ROUND };
    }
    let beyond =
        joined[..reached].iter().map(|span| span.largest + ROUND).fold(joined[last].largest, f64::max);
    joined[last].largest = beyond;
    joined.drain(..reached);
    // The box leaves out the largest gap, which may be the one across the meridian of 180 degrees.
    let last = joined.len() - 1;
    let gap_behind = |at: usize| match at == last {
        true => joined[0].least + ROUND - joined[last].largest,
        false => joined[at + 1].least - joined[at].largest,
    };
    let mut widest = last;
    for at in 0..last {
        if gap_behind(at) > gap_behind(widest) {
            widest = at;
        }
    }
    match widest == last {
        true => Span { least: joined[0].least, largest: joined[last].largest },
        false => Span { least: joined[widest + 1].least, largest: joined[widest].largest + ROUND },
    }
}

/// Returns the smallest box around a geometry on the ellipsoid. `None` means that the geometry has
/// no points.
pub(super) fn box_on_globe(geometry: &Geometry) -> Option<Box> {
    if geometry.is_empty() {
        return None;
    }
    let flat = Flat::of(geometry);
    let mut latitudes = Span::NOTHING;
    let mut spans = Vec::new();
    for [longitude, latitude] in &flat.points {
        latitudes.add(*latitude);
        spans.push(Span { least: *longitude, largest: *longitude });
    }
    for line in &flat.lines {
        spans.push(add_path(line, &mut latitudes));
    }
    for ring in flat.polygons.iter().map(|rings| &rings[0]) {
        let mut own = Span::NOTHING;
        let mut longitudes = add_path(ring, &mut own);
        let turn: f64 = ring.windows(2).map(|ends| longitudes_between(ends[0][0], ends[1][0])).sum();
        if turn.abs() > HALF_ROUND {
            // The ring goes round a pole, and the area is the part with the nearer one.
            own.add(if own.least + own.largest < 0.0 { -BEYOND_POLE } else { BEYOND_POLE });
            longitudes = Span { least: -HALF_ROUND, largest: HALF_ROUND };
        }
        latitudes.add(own.least);
        latitudes.add(own.largest);
        spans.push(longitudes);
    }
    let mut longitudes = around(spans);
    if longitudes.largest - longitudes.least >= ROUND {
        longitudes = Span { least: -HALF_ROUND, largest: HALF_ROUND };
    }
    Some(Box { sides: [longitudes, latitudes] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(text: &str) -> [[f64; 2]; 2] {
        let found = box_on_globe(&Geometry::from_wkt(text).expect("a geometry")).expect("points");
        found.sides.map(|span| [span.least, span.largest])
    }

    #[test]
    fn boxes_lie_across_the_meridian_of_180_degrees() {
        assert_eq!(sides("MULTIPOINT(170 1,-170 2,180 3)"), [[170.0, 190.0], [1.0, 3.0]]);
        assert_eq!(sides("MULTIPOINT(-100 0,100 0,0 0)"), [[-100.0, 100.0], [0.0, 0.0]]);
        assert_eq!(sides("LINESTRING(170 0,-170 0,-150 0)"), [[170.0, 210.0], [0.0, 0.0]]);
        assert_eq!(sides("LINESTRING(-150 0,170 0)"), [[170.0, 210.0], [0.0, 0.0]]);
        assert_eq!(sides("MULTILINESTRING((170 0,-170 0),(-175 1,-160 1))")[0], [170.0, 200.0]);
        let round = sides("POLYGON((0 80,120 81,-120 82,0 80))");
        assert_eq!(round[0], [-180.0, 180.0]);
        assert_eq!(round[1][1], BEYOND_POLE);
    }

    #[test]
    fn edges_bulge_towards_the_poles() {
        let [_, [least, largest]] = sides("LINESTRING(0 50,20 50)");
        assert!(least == 50.0 && (50.4..50.5).contains(&largest), "{largest}");
        let [_, [least, largest]] = sides("LINESTRING(0 -50,20 -50)");
        assert!(largest == -50.0 && (-50.5..-50.4).contains(&least), "{least}");
        assert_eq!(sides("LINESTRING(0 10,0 50,0 20)")[1], [10.0, 50.0]);
        assert_eq!(sides("LINESTRING(0 80,180 80)")[1], [80.0, 90.0]);
    }
}
