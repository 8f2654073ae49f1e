//! ST_ASGEOJSON() and ST_GEOMFROMGEOJSON(), which convert geometries to GeoJSON documents and back.

use super::super::json::{document, made};
use super::super::{Call, Coercibility, Function};
use super::argument::{
    ANY, WGS_84, geometry, is_geographic, is_text, result, srid_argument, stored, turned_in, wrong_type,
    wrong_value,
};
use super::documents::{SystemName, TYPE_NAMES, Writer};
use crate::error::{Result, SqlError};
use types::geometry::{Coordinates, Geometry};
use types::json::Node;
use types::{ColumnType, GeometryKind, TypeCode, Value};

/// The options of ST_AsGeoJSON(), which are bits of a number.
const WITH_BOX: i64 = 1;
const WITH_SHORT_SYSTEM: i64 = 2;
const WITH_LONG_SYSTEM: i64 = 4;
const MOST_OPTIONS: i64 = 7;
/// The most levels of a document.
const MOST_DEPTH: usize = 64;

fn as_document(call: &Call<'_>) -> Result<Value> {
    let is_bytes = matches!(&*call.values[0], Value::Bytes(_));
    if !is_bytes || (call.args[0].ty.code != TypeCode::Geometry && !call.is_binary(0)) {
        return Err(wrong_type(call.name, "geometry"));
    }
    let (srid, found) = stored(call, 0)?;
    is_geographic(call, srid)?;
    let mut writer = Writer { decimals: u32::MAX, has_box: false, system: SystemName::None };
    if call.is_given(1) {
        let wrong = || wrong_value(call.name, "max decimal digits", &call.string(1));
        writer.decimals = u32::try_from(call.integer(1)).map_err(|_| wrong())?;
    }
    let options = if call.is_given(2) { call.integer(2) } else { 0 };
    if !(0..=MOST_OPTIONS).contains(&options) {
        return Err(wrong_value(call.name, "options", &call.string(2)));
    }
    writer.has_box = options & WITH_BOX != 0;
    writer.system = match options & (WITH_SHORT_SYSTEM | WITH_LONG_SYSTEM) {
        0 => SystemName::None,
        WITH_SHORT_SYSTEM => SystemName::Short,
        _ => SystemName::Long,
    };
    made(&writer.document(srid, &found), call.ctx)
}

/// A reader of GeoJSON documents.
struct Reader<'c> {
    call: &'c Call<'c>,
    /// Whether more than two coordinates are an error. Otherwise the others are ignored.
    is_strict: bool,
}

