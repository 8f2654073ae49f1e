//! Measures what a record costs on this machine: a fill alone, a wait for the write, a wait for the
//! sync, many clients sharing syncs, and, for comparison, the bare system calls. The program prints
//! figures and asserts nothing. `cargo run --release -p redo --example cost`

use std::path::Path;
use std::sync::Arc;

use os::account::{self, State};
use os::clock::{Stopwatch, thread_cpu_ns};
use os::disk::{Disk, OpenMode};
use redo::{Log, LogConfig, Lsn, kind};

const PAYLOAD: [u8; 400] = [7; 400];

fn append(log: &Log) -> Lsn {
    log.free_check();
    log.reserve(PAYLOAD.len() as u64).expect("it fits").fill(kind::COMMIT, &[&PAYLOAD])
}

fn measure(name: &str, times: u64, mut run: impl FnMut()) {
    let (since, cpu_ns) = (Stopwatch::start(), thread_cpu_ns());
    (0..times).for_each(|_| run());
    let (wall_ns, cpu_ns) = (since.elapsed_ns() / times, (thread_cpu_ns() - cpu_ns) / times);
    println!("{name:<28} {wall_ns:>8} ns wall {cpu_ns:>8} ns CPU");
}

fn share_syncs(log: &Arc<Log>, clients: u64) {
    let each = 20_000 / clients;
    let (since, syncs) = (Stopwatch::start(), log.status().syncs);
    let client = |_| {
        let log = Arc::clone(log);
        os::thread::spawn("client", move || {
            (0..each).for_each(|_| log.wait_durable(append(&log)).expect("the disk works"));
        })
    };
    let clients_running: Vec<_> = (0..clients).map(client).collect();
    clients_running.into_iter().for_each(|client| client.join().expect("no panic"));
    let commits = each * clients;
    let (rate, group) =
        (commits * 1_000_000_000 / since.elapsed_ns(), commits as f64 / (log.status().syncs - syncs) as f64);
    println!("{clients:>4} clients, durable: {rate:>7} commits a second, {group:.1} a sync");
}

fn bare_calls(disk: &dyn Disk, path: &Path) {
    let file = disk.open(path, OpenMode::CreateNew).expect("a new file");
    file.write_all_at(&vec![0; 8 << 20], 0).and_then(|()| file.sync_data()).expect("space for 8 MB");
    let mut offset = 0;
    measure("bare write + fdatasync", 5000, || {
        file.write_all_at(&PAYLOAD, offset).and_then(|()| file.sync_data()).expect("the disk works");
        offset += 416;
    });
}

fn main() {
    let dir = std::env::temp_dir().join(format!("slipstream-log-cost-{:016x}", os::random::u64()));
    let disk = os::disk::real();
    disk.create_dir_all(&dir).expect("a temporary directory");
    let config = LogConfig { capacity_bytes: 1 << 30, buffer_bytes: 16 << 20, ..LogConfig::new(&dir) };
    let log = Log::create(Arc::clone(&disk), config).expect("an empty directory");
    let (weak, (ask, asked)) = (Arc::downgrade(&log), std::sync::mpsc::channel());
    log.on_space_needed(Box::new(move || {
        let _ = ask.send(());
    }));
    os::thread::spawn("checkpointer", move || {
        while asked.recv().is_ok() {
            let Some(log) = weak.upgrade() else { return };
            log.write_checkpoint(log.current_lsn(), b"").expect("the disk works");
        }
    });
    measure("fill 400 bytes, cold", 200_000, || {
        append(&log);
    });
    measure("fill 400 bytes", 1_000_000, || {
        append(&log);
    });
    measure("fill + request_durable", 500_000, || log.request_durable(append(&log)));
    measure("fill + wait_written", 200_000, || log.wait_written(append(&log)).expect("the disk works"));
    measure("fill + wait_durable", 10_000, || log.wait_durable(append(&log)).expect("the disk works"));
    bare_calls(&*disk, &dir.join("bare"));
    [2, 8, 32, 128].into_iter().for_each(|clients| share_syncs(&log, clients));
    measure("account: enter and leave", 1_000_000, || drop(account::enter(State::Parse)));
    measure("account: a blocking state", 1_000_000, || drop(account::enter(State::LogSync)));
    println!("{:?}", log.status());
    drop(log);
    disk.remove_dir_all(&dir).expect("it is ours");
}
