//! Tests of backups in an object store, of the log that is shipped continuously, of encryption and
//! of retention: each restore has the rows of its moment, whatever was killed meanwhile.

use std::process::Stdio;
use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use os::clock::{Stopwatch, sleep};
use os::random::test_seed;
use testkit::known::{Known, Rows, restore_in, restored_in, rows_of, slipstream};
use testkit::proxy::Proxy;
use testkit::running::Running;
use testkit::s3::S3;
use testkit::server::SOON;
use testkit::{Replica, Server};

/// Runs a backup that must succeed.
fn backup(known: &Known, s3: &S3, to: &str, words: &[&str]) {
    let staging = staging(known);
    let words = [words, &["--staging", &staging]].concat();
    let output = known.try_backup(to, &words, &s3.environment());
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a directory in which the server makes its copies, and which goes with the server.
fn staging(known: &Known) -> String {
    staging_of(known, 0)
}

/// Makes one of several such directories.
fn staging_of(known: &Known, number: usize) -> String {
    let dir = known.place(&format!("staging{number}"));
    os::disk::real().create_dir_all(&dir).expect("a directory");
    dir.display().to_string()
}

/// Starts a backup that ships the log until it is told to stop.
fn follow(known: &Known, s3: &S3, to: &str, words: &[&str]) -> Running {
    let staging = staging(known);
    let words = [words, &["--follow", "--staging", &staging]].concat();
    Running::start(&mut known.backup_command(to, &words, &s3.environment()))
}

fn uuid_of(server: &Server) -> String {
    server.rows("SELECT @@server_uuid").remove(0)
}

fn until(uuid: &str, number: u64) -> [String; 2] {
    ["--until".to_owned(), format!("{uuid}:1-{number}")]
}

fn target() -> Server {
    Server::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() })
}

/// Returns the last transaction of a backup: the one that a restore of all comes to.
fn restored_to(target: &mut Server, from: &str, s3: &S3) -> (u64, Rows) {
    let rows = restored_in(target, from, &[], &s3.environment());
    let set = target.rows("SELECT @@GLOBAL.gtid_executed").remove(0);
    let number = set.rsplit([':', '-']).next().and_then(|number| number.parse().ok());
    (number.unwrap_or_else(|| panic!("{set}")), rows)
}

/// Waits until the log in the backup has come to the server's end, by restores into an empty
/// directory that are refused as long as it has not.
fn wait_until_shipped(known: &Known, from: &str, words: &[String], s3: &S3) {
    let (uuid, number) = (uuid_of(&known.source), known.last());
    let waited = Stopwatch::start();
    let datadir = known.place("looked_at");
    loop {
        let words = [&until(&uuid, number)[..], words].concat();
        match restore_in(from, &datadir, &words, &s3.environment()) {
            Ok(()) => break,
            Err(error) => {
                let is_late = error.contains("end before the point") || error.contains("it is no backup");
                assert!(is_late, "{error}");
            }
        }
        assert!(waited.elapsed() < SOON, "transaction {number} is not shipped");
        sleep(Duration::from_millis(50));
    }
    std::fs::remove_dir_all(&datadir).expect("it was restored there");
}

#[test]
fn a_restore_from_an_object_store_has_the_rows_of_its_moment() {
    let test = "a_restore_from_an_object_store_has_the_rows_of_its_moment";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.change(20);
    let to = s3.url("a/b");
    backup(&known, &s3, &to, &["--compress"]);
    let first = known.last();
    for _ in 0..2 {
        known.change(15);
        backup(&known, &s3, &to, &["--incremental", "--compress=1"]);
    }
    let last = known.last();
    let (uuid, mut target) = (uuid_of(&known.source), target());
    assert_eq!(restored_to(&mut target, &to, &s3), (last, known.states[&last].clone()));
    for _ in 0..4 {
        let number = known.rng.between(first, last);
        let rows = restored_in(&mut target, &to, &until(&uuid, number), &s3.environment());
        assert_eq!(rows, known.states[&number], "{number} of {first}..{last}");
    }
    let again = known.try_backup(&to, &[], &s3.environment());
    assert!(String::from_utf8_lossy(&again.stderr).contains("has a backup already"));
    let nowhere = restore_in(&s3.url("nowhere"), &known.place("x"), &[], &s3.environment()).unwrap_err();
    assert!(nowhere.contains("it is no backup"), "{nowhere}");
    let left: Vec<_> = std::fs::read_dir(staging(&known))
        .expect("the directory for the server's copy")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    assert!(left.is_empty(), "the copies on this machine are gone: {left:?}");
}

