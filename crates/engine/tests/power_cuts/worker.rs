//! A worker: it runs transactions and DDL at random, and notes each step before it tries it.

use std::sync::Arc;

use engine::Direction;
use engine::{
    ChannelChange, CommitOptions, DdlContext, Engine, EngineError, IndexRef, InstantColumns, Isolation,
    KeyRange, LockMode, LoggedStatement, MAX_ROW_VERSIONS, PositionUpdate, Row, RowImage, SessionContext,
    StatementContext, Table, Transaction,
};
use os::random::Rng;
use os::sim::SimDisk;
use parking_lot::Mutex;
use types::Value;

use crate::state::{History, TableState, Values, WorkerState};
use crate::tables::{self, ARRAY, BIG, K, KEYED, KEYLESS, PAD, SCHEMA, TAG, U};

type Result<T> = std::result::Result<T, EngineError>;

/// The number of tags that one worker uses. It is small, so that rows are often changed again.
const TAGS: u64 = 60;
/// The number of further rows that come and go together. They do not fit a few pages.
const MANY: u64 = 60;

/// The form in which the binary log has a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinlogFormat {
    Row,
    Statement,
    /// The statement's text or its rows.
    Mixed,
}

impl BinlogFormat {
    pub const ALL: [BinlogFormat; 3] = [BinlogFormat::Row, BinlogFormat::Statement, BinlogFormat::Mixed];
}

/// The beginning of the text of the statement that counts in the ledger. The worker and the count
/// follow.
pub const LEDGER_TEXT: &str = "ledger ";

pub struct Worker {
    pub engine: Arc<Engine>,
    pub disk: SimDisk,
    pub number: i64,
    pub workers: i64,
    /// The form of the present transaction.
    pub format: BinlogFormat,
    pub rng: Rng,
    pub history: Arc<Mutex<History>>,
}

/// Returns the tag of the row that counts the worker's transactions. It makes every transaction
/// change something.
pub fn ledger_tag(number: i64) -> i64 {
    -1 - number
}

/// Returns the name of the worker's replication channel.
pub fn channel(number: i64) -> String {
    format!("worker{number}")
}

/// Reports whether this is an error with which the engine may refuse, so that the transaction is
/// given up.
fn is_refusal(error: &EngineError) -> bool {
    matches!(error, EngineError::Deadlock | EngineError::LockWaitTimeout | EngineError::TableChanged(_))
}

impl Worker {
    /// Works until the steps are done or the machine is off.
    pub fn run(mut self, steps: u64) {
        for _ in 0..steps {
            let done = match self.rng.below(100) {
                0..6 => self.change_own_definition(),
                6 if self.number == 0 => self.change_shared_index(),
                // This checkpoint comes while the others work, and more often than those of the
                // checkpointer.
                7..11 => self.engine.checkpoint().map(|_| ()),
                _ => self.transact(),
            };
            if let Err(error) = done {
                assert!(self.disk.is_off(), "worker {}: {error} ({error:?})", self.number);
                return;
            }
        }
    }

    fn transact(&mut self) -> Result<()> {
        let isolation =
            *self.rng.pick(&[Isolation::RepeatableRead, Isolation::ReadCommitted, Isolation::Serializable]);
        let mut txn = self.engine.begin(isolation);
        // A session may change these settings between transactions.
        self.format = *self.rng.pick(&BinlogFormat::ALL);
        txn.set_row_image(*self.rng.pick(&[RowImage::Full, RowImage::Minimal, RowImage::Noblob]));
        let mut next = self.history.lock().current().clone();
        match self.fill(&mut txn, &mut next) {
            Err(error) if is_refusal(&error) => return Ok(()),
            filled => filled?,
        }
        if self.rng.one_in(10) {
            txn.rollback();
            return Ok(());
        }
        next.position += 1;
        let channel = channel(self.number);
        let position = PositionUpdate {
            channel: &channel,
            source_log_file: "source.000001",
            source_log_pos: next.position,
            relay_log_file: "relay.000001",
            relay_log_pos: 4,
            change: ChannelChange::Advance,
        };
        self.history.lock().attempt(next);
        // The binary log compresses only transactions that are rows and were not spilled.
        let compression = self.rng.one_in(2).then(|| *self.rng.pick(&[1, 3, 7]));
        let options =
            CommitOptions { wait: false, position: Some(position), compression, ..CommitOptions::default() };
        let outcome = txn.commit(&options)?;
        self.history.lock().committed(&outcome);
        if self.rng.one_in(2) {
            self.engine.log().wait_durable(outcome.seq).map_err(EngineError::Redo)?;
            self.history.lock().acknowledged();
        }
        Ok(())
    }

