//! Tests of CHECK TABLE as a client sees it, on sound tables and on damaged ones.

mod support;

use std::path::Path;
use std::sync::Arc;

use engine::{Engine, EngineConfig};
use os::disk::Disk;
use os::sim::SimDisk;
use support::{outcome, rows, run, session};

fn open(disk: &SimDisk) -> Arc<Engine> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let config = EngineConfig {
        page_size: 4096,
        pool_bytes: 2 << 20,
        redo_capacity_bytes: 4 << 20,
        log_buffer_bytes: 64 << 10,
        background: false,
        ..EngineConfig::new(disk, "/data")
    };
    Engine::open(config).expect("the engine opens")
}

#[test]
fn damaged_tables_are_reported_as_mysql_reports_them() {
    let disk = SimDisk::new(1);
    let engine = open(&disk);
    let mut s = session(&engine);
    for statement in
        ["CREATE DATABASE IF NOT EXISTS d", "CREATE TABLE d.t (id INT PRIMARY KEY, k INT, KEY k (k))"]
    {
        run(&mut s, statement);
    }
    run(&mut s, "CREATE TABLE d.sound (id INT PRIMARY KEY)");
    let values: Vec<String> = (0..2000).map(|id| format!("({id}, {})", id % 7)).collect();
    run(&mut s, &format!("INSERT INTO d.t VALUES {}", values.join(", ")));
    assert_eq!(rows(&mut s, "CHECK TABLE d.t"), ["d.t|check|status|OK"]);
    drop(s);
    engine.close().expect("the disk works");
    drop(engine);
    let disk = disk.kill();
    // Without the copies in the doublewrite files no page is repaired. Page 1 is the clustered
    // index's root.
    let files = disk.list(Path::new("/data")).expect("it is there");
    let copies: Vec<_> = files.iter().filter(|path| path.extension().is_some_and(|e| e == "dblwr")).collect();
    assert!(!copies.is_empty(), "{files:?}");
    copies.iter().for_each(|path| disk.remove(path).expect("it is there"));
    let len = disk.read(Path::new("/data/d/t.ibd")).expect("it is there").len() as u64;
    for page in 3..len / 4096 {
        disk.flip_bit(Path::new("/data/d/t.ibd"), (page * 4096 + 2000) * 8);
    }
    let engine = open(&disk);
    let mut s = session(&engine);
    let checked = rows(&mut s, "CHECK TABLE d.t, d.sound, d.none");
    let (last, warnings) = checked.split_last().expect("rows");
    assert_eq!(last, "d.none|check|status|Operation failed");
    assert!(warnings[0].starts_with("d.t|check|Warning|InnoDB: The B-tree of index "), "{checked:?}");
    assert!(warnings[0].contains("/data/d/t.ibd: page "), "{checked:?}");
    let rest: Vec<&str> =
        warnings.iter().filter(|row| !row.contains("|Warning|")).map(String::as_str).collect();
    assert_eq!(
        rest,
        [
            "d.t|check|error|Corrupt",
            "d.sound|check|status|OK",
            "d.none|check|Error|Table 'd.none' doesn't exist"
        ]
    );
    // A query of the damaged table fails with an error that names the place, and the session goes
    // on.
    let read = outcome(&mut s, "SELECT SUM(k) FROM d.t");
    assert!(read[0].contains("/data/d/t.ibd: page "), "{read:?}");
    assert_eq!(rows(&mut s, "SELECT 1"), ["1"]);
}

#[test]
fn kill_ends_a_check() {
    let engine = open(&SimDisk::new(1));
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE test.t (id INT PRIMARY KEY)");
    run(&mut s, "INSERT INTO test.t VALUES (1), (2)");
    let table = engine.catalog().table("test", "t").expect("it was made");
    let check = |is_killed: bool| {
        let mut transaction = engine.begin(engine::Isolation::RepeatableRead);
        transaction.set_interrupt(Arc::new(is_killed.into()));
        engine.check_table_in(transaction, &table)
    };
    assert_eq!(check(false).expect("the table is sound"), Vec::<String>::new());
    assert!(matches!(check(true), Err(engine::EngineError::Interrupted)));
}