#[test]
fn the_log_is_shipped_while_the_server_is_killed_and_the_backup_is_killed() {
    let test = "the_log_is_shipped_while_the_server_is_killed_and_the_backup_is_killed";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.change(5);
    let to = s3.url("followed");
    let first = known.last();
    let follow = |known: &Known| follow(known, &s3, &to, &["--compress"]);
    let mut shipping = follow(&known);
    wait_until_shipped(&known, &to, &[], &s3);
    for _ in 0..testkit::times("SLIPSTREAM_SHIPPING_KILLS", 6) {
        let count = known.rng.between(1, 12);
        known.change(count);
        match known.rng.below(3) {
            0 => {
                known.source.kill();
                known.source.come_back();
            }
            1 => {
                shipping.kill();
                shipping = follow(&known);
            }
            _ => assert!(shipping.ended().is_none(), "it goes on"),
        }
        known.change(3);
    }
    wait_until_shipped(&known, &to, &[], &s3);
    let status = shipping.terminate();
    assert!(status.success(), "{status}");
    let (last, uuid, mut target) = (known.last(), uuid_of(&known.source), target());
    assert_eq!(restored_to(&mut target, &to, &s3), (last, known.states[&last].clone()));
    for _ in 0..3 {
        let number = known.rng.between(first, last);
        let rows = restored_in(&mut target, &to, &until(&uuid, number), &s3.environment());
        assert_eq!(rows, known.states[&number], "{number} of {first}..{last}");
    }
}

#[test]
fn a_killed_backup_leaves_the_backup_as_it_was() {
    let test = "a_killed_backup_leaves_the_backup_as_it_was";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.change(10);
    let to = s3.url("killed");
    let staging = staging(&known);
    backup(&known, &s3, &to, &[]);
    let mut target = target();
    // The store may still carry out the last request of a backup that was killed. So what it
    // restores counts only if the manifest is the same before and behind.
    let mut settled = || loop {
        let manifest = s3.e_tag("killed/manifest.json");
        let restored = restored_to(&mut target, &to, &s3);
        if s3.e_tag("killed/manifest.json") == manifest {
            return (manifest, restored);
        }
    };
    let (mut before, (mut last, _)) = settled();
    for round in 0..testkit::times("SLIPSTREAM_BACKUP_KILLS", 8) {
        known.change(6);
        let full = ["--keep-full", "2", "--staging", &staging];
        let words: &[&str] = if round % 2 == 0 { &["--incremental"] } else { &full };
        let running = Running::start(&mut known.backup_command(&to, words, &s3.environment()));
        sleep(Duration::from_millis(known.rng.below(600)));
        running.kill();
        let (after, (number, rows)) = settled();
        if after == before {
            assert_eq!((number, &rows), (last, &known.states[&last]), "round {round}: it is as it was");
        } else {
            assert!(number >= last, "round {round}: {number} after {last}");
            assert_eq!(rows, known.states[&number], "round {round}");
        }
        (before, last) = (after, number);
    }
    backup(&known, &s3, &to, &["--incremental"]);
    let (_, restored) = settled();
    let end = known.last();
    assert_eq!(restored, (end, known.states[&end].clone()));
}

