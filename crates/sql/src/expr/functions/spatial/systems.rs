//! The spatial reference systems that functions know. Their definitions are those of the EPSG data
//! set, as MySQL writes them.

use super::argument::{PLANE, WEB_MERCATOR, WGS_84};

/// A spatial reference system.
pub(crate) struct SpatialReferenceSystem {
    pub(crate) srid: u32,
    pub(crate) name: &'static str,
    /// The definition as well-known text.
    pub(crate) definition: &'static str,
}

pub(crate) const SYSTEMS: [SpatialReferenceSystem; 3] = [
    SpatialReferenceSystem { srid: PLANE, name: "", definition: "" },
    SpatialReferenceSystem {
        srid: WEB_MERCATOR,
        name: "WGS 84 / Pseudo-Mercator",
        definition: include_str!("web_mercator.wkt"),
    },
    SpatialReferenceSystem { srid: WGS_84, name: "WGS 84", definition: include_str!("wgs_84.wkt") },
];
