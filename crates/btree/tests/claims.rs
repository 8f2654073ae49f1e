//! Tests with power cuts while trees under a claim are built, become part of a "dictionary" and are
//! freed: no page is ever lost, and none is freed twice.

mod harness;

use std::path::Path;
use std::sync::Arc;

use btree::{BuildOptions, Change, SortedBuild, Tree, claimed, make_durable, validate};
use buffer::{Pool, RecordLsn};
use harness::{SPACE, datadir, log_config, pool_config, space_path};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::{Checkpoint, Log};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The indexes that the dictionary has: their ids and root pages. A change of the dictionary counts
/// once the log is durable, as with the engine's commit record.
type Dictionary = Vec<(u32, u32)>;

fn key(number: u64) -> [u8; 8] {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// Builds an index, inserts single entries and puts the index into the dictionary, or gives the
/// build up and frees the tree.
fn build(pool: &Arc<Pool>, rng: &mut Rng, dictionary: &mut Dictionary, index_id: u32) -> Outcome {
    let tree = claimed::create(pool, SPACE, index_id)?;
    let mut keys: Vec<[u8; 8]> = (0..rng.below(6000)).map(key).collect();
    keys.sort_unstable();
    let fill_factor = rng.between(10, 100) as u8;
    let mut build = SortedBuild::new(&tree, BuildOptions { fill_factor, claim: Some(index_id) })?;
    let given_up_at = if rng.one_in(4) { rng.below(6000) as usize } else { usize::MAX };
    for key in keys.iter().take(given_up_at) {
        build.push(key, b"value")?;
    }
    if given_up_at < keys.len() {
        drop(build);
        let claims = pool.claims(SPACE)?;
        let claim = *claims.iter().find(|claim| claim.index_id == index_id).expect("it is being built");
        return Ok(claimed::free(pool, SPACE, claim)?);
    }
    build.finish()?;
    make_durable(pool, SPACE)?;
    pool.claim_becomes_tree(SPACE, index_id)?;
    for number in 10_000..10_000 + rng.below(300) {
        tree.modify(&key(number), RecordLsn::UNLOGGED, |_| Change::put(vec![1; 20]))?;
    }
    make_durable(pool, SPACE)?;
    pool.log().wait_durable(pool.log().current_lsn())?;
    dictionary.push((index_id, tree.root_page()));
    Ok(pool.release_claim(SPACE, index_id)?)
}

/// Drops an index.
fn free(pool: &Arc<Pool>, dictionary: &mut Dictionary, at: usize) -> Outcome {
    let (index_id, root) = dictionary[at];
    pool.claim_tree(SPACE, index_id, root)?;
    pool.log().wait_durable(pool.log().current_lsn())?;
    dictionary.swap_remove(at);
    let claims = pool.claims(SPACE)?;
    let claim = *claims.iter().find(|claim| claim.index_id == index_id).expect("just made");
    Ok(claimed::free(pool, SPACE, claim)?)
}

fn live(pool: &Arc<Pool>, rng: &mut Rng, dictionary: &mut Dictionary, next_id: &mut u32) -> Outcome {
    loop {
        if rng.one_in(3) && !dictionary.is_empty() {
            free(pool, dictionary, rng.below(dictionary.len() as u64) as usize)?;
        } else {
            *next_id += 1;
            build(pool, rng, dictionary, *next_id)?;
        }
        if rng.one_in(4) {
            pool.flush_all()?;
            pool.log().write_checkpoint(pool.checkpoint_lsn(|| None), b"state")?;
        }
    }
}

/// Recovers as the engine does: it replays structure records, then settles each claim by the
/// dictionary.
fn recover(disk: &SimDisk, dictionary: &Dictionary) -> Result<Arc<Pool>, Box<dyn std::error::Error>> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let (log, Checkpoint { lsn, .. }) = Log::open(Arc::clone(&disk), log_config())?;
    let end = log.current_lsn();
    let pool = Pool::open(disk, Arc::clone(&log), pool_config(4096, 128))?;
    assert_eq!(pool.open_space(&space_path())?, SPACE);
    let mut reader = log.read_from(lsn);
    while let Some(record) = reader.next(None)?.filter(|record| record.start_lsn < end) {
        pool.replay(record.start_lsn, record.lsn, &record.payload)?;
    }
    for claim in pool.claims(SPACE)? {
        if dictionary.iter().any(|&(id, _)| id == claim.index_id) {
            pool.release_claim(SPACE, claim.index_id)?;
        } else {
            claimed::free(&pool, SPACE, claim)?;
        }
    }
    Ok(pool)
}

/// Checks that every page of the space is page 0, in a tree of the dictionary, or free.
fn account(pool: &Arc<Pool>, dictionary: &Dictionary) {
    let mut used = 1;
    for &(_, root) in dictionary {
        let stats = validate(&Tree::open(pool, SPACE, root)).expect("the tree is sound");
        used += stats.leaves + stats.inner_nodes;
    }
    let (allocated, free) = pool.space_usage(SPACE).expect("page 0");
    assert_eq!(u64::from(allocated), used + u64::from(free), "pages of the space");
    assert_eq!(pool.claims(SPACE).expect("sound"), Vec::new());
}

#[test]
fn no_page_is_lost_at_any_power_cut() {
    let mut rng = Rng::new(test_seed("claims no_page_is_lost_at_any_power_cut"));
    for _ in 0..6 {
        let mut disk = SimDisk::new(rng.u64());
        let first: Arc<dyn Disk> = Arc::new(disk.clone());
        first.create_dir_all(&datadir()).expect("the disk takes a directory");
        first.sync_dir(Path::new("/")).expect("the disk is on");
        let log = Log::create(Arc::clone(&first), log_config()).expect("the log is made");
        let mut pool = Pool::open(first, log, pool_config(4096, 128)).expect("the pool opens");
        pool.create_space(SPACE, &space_path()).expect("the space is made");
        let (mut dictionary, mut next_id) = (Dictionary::new(), 0);
        for _ in 0..12 {
            disk.cut_power_after(rng.below(500));
            pool.start_cleaners();
            let ended = live(&pool, &mut rng, &mut dictionary, &mut next_id).expect_err("the power goes");
            assert!(disk.is_off(), "{ended}");
            pool.stop();
            drop(pool);
            disk = disk.power_cut();
            pool = loop {
                if rng.one_in(2) {
                    disk.cut_power_after(rng.below(60));
                }
                match recover(&disk, &dictionary) {
                    Ok(pool) if !disk.is_off() => break pool,
                    Ok(_) => {}
                    Err(error) => assert!(disk.is_off(), "recovery failed: {error}"),
                }
                disk = disk.power_cut();
            };
            disk.cut_power_after(u64::MAX);
            account(&pool, &dictionary);
        }
    }
}
