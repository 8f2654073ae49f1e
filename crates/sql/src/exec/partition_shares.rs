//! How the rows of a table are spread over its partitions, estimated from the rows that are kept
//! with the table's statistics.

use super::compiled::compile;
use crate::bind::{Binder, Scope, ScopeTable};
use crate::ddl::chosen_condition;
use crate::expr::{Context, truth};
use engine::{Table, TableStatistics};

/// Returns the share of the rows that each partition has, in their order; a partition with
/// subpartitions has the shares of these in its place. `None` means that nothing is known: the
/// table has no partitions, or there is no way here to tell which rows a partition has.
pub(super) fn of_table(table: &Table, ctx: &Context<'_>) -> Option<Vec<f64>> {
    let partitions = &table.def.partitioning.as_ref()?.partitions;
    let names = partitions.iter().flat_map(|partition| match &partition.subpartitions[..] {
        [] => vec![&partition.name],
        parts => parts.iter().map(|part| &part.name).collect(),
    });
    let mut binder = Binder::new(ctx.engine, ctx.host, ctx.variables, None, None);
    let scope = Scope::of(ScopeTable::defined(&table.def));
    let compiled = names.map(|name| {
        let text = chosen_condition(&table.def, std::slice::from_ref(name)).ok()?;
        compile(&mut binder, &scope, &text, "the table's partitions").ok()
    });
    let conditions: Vec<_> = compiled.collect::<Option<_>>()?;
    let statistics = TableStatistics::of(table).ok()?;
    let kept = &statistics.kept_rows;
    let mut counts = vec![0_u64; conditions.len()];
    for image in kept {
        ctx.forget_made();
        let values = table.layout.decode_all(image).ok()?;
        for (count, condition) in counts.iter_mut().zip(&conditions) {
            let value = condition.eval(&values, ctx).ok()?;
            *count += u64::from(truth(&value, ctx) == Some(true));
        }
    }
    Some(counts.into_iter().map(|count| count as f64 / kept.len().max(1) as f64).collect())
}
