//! `mysql.innodb_table_stats` and `innodb_index_stats`: what the optimizer knows of the tables.
//!
//! MySQL keeps these figures in stored tables, whose rows a DBA may change. Here the figures are
//! those of [`TableStatistics`], which the engine keeps in memory and finds out anew as tables
//! change, so that the two tables are computed when they are read.

use super::cells::{Cells, columns, number, text, time, values};
use crate::client::connection_host::ConnectionHost;
use engine::{IndexRef, Table, TableStatistics};
use sql::ComputedTable;
use std::sync::Arc;

/// `mysql.innodb_table_stats`: a row for each table.
pub fn tables(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(row_of_table("", "", &TableFigures::default())), move |rows| {
        for table in host.server().engine.catalog().all_tables() {
            // Nothing is known of a table with a damaged page.
            if let Ok(known) = TableStatistics::of(&table) {
                let figures = TableFigures::of(&table, &known);
                rows.put(values(row_of_table(&table.def.schema, &table.def.name, &figures)))?;
            }
        }
        Ok(())
    })
}

/// A moment without its fraction of a second, which MySQL's columns do not have.
fn to_seconds(at_us: u64) -> u64 {
    at_us / 1_000_000 * 1_000_000
}

/// What `innodb_table_stats` says of one table.
#[derive(Default)]
struct TableFigures {
    at_us: u64,
    rows: u64,
    clustered_pages: u64,
    other_pages: u64,
}

impl TableFigures {
    fn of(table: &Table, known: &TableStatistics) -> TableFigures {
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        TableFigures {
            at_us: known.at_us,
            rows: known.rows,
            clustered_pages: known.pages(IndexRef::Primary).all(),
            other_pages: secondary.map(|index| known.pages(index).all()).sum(),
        }
    }
}

fn row_of_table(schema: &str, name: &str, figures: &TableFigures) -> Cells {
    vec![
        text("database_name", schema),
        text("table_name", name),
        time("last_update", to_seconds(figures.at_us)),
        number("n_rows", figures.rows),
        number("clustered_index_size", figures.clustered_pages),
        number("sum_of_other_index_sizes", figures.other_pages),
    ]
}

/// `mysql.innodb_index_stats`: for each index the number of different values of its first columns,
/// of its leaves and of its pages, a row each.
pub fn indexes(host: &ConnectionHost) -> ComputedTable<'_> {
    let sample = Figure { name: String::new(), value: 0, sampled: None, description: String::new() };
    ComputedTable::new(columns(row_of_figure(["", "", ""], 0, &sample)), move |rows| {
        for table in host.server().engine.catalog().all_tables() {
            let Ok(known) = TableStatistics::of(&table) else { continue };
            for (name, index) in indexes_of(&table) {
                let place = [table.def.schema.as_str(), &table.def.name, name];
                for figure in figures_of(&table, index, &known) {
                    rows.put(values(row_of_figure(place, known.at_us, &figure)))?;
                }
            }
        }
        Ok(())
    })
}

/// One figure of an index, as a row of `innodb_index_stats` has it.
struct Figure {
    name: String,
    value: u64,
    /// How many leaves were looked at; `None` for figures that are not sampled.
    sampled: Option<u64>,
    description: String,
}

fn row_of_figure([schema, table, index]: [&str; 3], at_us: u64, figure: &Figure) -> Cells {
    let mut sampled = number("sample_size", figure.sampled.unwrap_or(0));
    if figure.sampled.is_none() {
        sampled.1 = types::Value::Null;
    }
    vec![
        text("database_name", schema),
        text("table_name", table),
        text("index_name", index),
        time("last_update", to_seconds(at_us)),
        text("stat_name", &figure.name),
        number("stat_value", figure.value),
        sampled,
        text("stat_description", &figure.description),
    ]
}

/// The names of a table's indexes, sorted as the table's primary key sorts them.
fn indexes_of(table: &Arc<Table>) -> Vec<(&str, IndexRef)> {
    let secondary = table.def.indexes.iter().enumerate();
    let secondary = secondary.map(|(at, index)| (index.name.as_str(), IndexRef::Secondary(at)));
    let clustered = match table.def.primary {
        Some(_) => "PRIMARY",
        None => "GEN_CLUST_INDEX",
    };
    let mut all: Vec<_> = std::iter::once((clustered, IndexRef::Primary)).chain(secondary).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}

/// The names of an index's columns; of an index that is not unique, those of the primary key that
/// follow in its entries as well.
fn columns_of(table: &Table, index: IndexRef) -> Vec<&str> {
    let name = |column: usize| table.def.columns[column].name.as_str();
    let primary = table.def.primary.iter().flat_map(|key| key.iter().map(|part| name(part.column)));
    match index {
        IndexRef::Primary => primary.collect(),
        IndexRef::Secondary(at) => {
            let def = &table.def.indexes[at];
            let mut names: Vec<&str> = def.columns.iter().map(|part| name(part.column)).collect();
            if !def.unique {
                let own = names.clone();
                names.extend(primary.filter(|name| !own.contains(name)));
            }
            names
        }
    }
}

fn figures_of(table: &Table, index: IndexRef, known: &TableStatistics) -> Vec<Figure> {
    let pages = known.pages(index);
    let names = columns_of(table, index);
    let distinct = (1..=names.len()).map(|parts| Figure {
        name: format!("n_diff_pfx{parts:02}"),
        // What lies behind the index's own columns tells every row from the others.
        value: known.distinct(index, parts).map_or(known.rows, |values| values.round() as u64),
        sampled: Some(engine::SAMPLED_LEAVES.min(pages.leaves)),
        description: names[..parts].join(","),
    });
    let of_pages = |name: &str, value, description: &str| Figure {
        name: name.to_owned(),
        value,
        sampled: None,
        description: description.to_owned(),
    };
    let mut figures: Vec<Figure> = distinct.collect();
    figures.push(of_pages("n_leaf_pages", pages.leaves, "Number of leaf pages in the index"));
    figures.push(of_pages("size", pages.all(), "Number of pages in the index"));
    figures
}