#[test]
fn full_backups_that_are_too_many_go_with_the_log_that_only_they_need() {
    let test = "full_backups_that_are_too_many_go_with_the_log_that_only_they_need";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    let directory = known.place("kept").display().to_string();
    for to in [s3.url("kept"), directory] {
        let (mut fulls, mut seen) = (Vec::new(), 0);
        for _ in 0..4 {
            known.change(10);
            known.source.run("FLUSH BINARY LOGS");
            known.change(4);
            backup(&known, &s3, &to, &["--keep-full", "2", "--compress"]);
            fulls.push(known.last());
            known.change(4);
            backup(&known, &s3, &to, &["--incremental", "--compress"]);
            if to.starts_with("s3") {
                let keys = s3.keys("kept/logs/");
                seen = seen.max(keys.len());
                assert!(keys.len() < 20, "{keys:?}");
            }
        }
        let (uuid, mut target, last) = (uuid_of(&known.source), target(), known.last());
        for number in [fulls[2], fulls[2] + 1, fulls[3], last] {
            let rows = restored_in(&mut target, &to, &until(&uuid, number), &s3.environment());
            assert_eq!(rows, known.states[&number], "{to}: {number}, full backups at {fulls:?}");
        }
        let purged = target.rows("SELECT @@GLOBAL.gtid_purged");
        assert_eq!(purged, [format!("{uuid}:1-{}", fulls[3])], "the newest copy that serves is taken");
        let words = until(&uuid, fulls[2] - 1);
        let early = restore_in(&to, &known.place("early"), &words, &s3.environment()).unwrap_err();
        assert!(early.contains("later than the point"), "{early}");
        if to.starts_with("s3") {
            let mut copies: Vec<String> = s3
                .keys("kept/data-")
                .iter()
                .filter_map(|key| key.split('/').nth(1).map(str::to_owned))
                .collect();
            copies.dedup();
            assert_eq!(copies.len(), 2, "{copies:?}");
        } else {
            let names: Vec<_> = std::fs::read_dir(&to)
                .expect("the backup")
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| name.starts_with("data"))
                .collect();
            assert_eq!(names.len(), 2, "{names:?}");
        }
    }
}

#[test]
fn an_encrypted_backup_is_restored_with_its_key_only() {
    let test = "an_encrypted_backup_is_restored_with_its_key_only";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.source.run("CREATE TABLE d.plaintext_marker (v VARCHAR(100))");
    known.source.run("INSERT INTO d.plaintext_marker VALUES ('no eye may read this')");
    let key = |name: &str, content: &str| {
        let path = known.place(name);
        os::disk::real().write_secret_atomically(&path, content.as_bytes()).expect("written");
        path.display().to_string()
    };
    let (right, wrong) = (key("right", &"0123456789abcdef".repeat(4)), key("wrong", &"00".repeat(32)));
    let directory = known.place("secret").display().to_string();
    for to in [s3.url("secret"), directory.clone()] {
        known.change(10);
        backup(&known, &s3, &to, &["--encrypt", &right]);
        known.change(10);
        backup(&known, &s3, &to, &["--incremental", "--compress", "--encrypt", &right]);
        let last = known.last();
        let refused = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            restore_in(&to, &known.place("refused"), &words, &s3.environment()).unwrap_err()
        };
        assert!(refused(&[]).contains("is encrypted: the file with its key is needed"));
        assert!(refused(&["--decrypt", &wrong]).contains("is encrypted with another key"));
        for words in [&["--incremental"][..], &["--incremental", "--encrypt", &wrong]] {
            let output = known.try_backup(&to, words, &s3.environment());
            assert!(String::from_utf8_lossy(&output.stderr).contains("is encrypted"), "{words:?}");
        }
        let words = ["--decrypt".to_owned(), right.clone()];
        let rows = restored_in(&mut target(), &to, &words, &s3.environment());
        assert_eq!(rows, known.states[&last], "{to}");
    }
    let found = std::process::Command::new("grep")
        .args(["-rlaE", "no eye may read|plaintext_marker", &directory])
        .output()
        .expect("grep runs");
    // The paths of files hold the names of tables; their contents do not.
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "no file holds what is encrypted");
}

