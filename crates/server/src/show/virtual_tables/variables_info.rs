//! `performance_schema.variables_info`: where the values of variables come from.
//!
//! As in MySQL, it shows how a variable was last set, whether a statement has set the global value
//! or some session's own. A SET SESSION counts from when it was allowed, also where its value was
//! refused afterwards.

use super::cells::{Cells, table, text, text_of, time};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::time_column;
use crate::variables::{self, Definition, Kind, Origin};
use sql::ComputedTable;
use types::Value;

fn row(name: &str, definition: &Definition, origin: Option<&Origin>) -> Cells {
    let (least, greatest) = match definition.kind {
        Kind::Int(least, greatest) => (least.to_string(), greatest.to_string()),
        Kind::UInt(least, greatest) => (least.to_string(), greatest.to_string()),
        // MySQL has no bounds for the others, and shows the bits of numbers with fractions.
        Kind::Bool | Kind::Double(..) | Kind::Enum(_) | Kind::Collation(_) | Kind::Text => {
            ("0".into(), "0".into())
        }
    };
    let set = origin.and_then(|origin| origin.set.as_ref());
    vec![
        text("VARIABLE_NAME", name),
        text("VARIABLE_SOURCE", origin.map_or("COMPILED", |origin| origin.source)),
        text("VARIABLE_PATH", origin.map_or("", |origin| &origin.path)),
        text("MIN_VALUE", &least),
        text("MAX_VALUE", &greatest),
        set.map_or((time_column("SET_TIME"), Value::Null), |(at_us, _)| time("SET_TIME", *at_us)),
        text_of("SET_USER", set.map(|(_, (user, _))| user.as_str())),
        text_of("SET_HOST", set.map(|(_, (_, host))| host.as_str())),
    ]
}

/// Returns the table.
pub fn variables_info(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all: Vec<_> =
        variables::all().map(|id| (id.definition().name, id)).chain(variables::aliases()).collect();
    all.sort_by_key(|(name, _)| *name);
    let sample = all.first().map(|(name, id)| row(name, id.definition(), None)).unwrap_or_default();
    table(sample, move || {
        let globals = &host.server().globals;
        let rows = all.into_iter().map(|(name, id)| row(name, id.definition(), globals.origin(id).as_ref()));
        rows.collect::<Vec<_>>()
    })
}