    fn fill(&mut self, txn: &mut Transaction, next: &mut WorkerState) -> Result<()> {
        self.count_in_ledger(txn, next)?;
        for _ in 0..self.rng.between(1, 6) {
            let savepoint = txn.begin_statement(StatementContext::default());
            let before = next.clone();
            let name = self.pick_table(next);
            let table = txn.open_table(SCHEMA, &name)?;
            if self.rng.one_in(25) {
                self.fill_or_empty(txn, &table, next.table(&name))?;
            }
            for _ in 0..self.rng.between(1, 3) {
                self.change_row(txn, &table, next.table(&name))?;
            }
            if self.rng.one_in(12) {
                txn.rollback_to(savepoint);
                *next = before;
            } else if self.rng.one_in(12) {
                // The binary log is to have nothing of the statement, as for a schema that it
                // ignores.
                txn.end_statement_unlogged();
            } else {
                let len = self.rng.between(1, 400) as usize;
                self.end_statement(txn, &"x".repeat(len));
            }
        }
        Ok(())
    }

    fn end_statement(&mut self, txn: &mut Transaction, text: &str) {
        if self.format == BinlogFormat::Row || (self.format == BinlogFormat::Mixed && self.rng.one_in(2)) {
            txn.end_statement();
            return;
        }
        txn.end_statement_as_text(&LoggedStatement {
            session: &SessionContext::default(),
            schema: SCHEMA,
            text: text.as_bytes(),
            last_insert_id: None,
            insert_id: self.rng.one_in(2).then_some(7),
            rand_seeds: None,
            user_variables: Vec::new(),
        });
    }

    fn count_in_ledger(&mut self, txn: &mut Transaction, next: &mut WorkerState) -> Result<()> {
        txn.begin_statement(StatementContext::default());
        let table = txn.open_table(SCHEMA, KEYED)?;
        let (tag, state) = (ledger_tag(self.number), next.table(KEYED));
        let old = state.rows.get(&tag).cloned();
        let mut values = match &old {
            Some(values) => Values::clone(values),
            None => {
                let mut values = vec![Value::Null; tables::COLUMNS];
                values[..=K].clone_from_slice(&[Value::Int(tag), Value::Int(self.number), Value::Int(0)]);
                values
            }
        };
        let Value::Int(count) = values[K] else { panic!("the ledger counts") };
        values[K] = Value::Int(count + 1);
        let image = image_of(&table, &values);
        match old {
            Some(old) => {
                let row = self.find(txn, &table, tag, &old)?;
                txn.update(&table, &row, &image)?;
            }
            None => txn.insert(&table, &image)?,
        }
        state.rows.insert(tag, Arc::new(values));
        self.end_statement(txn, &format!("{LEDGER_TEXT}{} {}", self.number, count + 1));
        Ok(())
    }

    fn pick_table(&mut self, state: &WorkerState) -> String {
        let own = state.tables.keys().find(|name| *name != KEYED && *name != KEYLESS);
        match (self.rng.below(6), own) {
            (0..3, _) => KEYED.to_owned(),
            (3, Some(own)) => own.clone(),
            _ => KEYLESS.to_owned(),
        }
    }

