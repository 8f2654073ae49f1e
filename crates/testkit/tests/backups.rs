//! Tests of `slipstream backup` and `slipstream restore`: a restore to any GTID or time has exactly
//! the rows of that moment, and a damaged backup is refused.

use std::path::Path;

use bench::instance::{Flavor, Settings};
use os::random::test_seed;
use testkit::Server;
use testkit::known::{Known, Rows, restore, restored, slipstream};

/// How many restores each test makes. A long run asks for more.
fn rounds() -> u64 {
    testkit::times("SLIPSTREAM_RESTORES", 6)
}

#[test]
fn a_restore_to_any_gtid_has_the_rows_of_that_moment() {
    let seed = test_seed("a_restore_to_any_gtid_has_the_rows_of_that_moment");
    let mut known = Known::start(seed, &Settings::default());
    known.change(30);
    let backup = known.place("backup");
    known.backup(&backup, &["--compress"]);
    let first = known.last();
    for _ in 0..3 {
        known.change(25);
        known.backup(&backup, &["--incremental", "--compress=1"]);
    }
    let in_backup = known.last();
    known.change(25);
    let uuid = known.source.rows("SELECT @@server_uuid").remove(0);
    let all = known.last();
    let mut target = Server::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    assert_eq!(restored(&mut target, &backup, &[]), known.states[&in_backup], "without a point");
    for round in 0..rounds() {
        let number = known.rng.between(first, all);
        let mut words = vec!["--until".to_owned(), format!("{uuid}:1-{number}")];
        if number > in_backup {
            words.extend(["--binlogs".to_owned(), known.source.datadir().display().to_string()]);
        }
        let rows = restored(&mut target, &backup, &words);
        // FLUSH BINARY LOGS is no transaction, and the first states are those of the definitions.
        assert_eq!(rows, known.states[&number], "round {round}: {number} of {first}..{in_backup}..{all}");
        assert_eq!(target.rows("SELECT @@GLOBAL.gtid_executed"), [format!("{uuid}:1-{number}")]);
        assert_eq!(target.rows("SELECT @@GLOBAL.gtid_purged"), [format!("{uuid}:1-{first}")]);
    }
}

#[test]
fn a_restore_to_a_time_has_what_was_committed_by_then() {
    let seed = test_seed("a_restore_to_a_time_has_what_was_committed_by_then");
    // Without GTIDs, transactions are told apart by their place in the log.
    for gtid in [true, false] {
        let settings = Settings { gtid, ..Settings::default() };
        let mut known = Known::start(seed, &settings);
        let backup = known.place("backup");
        let mut moments: Vec<(String, Rows)> = Vec::new();
        known.source.run("INSERT INTO d.t VALUES (1, 'v1')");
        known.backup(&backup, &[]);
        for number in 0..40 {
            let id = number % 7;
            known.source.run(&format!("REPLACE INTO d.t VALUES ({id}, 'v{number}')"));
            known.rows.insert(id, format!("v{number}"));
            if !moments.is_empty() || number == 0 {
                known.rows.entry(1).or_insert_with(|| "v1".to_owned());
            }
            let now = known.source.rows("SELECT CONCAT(REPLACE(UTC_TIMESTAMP(6), ' ', 'T'), 'Z')").remove(0);
            moments.push((now, known.rows.clone()));
        }
        known.backup(&backup, &["--incremental"]);
        let mut target = Server::start(Flavor::Slipstream, &Settings { server_id: 2, ..settings.clone() });
        for _ in 0..rounds() {
            let (time, rows) = &moments[known.rng.below(moments.len() as u64) as usize];
            let words = ["--until".to_owned(), time.clone()];
            assert_eq!(&restored(&mut target, &backup, &words), rows, "{time}, gtid {gtid}");
        }
    }
}

#[test]
fn a_damaged_backup_and_a_point_that_cannot_be_reached_are_refused() {
    let mut known = Known::start(7, &Settings::default());
    known.change(10);
    let (backup, datadir) = (known.place("backup"), known.place("restored"));
    known.backup(&backup, &[]);
    let first = known.last();
    known.change(10);
    known.backup(&backup, &["--incremental"]);
    let last = known.last();
    let uuid = known.source.rows("SELECT @@server_uuid").remove(0);
    let until = |point: String| restore(&backup, &datadir, &["--until".to_owned(), point]).unwrap_err();
    let early = until(format!("{uuid}:1-{}", first - 1));
    assert!(
        early.contains(&format!("the backup is later than the point: it has '{uuid}:{first}'")),
        "{early}"
    );
    let late = until(format!("{uuid}:1-{}", last + 3));
    assert!(late.contains(&format!("they do not have '{uuid}:{}-{}'", last + 1, last + 3)), "{late}");
    assert!(until("2020-01-01 00:00:00".to_owned()).contains("later than the point"));
    assert!(until("soon".to_owned()).contains("neither a set of GTIDs nor a time"));
    assert_eq!(std::fs::read_dir(&datadir).expect("it is there").count(), 0, "nothing is left in it");
    let again = slipstream(&["backup".into(), known.address(), "--to".into(), backup.display().to_string()]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("has a backup already"));

    let mut stored = Vec::new();
    let mut dirs = vec![backup.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).expect("it is there") {
            let path = entry.expect("readable").path();
            if path.is_dir() { dirs.push(path) } else { stored.push(path) }
        }
    }
    for path in stored.iter().filter(|path| !path.ends_with("manifest.json")) {
        let bytes = std::fs::metadata(path).expect("it is there").len();
        if bytes == 0 {
            continue;
        }
        let aside = path.with_extension("aside");
        std::fs::copy(path, &aside).expect("copied");
        let mut content = os::disk::real().read(path).expect("readable");
        let at = known.rng.below(bytes) as usize;
        content[at] ^= 0x10;
        put_bytes(path, &content);
        let error = restore(&backup, &datadir, &[]).unwrap_err();
        assert!(
            error.contains("checksum") || error.contains("bytes of content"),
            "{}: {error}",
            path.display()
        );
        assert_eq!(std::fs::read_dir(&datadir).expect("it is there").count(), 0, "nothing is left in it");
        std::fs::rename(&aside, path).expect("put back");
    }
    restore(&backup, &datadir, &[]).expect("the backup is whole again");
}

fn put_bytes(path: &Path, bytes: &[u8]) {
    os::disk::real().write_atomically(path, bytes).expect("writable");
}
