//! Tests of the flush methods: pages on a real disk, written and read through the page cache and
//! past it.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buffer::page::PageNo;
use buffer::{FlushMethod, Pool, PoolConfig};
use redo::{Log, LogConfig};
use support::{SPACE, filled_with, make_page, refill};

/// A directory that is removed when this value is dropped. It is among the build's files and hence
/// on a real disk.
struct DataDir(PathBuf);

impl DataDir {
    fn new() -> DataDir {
        let dir =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flush-method-{:016x}", os::random::u64()));
        os::disk::real().create_dir_all(&dir).expect("made");
        DataDir(dir)
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        let _ = os::disk::real().remove_dir_all(&self.0);
    }
}

fn open(dir: &DataDir, page_size: usize, method: FlushMethod, native_aio: bool) -> Arc<Pool> {
    let disk = os::disk::real();
    let log = match Log::open(Arc::clone(&disk), LogConfig::new(&dir.0)) {
        Ok((log, _)) => log,
        Err(_) => Log::create(Arc::clone(&disk), LogConfig::new(&dir.0)).expect("made"),
    };
    let mut config = PoolConfig::new(&dir.0, page_size * 200);
    config.page_size = page_size;
    config.options.flush_method = method;
    config.options.native_aio = native_aio;
    config.options.instances = 2;
    Pool::open(disk, log, config).expect("the pool opens")
}

#[test]
fn pages_go_out_and_come_back_by_every_method() {
    for (page_size, method, native_aio) in [
        (4096, FlushMethod::Direct, true),
        (16384, FlushMethod::Direct, true),
        (16384, FlushMethod::Direct, false),
        (65536, FlushMethod::DirectNoSync, true),
        (16384, FlushMethod::Fsync, true),
        (4096, FlushMethod::NoSync, false),
    ] {
        let dir = DataDir::new();
        let space = dir.0.join("t.ibd");
        let pool = open(&dir, page_size, method, native_aio);
        pool.create_space(SPACE, &space).expect("made");
        pool.start_cleaners();
        let pages: Vec<PageNo> = (0..500).map(|number| make_page(&pool, number as u8)).collect();
        for (number, &no) in pages.iter().enumerate().step_by(3) {
            refill(&pool, no, number as u8 ^ 0x55);
        }
        pool.stop();
        pool.flush_all().expect("written");
        drop(pool);
        // Another method finds the same content on disk.
        for method in [method, FlushMethod::Fsync, FlushMethod::Direct] {
            let pool = open(&dir, page_size, method, native_aio);
            pool.open_space(&space).expect("opens");
            for (number, &no) in pages.iter().enumerate() {
                let expected = if number % 3 == 0 { number as u8 ^ 0x55 } else { number as u8 };
                assert_eq!(filled_with(&pool, no).expect("readable"), expected, "{method:?} {page_size}");
            }
        }
    }
}

#[test]
fn methods_are_known_by_mysqls_names() {
    for (name, method) in [
        ("fsync", Some(FlushMethod::Fsync)),
        ("O_DSYNC", Some(FlushMethod::Fsync)),
        ("o_direct", Some(FlushMethod::Direct)),
        ("O_DIRECT_NO_FSYNC", Some(FlushMethod::DirectNoSync)),
        ("nosync", Some(FlushMethod::NoSync)),
        ("async_unbuffered", None),
    ] {
        assert_eq!(FlushMethod::named(name), method, "{name}");
    }
}
