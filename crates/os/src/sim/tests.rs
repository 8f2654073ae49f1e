use std::path::Path;

use super::*;
use crate::random::test_seed;

fn file(disk: &SimDisk, path: &str, mode: OpenMode) -> Arc<dyn File> {
    disk.open(Path::new(path), mode).expect("the file opens")
}

#[test]
fn synced_bytes_and_names_survive_every_cut() {
    let seed = test_seed("synced_bytes_and_names_survive_every_cut");
    for round in 0..50 {
        let disk = SimDisk::new(seed.wrapping_add(round));
        disk.create_dir_all(Path::new("/d/e")).unwrap();
        disk.sync_dir(Path::new("/")).unwrap();
        disk.sync_dir(Path::new("/d")).unwrap();
        let kept = file(&disk, "/d/e/kept", OpenMode::CreateNew);
        kept.write_all_at(&[7; 2000], 0).unwrap();
        kept.sync_data().unwrap();
        disk.sync_dir(Path::new("/d/e")).unwrap();
        kept.write_all_at(&[9; 3000], 1000).unwrap();
        let after = disk.power_cut();
        assert!(kept.write_all_at(b"x", 0).is_err() && kept.sync_data().is_err());
        let bytes = after.read(Path::new("/d/e/kept")).unwrap();
        assert!(bytes[..1000].iter().all(|&byte| byte == 7));
        assert!(bytes.len() == 2000 || bytes.len() <= 4000);
        for (index, sector) in bytes.chunks(SECTOR).enumerate() {
            if index == 1000 / SECTOR || index == 2000 / SECTOR {
                continue; // A sector where a write begins or ends may hold two values.
            }
            assert!(sector.iter().all(|&byte| byte == sector[0]), "a sector is torn");
        }
    }
}

const SECTOR: usize = 512;

#[test]
fn unsynced_changes_are_lost_kept_and_torn_over_many_cuts() {
    let seed = test_seed("unsynced_changes_are_lost_kept_and_torn_over_many_cuts");
    let (mut lost, mut kept, mut torn, mut nameless) = (0, 0, 0, 0);
    for round in 0..200 {
        let disk = SimDisk::new(seed.wrapping_add(round));
        let written = file(&disk, "f", OpenMode::CreateNew);
        written.set_len(4096).unwrap();
        written.sync_data().unwrap();
        disk.sync_dir(Path::new("")).unwrap();
        written.write_all_at(&[5; 4096], 0).unwrap();
        file(&disk, "g", OpenMode::CreateNew);
        let after = disk.power_cut();
        nameless += u32::from(!after.exists(Path::new("g")).unwrap());
        match after.read(Path::new("f")).unwrap().iter().filter(|&&byte| byte == 5).count() {
            0 => lost += 1,
            4096 => kept += 1,
            _ => torn += 1,
        }
    }
    assert!(lost > 0 && kept > 0 && torn > 0, "lost {lost}, kept {kept}, torn {torn}");
    assert!(nameless > 0 && nameless < 200, "{nameless}");
}

#[test]
fn an_atomic_write_is_old_or_new_wherever_the_power_goes() {
    let seed = test_seed("an_atomic_write_is_old_or_new_wherever_the_power_goes");
    let path = Path::new("state");
    for round in 0..100 {
        let disk = SimDisk::new(seed.wrapping_add(round));
        disk.write_atomically(path, &[1; 5000]).unwrap();
        disk.cut_power_after(round % 7);
        let finished = disk.write_atomically(path, &[2; 7000]).is_ok();
        let left = disk.power_cut().read(path).unwrap();
        assert!(left == [2; 7000] || (!finished && left == [1; 5000]), "round {round}");
    }
}

#[test]
fn a_failed_sync_loses_what_was_not_synced_for_good() {
    let disk = SimDisk::new(1);
    let written = file(&disk, "ib_redo1", OpenMode::CreateNew);
    disk.sync_dir(Path::new("")).unwrap();
    written.write_all_at(b"data", 0).unwrap();
    disk.fail_sync("ib_redo");
    assert!(written.sync_data().is_err());
    written.sync_data().unwrap();
    assert_eq!(disk.read(Path::new("ib_redo1")).unwrap(), b"data");
    assert_eq!(disk.power_cut().read(Path::new("ib_redo1")).unwrap(), b"");
}

#[test]
fn space_bit_flips_locks_and_the_stop() {
    let disk = SimDisk::new(2);
    let written = file(&disk, "f", OpenMode::OpenOrCreate);
    disk.limit_space(Some(10));
    written.write_all_at(&[0; 10], 0).unwrap();
    assert_eq!(written.write_all_at(&[0; 1], 10).unwrap_err().kind(), io::ErrorKind::StorageFull);
    disk.flip_bit(Path::new("f"), 9);
    assert_eq!(disk.read(Path::new("f")).unwrap()[1], 2);
    let held = disk.lock(Path::new("lock")).unwrap();
    assert!(disk.lock(Path::new("lock")).is_err());
    drop(held);
    drop(disk.lock(Path::new("lock")).unwrap());
    disk.fail_stop("the sync failed");
    assert_eq!(disk.stopped_with().as_deref(), Some("the sync failed"));
    assert!(disk.read(Path::new("f")).is_err());
}

