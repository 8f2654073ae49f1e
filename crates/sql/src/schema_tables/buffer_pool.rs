//! The tables INNODB_BUFFER_* and INNODB_CMP* of information_schema: the pages in the pool, its
//! figures, and the counts of compressed pages, of which there are none.
//!
//! A page does not say which index it belongs to, so `INDEX_NAME` is NULL. Rates are not measured,
//! and are 0.

use super::definition::{Definition, Dictionary, Rows};
use super::innodb::{all_files, check_process};
use crate::error::Result;
use engine::Engine;
use std::collections::HashMap;
use types::Value;

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "INNODB_BUFFER_PAGE", fill: |dictionary, rows| pages(dictionary, rows, false) },
    Definition { name: "INNODB_BUFFER_PAGE_LRU", fill: |dictionary, rows| pages(dictionary, rows, true) },
    Definition { name: "INNODB_BUFFER_POOL_STATS", fill: figures },
    Definition { name: "INNODB_CMP", fill: compressions },
    Definition { name: "INNODB_CMP_RESET", fill: compressions },
    Definition { name: "INNODB_CMPMEM", fill: compressed_memory },
    Definition { name: "INNODB_CMPMEM_RESET", fill: compressed_memory },
];

fn number(number: usize) -> Value {
    Value::UInt(number as u64)
}

fn yes_no(value: bool) -> Value {
    Value::text(if value { "YES" } else { "NO" })
}

/// Adds a row for each page in the pool. The second column is the page's place: its frame, or its
/// position in the LRU list.
fn pages(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>, by_lru: bool) -> Result<()> {
    let files = all_files(dictionary)?;
    let name = |def: &engine::TableDef| format!("`{}`.`{}`", def.schema, def.name);
    let names: HashMap<u32, String> =
        files.iter().map(|(table, file)| (file.space, name(&table.def))).collect();
    let mut positions: HashMap<usize, usize> = HashMap::new();
    for page in dictionary.engine.pool().resident_pages() {
        let position = positions.entry(page.instance).or_default();
        let place = if by_lru { *position } else { page.frame as usize };
        *position += 1;
        let content = page.content.as_ref();
        let page_type = content.and_then(|content| content.page_type);
        let zero = || Value::UInt(0);
        let mut row = vec![
            number(page.instance),
            number(place),
            Value::UInt(u64::from(page.id.space)),
            Value::UInt(u64::from(page.id.no)),
            Value::text(page_type.map_or("UNKNOWN", |page_type| page_type.name())),
            zero(),
            zero(),
            yes_no(false),
            Value::UInt(content.map_or(0, |content| content.newest_change)),
            Value::UInt(page.oldest_change),
            zero(),
            names.get(&page.id.space).map_or(Value::Null, |name| Value::text(name)),
            Value::Null,
            number(content.map_or(0, |content| content.entries)),
            zero(),
            zero(),
        ];
        // The LRU table says whether the page is compressed where the other one says its state.
        row.push(if by_lru { yes_no(false) } else { Value::text("FILE_PAGE") });
        row.extend([Value::text("IO_NONE"), yes_no(page.is_old), zero()]);
        if !by_lru {
            row.push(yes_no(false));
        }
        rows.push(row)?;
    }
    Ok(())
}

/// Adds one row for the whole pool.
fn figures(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    check_process(dictionary)?;
    let pool = dictionary.engine.pool().status();
    let per_thousand = |count: u64| (count * 1000).checked_div(pool.read_requests).unwrap_or(0).min(1000);
    let read = pool.pages_read + pool.read_ahead + pool.read_ahead_random;
    let figure = Value::UInt;
    let zero = || Value::UInt(0);
    let rate = || Value::Float(0.0);
    let mut row = vec![
        zero(),
        figure(pool.pages_total),
        figure(pool.pages_free),
        figure(pool.pages_data),
        figure(pool.pages_old),
        figure(pool.pages_dirty),
    ];
    row.extend([zero(), zero(), zero(), zero(), figure(pool.pages_made_young), zero(), rate(), rate()]);
    row.extend([figure(read), figure(pool.pages_created), figure(pool.pages_written)]);
    row.extend([rate(), rate(), rate(), figure(pool.read_requests)]);
    row.push(figure(1000 - per_thousand(pool.pages_read)));
    row.extend([figure(per_thousand(pool.pages_made_young)), zero()]);
    row.extend([figure(pool.read_ahead + pool.read_ahead_random), figure(pool.read_ahead_evicted)]);
    row.extend([rate(), rate(), zero(), zero(), zero(), zero()]);
    rows.push(row)
}

/// The smallest compressed page in bytes.
const LEAST_COMPRESSED_BYTES: usize = 1024;

/// Returns the sizes that compressed pages can have in InnoDB, in bytes
/// (information_schema.INNODB_CMP).
pub fn compressed_page_sizes(engine: &Engine) -> Vec<usize> {
    let most = engine.pool().page_size();
    std::iter::successors(Some(LEAST_COMPRESSED_BYTES), |bytes| Some(bytes * 2))
        .take_while(|bytes| *bytes <= most)
        .collect()
}

fn compressions(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    check_process(dictionary)?;
    for bytes in compressed_page_sizes(dictionary.engine) {
        let mut row = vec![number(bytes)];
        row.extend([const { Value::Int(0) }; 5]);
        rows.push(row)?;
    }
    Ok(())
}

fn compressed_memory(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    check_process(dictionary)?;
    for bytes in compressed_page_sizes(dictionary.engine) {
        let mut row = vec![number(bytes), number(0)];
        row.extend([const { Value::Int(0) }; 4]);
        rows.push(row)?;
    }
    Ok(())
}