impl Reader<'_> {
    /// Builds error 3072: the document is no valid GeoJSON.
    fn wrong(&self) -> SqlError {
        SqlError::new(3072, format!("Invalid GeoJSON data provided to function {}", self.call.name))
    }

    /// Builds error 3071: a member is not of the type `wanted`.
    fn wrong_member(&self, name: &str, wanted: &str) -> SqlError {
        let text = format!(
            "Invalid GeoJSON data provided to function {}: Member '{name}' must be of type '{wanted}'",
            self.call.name
        );
        SqlError::new(3071, text)
    }

    /// Returns a member that has to be there.
    ///
    /// # Errors
    /// Returns 3070 where it is missing.
    fn member<'n>(&self, object: &'n Node, name: &str) -> Result<&'n Node> {
        object.member(name.as_bytes()).ok_or_else(|| {
            let text = format!(
                "Invalid GeoJSON data provided to function {}: Missing required member '{name}'",
                self.call.name
            );
            SqlError::new(3070, text)
        })
    }

    fn array<'n>(&self, object: &'n Node, name: &str) -> Result<&'n [Node]> {
        match self.member(object, name)? {
            Node::Array(elements) => Ok(elements),
            _ => Err(self.wrong_member(name, "array")),
        }
    }

    /// Returns the geometry of a document. `None` means that the document is null.
    fn geometry(&self, node: &Node, depth: usize) -> Result<Option<Geometry>> {
        match node {
            Node::Null => return Ok(None),
            Node::Object(_) => {}
            _ => return Err(self.wrong()),
        }
        let depth = depth.checked_sub(1).ok_or_else(|| self.wrong())?;
        let Node::String(name) = self.member(node, "type")? else {
            return Err(self.wrong_member("type", "string"));
        };
        if name.eq_ignore_ascii_case(b"Feature") {
            let geometry = self.member(node, "geometry")?;
            if !matches!(self.member(node, "properties")?, Node::Object(_) | Node::Null) {
                return Err(self.wrong_member("properties", "object"));
            }
            return self.geometry(geometry, depth);
        }
        if name.eq_ignore_ascii_case(b"FeatureCollection") {
            return self.collection(self.array(node, "features")?, depth).map(Some);
        }
        let named = TYPE_NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        let (_, kind) = named.ok_or_else(|| self.wrong())?;
        if *kind == GeometryKind::Collection {
            return self.collection(self.array(node, "geometries")?, depth).map(Some);
        }
        self.of_kind(*kind, self.array(node, "coordinates")?).map(Some)
    }

    fn collection(&self, parts: &[Node], depth: usize) -> Result<Geometry> {
        let mut found = Vec::with_capacity(parts.len());
        for part in parts {
            found.extend(self.geometry(part, depth)?);
        }
        Ok(Geometry::Several(GeometryKind::Collection, found))
    }

    fn of_kind(&self, kind: GeometryKind, coordinates: &[Node]) -> Result<Geometry> {
        let geometry = match kind {
            GeometryKind::Point => Some(Geometry::Point(self.point(coordinates)?)),
            GeometryKind::LineString => Geometry::line(self.points(coordinates)?),
            GeometryKind::Polygon => {
                let rings = coordinates.iter().map(|ring| self.points(self.list(ring)?));
                Geometry::polygon(rings.collect::<Result<_>>()?)
            }
            _ => {
                let of_part = match kind {
                    GeometryKind::MultiPoint => GeometryKind::Point,
                    GeometryKind::MultiLineString => GeometryKind::LineString,
                    _ => GeometryKind::Polygon,
                };
                let parts = coordinates.iter().map(|part| self.of_kind(of_part, self.list(part)?));
                Geometry::several(kind, parts.collect::<Result<_>>()?)
            }
        };
        geometry.ok_or_else(|| self.wrong())
    }

    fn list<'n>(&self, node: &'n Node) -> Result<&'n [Node]> {
        match node {
            Node::Array(elements) => Ok(elements),
            _ => Err(self.wrong()),
        }
    }

    fn points(&self, coordinates: &[Node]) -> Result<Vec<Coordinates>> {
        coordinates.iter().map(|point| self.point(self.list(point)?)).collect()
    }

    fn point(&self, coordinates: &[Node]) -> Result<Coordinates> {
        let number = |node: &Node| match node {
            Node::Int(number) => Ok(*number as f64),
            Node::UInt(number) => Ok(*number as f64),
            Node::Double(number) => Ok(*number),
            _ => Err(self.wrong_member("array coordinate", "number")),
        };
        let numbers = coordinates.iter().map(number).collect::<Result<Vec<f64>>>()?;
        if numbers.len() > 2 && self.is_strict {
            let text = format!(
                "Unsupported number of coordinate dimensions in function {}: Found {}, expected 2",
                self.call.name,
                numbers.len()
            );
            return Err(SqlError::new(3073, text));
        }
        match numbers[..] {
            [x, y, ..] => Ok([x, y]),
            _ => Err(self.wrong()),
        }
    }

    /// Returns the SRID that a document names, if it does.
    fn system(&self, document: &Node) -> Result<Option<u32>> {
        let system = match document.member(b"crs") {
            None | Some(Node::Null) => return Ok(None),
            Some(system @ Node::Object(_)) => system,
            Some(_) => return Err(self.wrong_member("crs", "object")),
        };
        let kind = self.member(system, "type")?;
        let properties = self.member(system, "properties")?;
        let Node::String(kind) = kind else { return Err(self.wrong_member("type", "string")) };
        if !kind.eq_ignore_ascii_case(b"name") {
            return Err(self.wrong());
        }
        let Node::String(name) = self.member(properties, "name")? else {
            return Err(self.wrong_member("name", "string"));
        };
        let name = String::from_utf8_lossy(name);
        if name == "urn:ogc:def:crs:OGC:1.3:CRS84" {
            return Ok(Some(WGS_84));
        }
        let number = name.strip_prefix("EPSG:").or_else(|| name.strip_prefix("urn:ogc:def:crs:EPSG::"));
        let number = number.and_then(|number| number.parse().ok());
        number.map(Some).ok_or_else(|| self.wrong())
    }
}

fn from_document(call: &Call<'_>) -> Result<Value> {
    if call.args[0].ty.code != TypeCode::Json && !is_text(call, 0) {
        return Err(wrong_type(call.name, "geojson"));
    }
    let options = if call.is_given(1) { call.integer(1) } else { 1 };
    if !(1..=4).contains(&options) {
        return Err(wrong_value(call.name, "option", &call.string(1)));
    }
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let reader = Reader { call, is_strict: options == 1 };
    let named = if matches!(*node, Node::Object(_)) { reader.system(&node)? } else { None };
    let srid = if call.is_given(2) { srid_argument(call, 2)? } else { named.unwrap_or(WGS_84) };
    let Some(mut found) = reader.geometry(&node, MOST_DEPTH)? else { return Ok(Value::Null) };
    // In GeoJSON the longitude comes first, whatever the order of the system's axes is.
    if is_geographic(call, srid)? {
        found.for_each_point(&mut |point: &mut Coordinates| point.swap(0, 1));
        turned_in(call, srid, &mut found)?;
    }
    result(call, srid, &found)
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("st_asgeojson", 1..=3, |_| Ok((ColumnType::json(), Coercibility::Implicit)), as_document),
    Function::new("st_geomfromgeojson", 1..=3, geometry::<ANY>, from_document),
];