#[test]
fn directories_are_renamed_and_removed_with_what_is_in_them() {
    let disk = SimDisk::new(3);
    disk.create_dir_all(Path::new("/a/b")).unwrap();
    file(&disk, "/a/b/f", OpenMode::CreateNew).write_all_at(b"x", 0).unwrap();
    disk.rename(Path::new("/a/b"), Path::new("/a/c")).unwrap();
    assert_eq!(disk.list(Path::new("/a")).unwrap(), vec![PathBuf::from("/a/c")]);
    assert_eq!(disk.read(Path::new("/a/c/f")).unwrap(), b"x");
    disk.remove_dir_all(Path::new("/a")).unwrap();
    assert!(!disk.exists(Path::new("/a/c/f")).unwrap() && !disk.is_dir(Path::new("/a")).unwrap());
    assert!(disk.open(Path::new("/a/g"), OpenMode::OpenOrCreate).is_err(), "its directory is gone");
}

#[test]
fn the_order_in_which_directories_are_synced_does_not_matter() {
    for dirs in [["/", "/d"], ["/d", "/"]] {
        let disk = SimDisk::new(4);
        disk.create_dir_all(Path::new("/d")).unwrap();
        file(&disk, "/d/f", OpenMode::CreateNew);
        for dir in dirs {
            disk.sync_dir(Path::new(dir)).unwrap();
        }
        assert!(disk.power_cut().exists(Path::new("/d/f")).unwrap(), "{dirs:?}");
    }
}

#[test]
fn names_synced_before_their_directories_are_there_once_those_are() {
    let dirs = ["/", "/a", "/a/b"];
    for [first, second, third] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let disk = SimDisk::new(6);
        disk.create_dir_all(Path::new("/a/b")).unwrap();
        file(&disk, "/a/b/f", OpenMode::CreateNew);
        file(&disk, "/a/b/gone", OpenMode::CreateNew);
        for dir in [first, second, third] {
            assert!(!survives_every_cut(&disk, "/a/b/f"), "before {} is synced", dirs[dir]);
            disk.sync_dir(Path::new(dirs[dir])).unwrap();
        }
        assert!(survives_every_cut(&disk, "/a/b/f"));
        disk.remove(Path::new("/a/b/gone")).unwrap();
        disk.rename(Path::new("/a/b/f"), Path::new("/a/b/g")).unwrap();
        disk.sync_dir(Path::new("/a/b")).unwrap();
        for _ in 0..20 {
            let after = disk.if_power_went();
            assert_eq!(after.list(Path::new("/a/b")).unwrap(), [PathBuf::from("/a/b/g")]);
        }
    }
}

fn survives_every_cut(disk: &SimDisk, path: &str) -> bool {
    (0..40).all(|_| disk.if_power_went().exists(Path::new(path)).unwrap())
}

#[test]
fn a_visitor_sees_the_disk_before_each_change_and_what_a_cut_would_leave() {
    let disk = SimDisk::new(7);
    let written = file(&disk, "f", OpenMode::CreateNew);
    written.write_all_at(&[1; 100], 0).unwrap();
    written.sync_data().unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let visited = Arc::clone(&seen);
    disk.before_each_change(move |disk| {
        let left = disk.if_power_went().read(Path::new("f")).unwrap();
        visited.lock().push((disk.changes(), left.len()));
    });
    let before = disk.changes();
    written.write_all_at(&[2; 100], 100).unwrap();
    written.sync_data().unwrap();
    written.set_len(50).unwrap();
    let seen = seen.lock().clone();
    assert_eq!(seen.iter().map(|(changes, _)| changes - before).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(seen[0].1, 100);
    assert!(seen[1].1 == 100 || seen[1].1 == 200, "the write may have arrived");
    assert_eq!(seen[2].1, 200);
}

#[test]
fn a_killed_process_loses_nothing_until_the_power_goes() {
    let disk = SimDisk::new(5);
    let written = file(&disk, "f", OpenMode::CreateNew);
    disk.sync_dir(Path::new("")).unwrap();
    written.write_all_at(b"data", 0).unwrap();
    disk.fail_sync("f");
    assert!(written.sync_data().is_err());
    let next = disk.kill();
    assert!(written.write_all_at(b"x", 0).is_err());
    assert_eq!(next.read(Path::new("f")).unwrap(), b"data");
    assert_eq!(next.power_cut().read(Path::new("f")).unwrap(), b"", "its sync had failed");
}
