//! Tests of the buffer pool's variables and status figures through SQL.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::Server;

/// Returns the second column of a SHOW for one name.
fn shown(client: &mut Client, what: &str, name: &str) -> Option<String> {
    client.query(&format!("SHOW GLOBAL {what} LIKE '{name}'")).expect("it is known").cell(0, 1)
}

#[test]
fn the_pool_is_set_up_changed_and_warmed_through_sql() {
    let extra =
        ["--innodb-buffer-pool-instances=2", "--innodb-page-cleaners=4", "--innodb-flush-method=O_DIRECT"];
    let settings = Settings { extra: extra.map(str::to_owned).into(), ..Settings::default() };
    let mut server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    // MySQL allows at most as many cleaners as instances, and so does Slipstream.
    assert_eq!(shown(&mut client, "VARIABLES", "innodb_page_cleaners").as_deref(), Some("2"));
    server.run("CREATE DATABASE b");
    server.run("CREATE TABLE b.t (id INT PRIMARY KEY, v INT)");
    for id in 0..50 {
        server.run(&format!("INSERT INTO b.t VALUES ({id}, 0)"));
    }
    for mode in ["LEGACY", "OFF", "DETECT_ONLY", "AUTO", "DETECT_AND_RECOVER", "PARALLEL", "ON"] {
        server.run(&format!("SET GLOBAL innodb_doublewrite = '{mode}'"));
        assert_eq!(shown(&mut client, "VARIABLES", "innodb_doublewrite").as_deref(), Some(mode));
        server.run("UPDATE b.t SET v = v + 1");
    }
    for (name, value) in [
        ("innodb_io_capacity", "500"),
        ("innodb_io_capacity_max", "700"),
        ("innodb_lru_scan_depth", "200"),
        ("innodb_adaptive_flushing", "OFF"),
        ("innodb_adaptive_flushing_lwm", "20"),
        ("innodb_flush_neighbors", "1"),
        ("innodb_flush_sync", "OFF"),
        ("innodb_lru_flushers", "OFF"),
        ("innodb_max_dirty_pages_pct", "50.000000"),
        ("innodb_max_dirty_pages_pct_lwm", "5.000000"),
        ("innodb_old_blocks_pct", "50"),
        ("innodb_old_blocks_time", "0"),
        ("innodb_random_read_ahead", "ON"),
        ("innodb_read_ahead_threshold", "32"),
        ("innodb_single_page_flush", "OFF"),
        ("innodb_buffer_pool_dump_pct", "100"),
    ] {
        server.run(&format!("SET GLOBAL {name} = {value}"));
        assert_eq!(shown(&mut client, "VARIABLES", name).as_deref(), Some(value), "{name}");
    }
    server.run("SET GLOBAL innodb_buffer_pool_dump_now = ON");
    assert_eq!(shown(&mut client, "VARIABLES", "innodb_buffer_pool_dump_now").as_deref(), Some("OFF"));
    let dumped = shown(&mut client, "STATUS", "Innodb_buffer_pool_dump_status").expect("it is known");
    assert!(dumped.starts_with("Buffer pool(s) dump completed at "), "{dumped}");
    let requests = shown(&mut client, "STATUS", "Innodb_buffer_pool_read_requests").expect("it is known");
    assert!(requests.parse::<u64>().expect("a number") > 0);
    server.shut_down();
    server.come_back();
    let mut client = server.connect();
    server.run("SET GLOBAL innodb_buffer_pool_load_now = ON");
    let watch = os::clock::Stopwatch::start();
    loop {
        let loaded = shown(&mut client, "STATUS", "Innodb_buffer_pool_load_status").expect("it is known");
        if loaded.starts_with("Buffer pool(s) load completed at ") {
            break;
        }
        assert!(watch.elapsed_ms() < 60_000, "the load never ends: {loaded}");
        os::clock::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(server.rows("SELECT COUNT(*), SUM(v) FROM b.t"), ["50\t350"]);
}