#[test]
fn a_replica_made_from_the_store_follows_a_source_that_has_purged_its_log() {
    let test = "a_replica_made_from_the_store_follows_a_source_that_has_purged_its_log";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.change(10);
    let to = s3.url("replica");
    let shipping = follow(&known, &s3, &to, &[]);
    wait_until_shipped(&known, &to, &[], &s3);
    known.change(20);
    known.source.run("FLUSH BINARY LOGS");
    known.change(5);
    wait_until_shipped(&known, &to, &[], &s3);
    // What lies between the full backup and this file is in the store alone now.
    let file = known.source.position().file;
    known.source.run(&format!("PURGE BINARY LOGS TO '{file}'"));
    known.change(10);
    let mut replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    restored_in(&mut replica, &to, &[], &s3.environment());
    replica.follow(Flavor::Slipstream, known.source.port(), &StartFrom::Gtid);
    known.change(10);
    replica.catch_up(&known.source);
    assert_eq!(rows_of(&replica), known.rows);
    let executed = "SELECT @@GLOBAL.gtid_executed";
    assert_eq!(replica.rows(executed), known.source.rows(executed));
    assert!(shipping.terminate().success());
}

#[test]
fn runs_that_add_to_a_backup_at_the_same_time_lose_nothing() {
    let test = "runs_that_add_to_a_backup_at_the_same_time_lose_nothing";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    let directory = known.place("shared").display().to_string();
    for to in [s3.url("shared"), directory] {
        known.change(5);
        let first = known.last();
        let shipping = follow(&known, &s3, &to, &["--compress"]);
        wait_until_shipped(&known, &to, &[], &s3);
        let mut fulls = Vec::new();
        let places: Vec<String> = (0..3).map(|number| staging_of(&known, number)).collect();
        for round in 0..4 {
            let commands: [&[&str]; 3] = [
                &["--incremental", "--staging", &places[0]],
                &["--incremental", "--compress", "--staging", &places[1]],
                &["--keep-full", "9", "--staging", &places[2]],
            ];
            let started = commands.map(|words| known.backup_command(&to, words, &s3.environment())).map(
                |mut command| command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs"),
            );
            known.change(10);
            for run in started {
                let output = run.wait_with_output().expect("it ends");
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{to}, round {round}: {said}");
                let summary = String::from_utf8_lossy(&output.stdout).into_owned();
                fulls.extend(summary.split_once("GTIDs: ").map(|(_, gtids)| gtids.trim().to_owned()));
            }
        }
        wait_until_shipped(&known, &to, &[], &s3);
        assert!(shipping.terminate().success(), "{to}");
        let (last, uuid, mut target) = (known.last(), uuid_of(&known.source), target());
        assert_eq!(restored_to(&mut target, &to, &s3), (last, known.states[&last].clone()), "{to}");
        assert_eq!(fulls.len(), 4, "{fulls:?}");
        for point in fulls {
            let words = ["--until".to_owned(), point.clone()];
            let rows = restored_in(&mut target, &to, &words, &s3.environment());
            let number: u64 = point.rsplit('-').next().and_then(|text| text.parse().ok()).expect("a number");
            assert_eq!(rows, known.states[&number], "{to}: {number} of {first}..{last} at {uuid}");
            // Any copy and the log lead to the point. That the copy itself is not lost shows in
            // the log of the restored server, which begins behind it.
            assert_eq!(target.rows("SELECT @@GLOBAL.gtid_purged"), [point], "{to}");
        }
    }
}

#[test]
fn a_store_that_cannot_be_reached_is_waited_for() {
    let test = "a_store_that_cannot_be_reached_is_waited_for";
    let Some(s3) = S3::start(test) else { return };
    let mut known = Known::start(test_seed(test), &Settings::default());
    known.change(5);
    let (to, proxy) = (s3.url("unreachable"), Proxy::start(s3.port()));
    let words = ["--follow", "--staging", &staging(&known)].map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut shipping =
        Running::start(&mut known.backup_command(&to, &words, &s3.environment_by(proxy.port())));
    wait_until_shipped(&known, &to, &[], &s3);
    for _ in 0..4 {
        proxy.refuse(known.rng.one_in(2));
        proxy.cut();
        known.change(6);
        sleep(Duration::from_millis(known.rng.below(400)));
        proxy.refuse(false);
        proxy.cut_after(known.rng.below(2000));
        known.change(6);
        wait_until_shipped(&known, &to, &[], &s3);
        assert!(shipping.ended().is_none(), "it goes on");
    }
    assert!(shipping.terminate().success());
    let last = known.last();
    assert_eq!(restored_to(&mut target(), &to, &s3), (last, known.states[&last].clone()));
}

