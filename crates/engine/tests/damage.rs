//! Flipped bits, and files that are cut short or gone. For each kind of file and every place of the
//! damage, the engine refuses and names the place, or reports the damage when the table is checked,
//! or has every row as it was. It never silently has another row or a row less.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Engine, EngineConfig};
use os::disk::{Disk, OpenMode};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use support::{begin, check, commit, config, create, delete, insert, keyed, rows_in, table, update};

/// The number of commits after those that are compared, which is more than what the log can lose at
/// its end without noticing.
const FILLER_COMMITS: i64 = 40;

fn small(disk: &SimDisk) -> EngineConfig {
    EngineConfig {
        redo_capacity_bytes: 4 << 20,
        log_buffer_bytes: 64 << 10,
        pool_bytes: 2 << 20,
        ..config(disk)
    }
}

/// Makes rows, some of them with long values, changed before and after a checkpoint. Returns the
/// rows.
fn make(disk: &SimDisk, rng: &mut Rng) -> Vec<Vec<u8>> {
    let engine = Engine::open(small(disk)).expect("an empty disk");
    support::ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .expect("no schema yet");
    let rows = create(&engine, keyed("rows"));
    let filler = create(&engine, keyed("filler"));
    let long = |rng: &mut Rng| "x".repeat(*rng.pick(&[0, 30, 400, 1900]));
    for round in 0..2 {
        for id in 0..150 {
            let mut txn = begin(&engine);
            let content = long(rng);
            if round == 0 {
                insert(&mut txn, &rows, id, id % 17, &content).expect("no such row yet");
            } else if id % 3 == 0 {
                delete(&mut txn, &rows, id).expect("it works");
            } else {
                update(&mut txn, &rows, id, id % 13, &content).expect("it works");
            }
            commit(txn);
        }
        if round == 0 {
            engine.sharp_checkpoint().expect("the disk works");
        } else {
            engine.pool().flush_all().expect("the disk works");
        }
    }
    for id in 0..FILLER_COMMITS {
        let mut txn = begin(&engine);
        insert(&mut txn, &filler, id, 0, &"y".repeat(1000)).expect("no such row yet");
        commit(txn);
    }
    check(&engine, &rows);
    images(&engine)
}

fn images(engine: &Arc<Engine>) -> Vec<Vec<u8>> {
    let rows = table(engine, "test", "rows");
    let all = engine::KeyRange::all();
    let found =
        rows_in(&mut begin(engine), &rows, engine::IndexRef::Primary, all, engine::Direction::Forward);
    found.iter().map(|row| row.image.to_vec()).collect()
}

fn files(disk: &SimDisk, dir: &Path, found: &mut Vec<PathBuf>) {
    for path in disk.list(dir).expect("the disk works") {
        match disk.is_dir(&path).expect("the disk works") {
            true => files(disk, &path, found),
            false => found.push(path),
        }
    }
}

/// Opens the engine and reads everything. Returns what is reported, if anything is.
fn open_and_check(disk: &SimDisk, expected: &[Vec<u8>], place: &str) -> Option<String> {
    let engine = match Engine::open(small(disk)) {
        Ok(engine) => engine,
        Err(error) => return Some(error.to_string()),
    };
    for table in engine.catalog().tables("test") {
        match engine.check_table(&table) {
            Ok(faults) if faults.is_empty() => {}
            Ok(faults) => return Some(faults.join("; ")),
            Err(error) => return Some(error.to_string()),
        }
    }
    assert!(engine.catalog().table("test", "rows").is_some(), "{place}: the table is gone");
    assert_eq!(images(&engine), expected, "{place}: other rows, and nothing was said");
    None
}

/// Damages a copy of the disk in this way and opens it. A report must say where the damage is.
fn damage(disk: &SimDisk, expected: &[Vec<u8>], place: &str, how: impl FnOnce(&SimDisk)) -> bool {
    let damaged = disk.if_power_went();
    how(&damaged);
    let outcome = catch_unwind(AssertUnwindSafe(|| open_and_check(&damaged, expected, place)));
    let reported = outcome.unwrap_or_else(|_| panic!("{place}: a panic, see above"));
    if let Some(message) = &reported {
        assert!(
            message.contains("/data") || message.contains("LSN"),
            "{place}: reported without a place: {message}"
        );
    }
    reported.is_some()
}

#[test]
fn damaged_files_are_reported_or_do_no_harm() {
    let seed = test_seed("damaged_files_are_reported_or_do_no_harm");
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(seed);
    let expected = make(&disk, &mut rng);
    let disk = disk.kill();
    let mut found = Vec::new();
    files(&disk, Path::new("/data"), &mut found);
    assert!(open_and_check(&disk.if_power_went(), &expected, "undamaged").is_none());
    for path in &found {
        let name = path.display();
        let len_bytes = disk.read(path).expect("it is there").len() as u64;
        let (mut flips, mut cuts) = (0, 0);
        for _ in 0..60 {
            let bit = rng.below(len_bytes * 8);
            let place = format!("{name}, bit {} of byte {}", bit % 8, bit / 8);
            flips += u32::from(damage(&disk, &expected, &place, |disk| disk.flip_bit(path, bit)));
        }
        for _ in 0..15 {
            let len = rng.below(len_bytes);
            cuts += u32::from(damage(&disk, &expected, &format!("{name} cut to {len} bytes"), |disk| {
                disk.open(path, OpenMode::ReadWrite)
                    .and_then(|file| file.set_len(len))
                    .expect("the disk works");
            }));
        }
        let gone = damage(&disk, &expected, &format!("{name} removed"), |disk| {
            disk.remove(path).expect("the disk works");
        });
        println!(
            "{name}: {len_bytes} bytes, reported {flips} of 60 flips, {cuts} of 15 cuts, its absence: {gone}"
        );
    }
}