    /// Inserts many rows, or deletes those that exist, so that leaves of any size split and merge
    /// again.
    fn fill_or_empty(
        &mut self,
        txn: &mut Transaction,
        table: &Arc<Table>,
        state: &mut TableState,
    ) -> Result<()> {
        let tag_of = |number: u64, worker: &Worker| (TAGS + number) as i64 * worker.workers + worker.number;
        let empties = state.rows.contains_key(&tag_of(0, self));
        for number in 0..MANY {
            let tag = tag_of(number, self);
            match state.rows.get(&tag).cloned() {
                Some(old) if empties => {
                    let row = self.find(txn, table, tag, &old)?;
                    txn.delete(table, &row)?;
                    state.rows.remove(&tag);
                }
                None if !empties => {
                    let mut values = tables::row(&mut self.rng, tag, self.number, state.has_extra);
                    values[PAD] = Value::Bytes(self.rng.bytes(500));
                    values[BIG] = Value::Null;
                    txn.insert(table, &image_of(table, &values))?;
                    state.rows.insert(tag, Arc::new(values));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Inserts, changes or deletes the row of a random tag. Sometimes it tries a change that must
    /// be refused.
    fn change_row(
        &mut self,
        txn: &mut Transaction,
        table: &Arc<Table>,
        state: &mut TableState,
    ) -> Result<()> {
        let tag = self.rng.below(TAGS) as i64 * self.workers + self.number;
        match state.rows.get(&tag).cloned() {
            None => {
                let values = tables::row(&mut self.rng, tag, self.number, state.has_extra);
                txn.insert(table, &image_of(table, &values))?;
                state.rows.insert(tag, Arc::new(values));
            }
            Some(old) if self.rng.one_in(3) => {
                let row = self.find(txn, table, tag, &old)?;
                txn.delete(table, &row)?;
                state.rows.remove(&tag);
            }
            Some(_) if table.def.primary.is_some() && self.rng.one_in(10) => {
                let values = tables::row(&mut self.rng, tag, self.number, state.has_extra);
                let refused = txn.insert(table, &image_of(table, &values));
                match refused {
                    Err(EngineError::Duplicate { .. }) => {}
                    Err(error) => return Err(error),
                    Ok(()) => panic!("a second row {tag} was let in"),
                }
            }
            Some(old) => self.update_row(txn, table, state, tag, &old)?,
        }
        Ok(())
    }

    fn update_row(
        &mut self,
        txn: &mut Transaction,
        table: &Arc<Table>,
        state: &mut TableState,
        tag: i64,
        old: &Arc<Values>,
    ) -> Result<()> {
        let mut values = Values::clone(old);
        let mut new_tag = tag;
        let free = self.rng.below(TAGS) as i64 * self.workers + self.number;
        if self.rng.one_in(6) && !state.rows.contains_key(&free) {
            new_tag = free;
            values[TAG] = Value::Int(new_tag);
            tables::change(&mut self.rng, &mut values, U);
        }
        for _ in 0..self.rng.between(1, 3) {
            let column = self.rng.between(K as u64, ARRAY as u64) as usize;
            tables::change(&mut self.rng, &mut values, column);
        }
        let row = self.find(txn, table, tag, old)?;
        txn.update(table, &row, &image_of(table, &values))?;
        state.rows.remove(&tag);
        state.rows.insert(new_tag, Arc::new(values));
        Ok(())
    }

    /// Returns the row, read for update. It must be as the model has it, including own changes.
    fn find(&self, txn: &mut Transaction, table: &Arc<Table>, tag: i64, expected: &Values) -> Result<Row> {
        let tag_value = [Value::Int(tag)];
        let row = match table.def.primary {
            Some(_) => txn.get(table, &table.encode_key(IndexRef::Primary, &tag_value)?, LockMode::Update)?,
            None => {
                let index = IndexRef::Secondary(0);
                let range = KeyRange::prefix(&table.encode_key(index, &tag_value)?);
                txn.scan(table, index, range, Direction::Forward, LockMode::Update)?.next(txn)?
            }
        };
        let row = row.unwrap_or_else(|| panic!("row {tag} of {} is gone", table.def.name));
        assert!(row.image == image_of(table, expected), "row {tag} of {} is another", table.def.name);
        Ok(row)
    }

    // ---- DDL ----

    fn change_own_definition(&mut self) -> Result<()> {
        let mut next = self.history.lock().current().clone();
        let own = next.tables.keys().find(|name| *name != KEYED && *name != KEYLESS).cloned();
        let session = SessionContext::default();
        let context = |statement: &'static str| DdlContext::new(statement, SCHEMA, &session);
        let engine = Arc::clone(&self.engine);
        let Some(name) = own else {
            let (name, indexed) = (format!("own{}", self.number), self.rng.one_in(2));
            next.tables.insert(name.clone(), Arc::new(TableState { indexed, ..TableState::default() }));
            return self.ddl(next, || {
                engine.create_table(tables::own(&name, indexed, false), &context("CREATE TABLE own"))
            });
        };
        let table = engine.catalog().table(SCHEMA, &name).expect("the model has it");
        let state = TableState::clone(next.table(&name));
        match self.rng.below(6) {
            0 => {
                next.tables.remove(&name);
                self.ddl(next, || engine.drop_table(SCHEMA, &name, &context("DROP TABLE own")))
            }
            1 => {
                next.table(&name).rows.clear();
                self.ddl(next, || engine.truncate_table(SCHEMA, &name, &context("TRUNCATE TABLE own")))
            }
            2 => {
                let prefix = if name.starts_with("own") { "alt" } else { "own" };
                let new_name = format!("{prefix}{}", self.number);
                next.tables.remove(&name);
                next.tables.insert(new_name.clone(), Arc::new(state));
                let renames = [((SCHEMA, name.as_str()), (SCHEMA, new_name.as_str()))];
                self.ddl(next, || engine.rename_tables(&renames, Vec::new(), &context("RENAME TABLE own")))
            }
            3 | 4 => {
                let mut def = table.def.clone();
                next.table(&name).indexed = !state.indexed;
                match state.indexed {
                    true => def.indexes.clear(),
                    false => def.indexes = tables::own_indexes(),
                }
                self.alter(next, &name, def, &mut |image| Ok(Some(image.to_vec())))
            }
            _ => {
                let has_extra = !state.has_extra;
                let mut def = tables::own(&name, state.indexed, has_extra);
                for (index, old) in def.indexes.iter_mut().zip(&table.def.indexes) {
                    index.id = old.id;
                }
                let changed = next.table(&name);
                changed.has_extra = has_extra;
                for values in changed.rows.values_mut() {
                    *values = Arc::new(with_extra(values, has_extra));
                }
                if self.rng.one_in(2) && table.row_versions() < MAX_ROW_VERSIONS {
                    return self.alter_instantly(next, &name, def, tables::instant_extra(has_extra));
                }
                let new_types: Vec<_> = def.columns.iter().map(|column| column.ty.clone()).collect();
                let new_layout = types::row::RowLayout::new(&new_types);
                self.alter(next, &name, def, &mut |image| {
                    let values = with_extra(&table.layout.decode_all(image)?, has_extra);
                    let mut new_image = Vec::new();
                    new_layout.encode(&values, &mut new_image)?;
                    Ok(Some(new_image))
                })
            }
        }
    }

    /// Adds an index to the shared table, or drops it. Its pages are full of other workers' rows.
    fn change_shared_index(&mut self) -> Result<()> {
        let state = self.history.lock().current().clone();
        let mut def = self.engine.catalog().table(SCHEMA, KEYED).expect("it is always there").def.clone();
        match def.index("by_pad") {
            Some(at) => drop(def.indexes.remove(at)),
            None => def.indexes.push(tables::index("by_pad", false, &[tables::OWNER, K])),
        }
        if let Some(index) = def.indexes.last_mut().filter(|index| index.id == 0) {
            index.name = "by_pad".to_owned();
        }
        self.alter(state, KEYED, def, &mut |image| Ok(Some(image.to_vec())))
    }

    fn alter_instantly(
        &mut self,
        next: WorkerState,
        name: &str,
        def: engine::TableDef,
        instant: InstantColumns,
    ) -> Result<()> {
        let (engine, session) = (Arc::clone(&self.engine), SessionContext::default());
        let context = DdlContext { instant, ..DdlContext::new("ALTER TABLE own", SCHEMA, &session) };
        let convert: &mut engine::ConvertRow<'_> = &mut |_| panic!("no row is converted");
        self.ddl(next, || engine.alter_table(SCHEMA, name, def, convert, &context))
    }

    fn alter(
        &mut self,
        next: WorkerState,
        name: &str,
        def: engine::TableDef,
        convert: &mut engine::ConvertRow<'_>,
    ) -> Result<()> {
        let (engine, session) = (Arc::clone(&self.engine), SessionContext::default());
        let context = DdlContext::new("ALTER TABLE own", SCHEMA, &session);
        self.ddl(next, || engine.alter_table(SCHEMA, name, def, convert, &context))
    }

    fn ddl(&mut self, next: WorkerState, run: impl FnOnce() -> Result<engine::CommitOutcome>) -> Result<()> {
        self.history.lock().attempt(next);
        match run() {
            Err(error) if is_refusal(&error) => self.history.lock().take_back(),
            outcome => {
                let outcome = outcome?;
                self.engine.log().wait_durable(outcome.seq).map_err(EngineError::Redo)?;
                let mut history = self.history.lock();
                history.committed(&outcome);
                history.acknowledged();
            }
        }
        Ok(())
    }
}

fn with_extra(values: &Values, has_extra: bool) -> Values {
    let mut values = values[..tables::COLUMNS].to_vec();
    if has_extra {
        values.push(Value::UInt(tables::VALUE_OF_EXTRA));
    }
    values
}

pub fn image_of(table: &Table, values: &[Value]) -> Vec<u8> {
    let mut image = Vec::new();
    table.layout.encode(values, &mut image).expect("the values are of the columns' types");
    image
}