#[test]
fn a_server_that_has_lost_what_was_shipped_is_not_followed() {
    let mut known = Known::start(3, &Settings::default());
    known.change(5);
    let to = known.place("lost").display().to_string();
    let mut command = known.backup_command(&to, &["--follow"], &[]);
    let running = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    let (first, uuid) = (known.last(), uuid_of(&known.source));
    let waited = Stopwatch::start();
    while !known.place("lost").join("manifest.json").exists() {
        assert!(waited.elapsed() < SOON, "there is no backup");
        sleep(Duration::from_millis(20));
    }
    (0..5).for_each(|id| drop(known.source.run(&format!("REPLACE INTO d.t (id, v) VALUES ({id}, 'x')"))));
    let point = until(&uuid, known.last());
    while restore_in(&to, &known.place("looked_at"), &point, &[]).is_err() {
        assert!(waited.elapsed() < SOON, "the log is not shipped");
        sleep(Duration::from_millis(50));
    }
    // As after a crash that took the last transactions: what the full backup has is there.
    known.source.run("RESET BINARY LOGS AND GTIDS");
    known.source.run(&format!("SET GLOBAL gtid_purged = '{uuid}:1-{first}'"));
    (0..200).for_each(|id| drop(known.source.run(&format!("REPLACE INTO d.t (id, v) VALUES ({id}, 'y')"))));
    known.source.kill();
    known.source.come_back();
    let output = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("a full backup is needed"), "{said}");
}

#[test]
fn files_that_go_in_several_parts_come_back() {
    let test = "files_that_go_in_several_parts_come_back";
    let Some(s3) = S3::start(test) else { return };
    let known = Known::start(test_seed(test), &Settings::default());
    known.source.run("CREATE TABLE d.large (id INT PRIMARY KEY, v LONGBLOB)");
    let fill = |known: &Known, ids: std::ops::Range<u32>| {
        let rows: Vec<String> = ids.map(|id| format!("({id}, RANDOM_BYTES(1024))")).collect();
        known.source.run(&format!("INSERT INTO d.large VALUES {}", rows.join(", ")));
    };
    (0..10).for_each(|piece| fill(&known, piece * 1000..(piece + 1) * 1000));
    let key = known.place("key");
    os::disk::real().write_atomically(&key, &[7; 32]).expect("written");
    let key = key.display().to_string();
    let to = s3.url("large");
    backup(&known, &s3, &to, &["--compress", "--encrypt", &key]);
    // One transaction that is longer than a part.
    fill(&known, 20_000..32_000);
    known.source.run("DELETE FROM d.large WHERE id < 5");
    backup(&known, &s3, &to, &["--incremental", "--encrypt", &key]);
    let mut target = target();
    restored_in(&mut target, &to, &["--decrypt".to_owned(), key], &s3.environment());
    let sums = "SELECT COUNT(*), BIT_XOR(CRC32(CONCAT(id, v))) FROM d.large";
    assert_eq!(target.rows(sums), known.source.rows(sums));
}

#[test]
fn places_that_are_none_are_refused() {
    for (to, why) in [
        ("http://bucket/x", "'http' is none of file, s3, gs and az"),
        ("s3:///x", "the form is s3://BUCKET/PREFIX"),
        ("file://host/x", "the form is file:///PATH"),
    ] {
        let words = ["backup", "mysql://root@localhost/", "--to", to].map(str::to_owned);
        let output = slipstream(&words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(why), "{to}: {said}");
    }
}
