//! Comparing what recovery found with the histories.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Direction;
use engine::{Engine, IndexRef, Isolation, KeyRange, LockMode, Row, Table, Transaction};
use types::Value;

use crate::state::{Step, TableState, Values, WorkerState, difference};
use crate::tables::{COLUMNS, KEYED, KEYLESS, OWNER, SCHEMA, TAG};
use crate::worker::channel;

/// Reads everything and splits it by worker.
pub fn read_all(engine: &Arc<Engine>, workers: i64) -> Vec<WorkerState> {
    let mut states = vec![WorkerState::default(); workers as usize];
    for (number, state) in states.iter_mut().enumerate() {
        let position = engine.replica_position(&channel(number as i64));
        state.position = position.map_or(0, |position| position.source_log_pos);
    }
    let mut txn = engine.begin(Isolation::RepeatableRead);
    for table in engine.catalog().tables(SCHEMA) {
        let name = table.def.name.clone();
        let is_shared = name == KEYED || name == KEYLESS;
        let rows = read_rows(&mut txn, &table, IndexRef::Primary);
        compare_indexes(&mut txn, &table, &rows);
        assert_eq!(
            engine.check_table(&table).expect("the table can be read"),
            Vec::<String>::new(),
            "{name}"
        );
        if !is_shared {
            let owner: usize = name[3..].parse().expect("own tables end in their worker's number");
            let state = states[owner].table(&name);
            state.indexed = !table.def.indexes.is_empty();
            state.has_extra = table.columns() > COLUMNS;
        }
        for row in &rows {
            let values = table.layout.decode_all(&row.image).expect("a row decodes");
            let (Value::Int(tag), Value::Int(owner)) = (&values[TAG], &values[OWNER]) else {
                panic!("{name}: a row without tag and owner: {values:?}")
            };
            let before = states[*owner as usize].table(&name).rows.insert(*tag, Arc::new(values.clone()));
            assert!(before.is_none(), "{name}: two rows {tag}");
        }
    }
    states
}

fn read_rows(txn: &mut Transaction, table: &Arc<Table>, index: IndexRef) -> Vec<Row> {
    let mut scan = txn
        .scan(table, index, KeyRange::all(), Direction::Forward, LockMode::Snapshot)
        .expect("the table can be read");
    let mut rows = Vec::new();
    while let Some(row) = scan.next(txn).expect("the table can be read") {
        rows.push(row);
    }
    rows
}

/// Checks that every index has every row once, in the order of its columns, and a multi-valued one
/// as often as the row's array has elements.
fn compare_indexes(txn: &mut Transaction, table: &Arc<Table>, rows: &[Row]) {
    let by_key: BTreeMap<&[u8], &[u8]> = rows.iter().map(|row| (&row.key[..], &row.image[..])).collect();
    assert_eq!(by_key.len(), rows.len());
    for (at, index) in table.def.indexes.iter().enumerate() {
        let place = format!("{}.{}", table.def.name, index.name);
        let found = read_rows(txn, table, IndexRef::Secondary(at));
        for row in &found {
            let image =
                by_key.get(&row.key[..]).unwrap_or_else(|| panic!("{place} has a row that is not there"));
            assert!(*image == &row.image[..], "{place} shows another row than the clustered index");
        }
        if table.is_multi_valued(IndexRef::Secondary(at)) {
            let entries = |row: &Row| table.row_keys(at, &row.image).expect("encodes").len();
            assert_eq!(found.len(), rows.iter().map(entries).sum::<usize>(), "{place}: entries are missing");
            continue;
        }
        let mut keys: Vec<&[u8]> = found.iter().map(|row| &row.key[..]).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(
            (keys.len(), found.len()),
            (rows.len(), rows.len()),
            "{place}: rows are missing or doubled"
        );
        let columns = |row: &Row| -> Vec<u8> {
            let decode =
                |part: &engine::IndexColumn| table.layout.decode(&row.image, part.column).expect("decodes");
            let values: Values = index.columns.iter().map(decode).collect();
            table.encode_key(IndexRef::Secondary(at), &values).expect("encodes")
        };
        assert!(found.is_sorted_by_key(columns), "{place} is out of order");
    }
}

/// Finds for every worker the step that was recovered, among the possible steps, of which the
/// promised one is first. All recovered steps together must be a prefix of the commits. Returns the
/// steps.
pub fn compare(found: &[WorkerState], possible: &[Vec<Step>], life: &str) -> Vec<Step> {
    let mut newest_seq = 0;
    let mut recovered = Vec::new();
    for (number, (found, steps)) in found.iter().zip(possible).enumerate() {
        let found = with_shared_tables(found);
        let step = steps.iter().rposition(|step| with_shared_tables(&step.state) == found);
        let Some(step) = step else {
            let first = difference(&found, &with_shared_tables(&steps[0].state));
            let last = difference(&found, &with_shared_tables(&steps[steps.len() - 1].state));
            let steps = steps.len();
            panic!(
                "{life}: worker {number} is in none of its {steps} possible states.\nAgainst the acknowledged one:\n{first}Against the last one:\n{last}"
            );
        };
        newest_seq = newest_seq.max(steps[step].seq.unwrap_or(0));
        recovered.push(step);
    }
    for (number, (step, steps)) in recovered.iter().zip(possible).enumerate() {
        for lost in steps[step + 1..].iter().filter_map(|step| step.seq) {
            assert!(
                lost > newest_seq,
                "{life}: commit {lost} of worker {number} is lost, {newest_seq} is not"
            );
        }
    }
    recovered.iter().zip(possible).map(|(&step, steps)| steps[step].clone()).collect()
}

/// Returns the state with an entry for each shared table, so that a worker without rows there
/// compares equal whether its state names the table or not.
fn with_shared_tables(state: &WorkerState) -> WorkerState {
    let mut state = state.clone();
    for name in [KEYED, KEYLESS] {
        let shared = state.tables.entry(name.to_owned()).or_insert_with(|| Arc::new(TableState::default()));
        assert!(!shared.indexed && !shared.has_extra);
    }
    state
}
