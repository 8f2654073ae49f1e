//! Functions on geometries. They know three spatial reference systems: the plane (0), Web Mercator
//! (3857) and WGS 84 (4326), whose first axis is the latitude. Computations in the plane use the
//! `geo` library. Geometries on the ellipsoid are put on a plane for them (`chart`); functions that
//! MySQL does not have for the ellipsoid are refused with error 3618.

mod along;
mod areas;
mod argument;
mod boxes;
mod buffer;
mod caps;
mod chart;
mod crossings;
mod documents;
mod ellipsoid;
mod geodesic;
mod geohash;
mod geojson;
mod globe;
mod globe_boxes;
mod gnomonic;
mod hull;
mod line_pairs;
mod lines;
mod make;
mod measure;
mod nearest;
mod overlay;
mod parts;
mod plane;
mod rectangles;
mod relate;
mod rounding;
mod shared;
mod show;
mod systems;
mod transform;
mod units;
mod valid;

pub(crate) use documents::document_of;
pub(crate) use systems::SYSTEMS;
pub(crate) use units::UNITS;

use super::Function;

/// All tables of functions on geometries.
pub(super) const TABLES: [&[Function]; 14] = [
    make::FUNCTIONS,
    show::FUNCTIONS,
    parts::FUNCTIONS,
    measure::FUNCTIONS,
    boxes::FUNCTIONS,
    relate::FUNCTIONS,
    valid::FUNCTIONS,
    overlay::FUNCTIONS,
    hull::FUNCTIONS,
    buffer::FUNCTIONS,
    along::FUNCTIONS,
    geohash::FUNCTIONS,
    geojson::FUNCTIONS,
    transform::FUNCTIONS,
];

/// Returns the name in the tables of a function that is known by another name.
pub(super) fn canonical_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "st_geometryfromtext" => "st_geomfromtext",
        "st_linestringfromtext" => "st_linefromtext",
        "st_polygonfromtext" => "st_polyfromtext",
        "st_multipointfromtext" => "st_mpointfromtext",
        "st_multilinestringfromtext" => "st_mlinefromtext",
        "st_multipolygonfromtext" => "st_mpolyfromtext",
        "st_geometrycollectionfromtext" | "st_geomcollfromtxt" => "st_geomcollfromtext",
        "st_geometryfromwkb" => "st_geomfromwkb",
        "st_linestringfromwkb" => "st_linefromwkb",
        "st_polygonfromwkb" => "st_polyfromwkb",
        "st_multipointfromwkb" => "st_mpointfromwkb",
        "st_multilinestringfromwkb" => "st_mlinefromwkb",
        "st_multipolygonfromwkb" => "st_mpolyfromwkb",
        "st_geometrycollectionfromwkb" => "st_geomcollfromwkb",
        "st_numinteriorrings" => "st_numinteriorring",
        "st_aswkt" => "st_astext",
        "st_aswkb" => "st_asbinary",
        "geometrycollection" => "geomcollection",
        _ => return None,
    })
}
