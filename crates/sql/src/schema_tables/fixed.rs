//! The tables of information_schema whose rows are the same on every server: keywords, units,
//! spatial reference systems, and the two groups of resources that MySQL has from the start.

use super::definition::Definition;
use crate::expr::functions::{SYSTEMS, UNITS};
use crate::parse::keywords_of_mysql;
use types::Value;

pub(super) const TABLES: &[Definition] = &[
    Definition {
        name: "KEYWORDS",
        fill: |_, rows| {
            let words = keywords_of_mysql().into_iter();
            rows.extend(words.map(|(word, reserved)| vec![text(word), Value::Int(i64::from(reserved))]))
        },
    },
    Definition {
        name: "ST_UNITS_OF_MEASURE",
        fill: |_, rows| {
            rows.extend(
                UNITS
                    .iter()
                    .map(|(name, metres)| vec![text(name), text("LINEAR"), Value::Double(*metres), text("")]),
            )
        },
    },
    Definition {
        name: "ST_SPATIAL_REFERENCE_SYSTEMS",
        fill: |_, rows| {
            rows.extend(SYSTEMS.iter().map(|system| {
                let id = Value::UInt(u64::from(system.srid));
                let (organization, id_there) = match system.srid {
                    0 => (Value::Null, Value::Null),
                    _ => (text("EPSG"), id.clone()),
                };
                vec![text(system.name), id, organization, id_there, text(system.definition), Value::Null]
            }))
        },
    },
    Definition {
        name: "RESOURCE_GROUPS",
        fill: |_, rows| {
            let last = os::thread::processors() - 1;
            let processors = if last == 0 { "0".to_owned() } else { format!("0-{last}") };
            rows.extend([("USR_default", "USER"), ("SYS_default", "SYSTEM")].map(|(name, kind)| {
                let processors = Value::Bytes(processors.clone().into_bytes());
                vec![text(name), text(kind), Value::Int(1), processors, Value::Int(0)]
            }))
        },
    },
];

fn text(text: &str) -> Value {
    Value::text(text)
}
