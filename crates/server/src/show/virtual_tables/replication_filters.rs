//! The tables of performance_schema about replication filters.

use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::{number_column, text_column, time_column, time_value};
use replica::filter::ShownFilter;
use sql::ComputedTable;
use types::Value;

/// Returns the values that both tables show of a filter.
fn values(shown: &ShownFilter) -> Vec<Value> {
    vec![
        Value::text(shown.kind.name()),
        Value::text(&shown.rules),
        Value::text(shown.by.word()),
        time_value(shown.since_us),
    ]
}

fn columns() -> Vec<sql::ColumnMeta> {
    vec![
        text_column("FILTER_NAME", 64),
        text_column("FILTER_RULE", 65_535),
        text_column("CONFIGURED_BY", 64),
        time_column("ACTIVE_SINCE"),
    ]
}

pub fn global(host: &ConnectionHost) -> ComputedTable<'_> {
    let shown = || host.server().replica.global_filters().shown();
    ComputedTable::of_rows(columns(), move || shown().into_iter().map(|shown| values(&shown)))
}

pub fn of_channels(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all = vec![text_column("CHANNEL_NAME", 64)];
    all.extend(columns());
    all.push(number_column("COUNTER"));
    let row = |channel: &str, shown: &ShownFilter| {
        let mut row = vec![Value::text(channel)];
        row.extend(values(shown));
        row.push(Value::UInt(shown.uses));
        row
    };
    ComputedTable::new(all, move |rows| {
        for channel in host.server().replica.all() {
            let shown = channel.filters().shown();
            shown.iter().try_for_each(|shown| rows.put(row(channel.name(), shown)))?;
        }
        Ok(())
    })
}
