//! The time zones that have been loaded into the tables `mysql.time_zone_name` and so on.

use crate::system_rows;
use engine::{Engine, EngineError, IndexRef, Isolation, KeyRange, Table, Transaction};
use os::clock::Stopwatch;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use types::{Value, Zone, ZoneRules};

/// How long the absence of a name is remembered. It is short because the tables may be loaded at
/// any time.
const ABSENCE_COUNTS: Duration = Duration::from_secs(1);

/// How long a statement waits for the tables, in milliseconds, if they are being changed or are
/// locked by its own session.
const PATIENCE_MS: u64 = 1000;

/// The answers that the tables of one engine have given. A zone that was found stays until the
/// tables are emptied by TRUNCATE (which is how loading them begins) or the process ends. In MySQL,
/// it stays until the process ends.
struct Told {
    engine: Weak<Engine>,
    /// The id of the table `mysql.time_zone_name`, which TRUNCATE changes.
    table_id: u64,
    found: HashMap<String, Zone>,
    absent: HashMap<String, Stopwatch>,
}

/// The answers, by engine. A process has one engine, except in tests.
static TOLD: Mutex<Vec<Told>> = Mutex::new(Vec::new());

/// Locks the answers. If a thread has panicked meanwhile, they are still consistent, since they
/// change by single entries.
fn told() -> MutexGuard<'static, Vec<Told>> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Told {
    /// Returns what is known about a name. The outer `None` means that the tables have to be asked.
    fn of(&self, name: &str) -> Option<Option<Zone>> {
        let absent = || self.absent.get(name).is_some_and(|since| since.elapsed() < ABSENCE_COUNTS);
        match self.found.get(name) {
            Some(zone) => Some(Some(*zone)),
            None => absent().then_some(None),
        }
    }

    fn note(&mut self, name: &str, zone: Option<Zone>) {
        match zone {
            Some(zone) => drop(self.found.insert(name.to_owned(), zone)),
            None => {
                self.absent.retain(|_, since| since.elapsed() < ABSENCE_COUNTS);
                self.absent.insert(name.to_owned(), Stopwatch::start());
            }
        }
    }
}

/// Returns the zone that the tables have for a name, which is given in lower case.
pub(super) fn find(engine: &Arc<Engine>, name: &str) -> Option<Zone> {
    let table_id = engine.catalog().table("mysql", "time_zone_name")?.id;
    let is_this = |told: &Told| told.engine.as_ptr() == Arc::as_ptr(engine) && told.table_id == table_id;
    let known = |all: &[Told]| all.iter().find(|told| is_this(told)).and_then(|told| told.of(name));
    if let Some(known) = known(&told()) {
        return known;
    }
    // The answers are not locked meanwhile, because the tables may have to be waited for.
    let rules = read(engine, name).unwrap_or_else(|error| {
        log::warn!("The rules of the time zone '{name}' cannot be read: {error}");
        None
    });
    let mut all = told();
    // Another thread has been faster. Its zone is returned, so that all sessions have the same one.
    if let Some(Some(zone)) = known(&all) {
        return Some(zone);
    }
    let zone = rules.map(ZoneRules::forever);
    all.retain(|told| told.engine.strong_count() > 0);
    match all.iter_mut().find(|told| is_this(told)) {
        Some(told) => told.note(name, zone),
        None => {
            all.retain(|told| told.engine.as_ptr() != Arc::as_ptr(engine));
            let (found, absent) = (HashMap::new(), HashMap::new());
            let mut told = Told { engine: Arc::downgrade(engine), table_id, found, absent };
            told.note(name, zone);
            all.push(told);
        }
    }
    zone
}

/// Reads the rules that the tables have for a name.
fn read(engine: &Arc<Engine>, name: &str) -> Result<Option<ZoneRules>, EngineError> {
    let mut transaction = engine.begin(Isolation::RepeatableRead);
    transaction.set_metadata_lock_timeout_ms(PATIENCE_MS);
    let rules = read_in(&mut transaction, name);
    transaction.rollback();
    rules
}

fn read_in(transaction: &mut Transaction, name: &str) -> Result<Option<ZoneRules>, EngineError> {
    let ids = rows(transaction, "time_zone_name", ["Name", "Time_zone_id"], &[Value::text(name)])?;
    let Some(id) = ids.first().and_then(|row| row[1].to_integer()) else { return Ok(None) };
    let of_zone = [Value::UInt(u64::try_from(id).unwrap_or_default())];
    let columns = ["Time_zone_id", "Transition_type_id", "Offset", "Is_DST"];
    let mut offsets = HashMap::new();
    let (mut first, mut first_standard) = (None, None);
    for [_, kind, offset, is_dst] in rows(transaction, "time_zone_transition_type", columns, &of_zone)? {
        let Some(offset_s) = offset.to_integer().map(offset_of) else { continue };
        first = first.or(Some(offset_s));
        if is_dst.to_integer() == Some(0) {
            first_standard = first_standard.or(Some(offset_s));
        }
        offsets.insert(kind.to_integer(), offset_s);
    }
    // Before its first change, a zone has its first standard time.
    let Some(before_s) = first_standard.or(first) else { return Ok(None) };
    let columns = ["Time_zone_id", "Transition_time", "Transition_type_id"];
    let mut changes = Vec::new();
    for [_, at, kind] in rows(transaction, "time_zone_transition", columns, &of_zone)? {
        let at_s = at.to_integer().and_then(|at_s| i64::try_from(at_s).ok());
        changes.extend(at_s.zip(offsets.get(&kind.to_integer()).copied()));
    }
    Ok(Some(ZoneRules::new(before_s, changes)))
}

/// Returns the values of these columns in the rows whose primary key begins with this value. The
/// first of the columns has to begin the primary key. There are no rows if the table is not like
/// MySQL's.
fn rows<const N: usize>(
    transaction: &mut Transaction,
    name: &str,
    columns: [&str; N],
    key: &[Value],
) -> Result<Vec<[Value; N]>, EngineError> {
    let table = transaction.open_table("mysql", name)?;
    let Some(places) = places(&table, columns) else { return Ok(Vec::new()) };
    let range = KeyRange::prefix(&table.encode_key(IndexRef::Primary, key)?);
    system_rows::rows(transaction, &table, places, range)
}

/// Returns the positions of the columns, of which the first has to begin the primary key.
fn places<const N: usize>(table: &Table, columns: [&str; N]) -> Option<[usize; N]> {
    let found = system_rows::places(table, columns)?;
    let primary = table.def.primary.as_deref().unwrap_or_default();
    let begins = primary.first().is_some_and(|part| part.column == found[0]);
    begins.then_some(found)
}

/// Returns an offset in seconds east of UTC, limited to one day.
fn offset_of(stored_s: i128) -> i32 {
    stored_s.clamp(-86_400, 86_400) as i32
}
