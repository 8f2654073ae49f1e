//! Tests of the web page at `http_address`: who gets it, and what a real browser makes of it.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use bench::sbtest::{Size, Workload};
use os::clock::{Stopwatch, sleep};
use testkit::background::Background;
use testkit::browser::{BROWSER, Browser, Scheme};
use testkit::http::{Answer, address_of, exchange, get, get_with, parse};
use testkit::server::SOON;
use testkit::{Replica, Server, tool_available};

fn settings(server_id: u32, extra: &[&str]) -> Settings {
    let mut settings = Settings { server_id, ..Settings::default() };
    settings.extra.push("--http-address=127.0.0.1:0".to_owned());
    settings.extra.extend(extra.iter().map(|&option| option.to_owned()));
    settings
}

fn started(extra: &[&str]) -> (Server, SocketAddr) {
    let server = Server::start(Flavor::Slipstream, &settings(1, extra));
    let address = address_of(&server);
    (server, address)
}

fn as_user(address: SocketAddr, path: &str, user: &str, password: &str) -> Answer {
    let credentials = STANDARD.encode(format!("{user}:{password}"));
    get_with(address, path, &format!("Authorization: Basic {credentials}\r\n"))
}

fn statuses(address: SocketAddr, logins: &[(&str, &str)]) -> Vec<u16> {
    logins.iter().map(|(user, password)| as_user(address, "/", user, password).status).collect()
}

#[test]
fn only_accounts_with_the_privileges_get_the_page() {
    let (server, address) = started(&[]);
    for statement in [
        "CREATE USER all_of_it IDENTIFIED BY 'right', native IDENTIFIED WITH mysql_native_password BY 'right'",
        "CREATE USER some IDENTIFIED BY 'right', by_role IDENTIFIED BY 'right', open IDENTIFIED BY ''",
        "CREATE USER tls IDENTIFIED BY 'right' REQUIRE SSL",
        "CREATE USER locked IDENTIFIED BY 'right' ACCOUNT LOCK",
        "CREATE USER old IDENTIFIED BY 'right' PASSWORD EXPIRE",
        "CREATE ROLE watcher",
        "GRANT PROCESS, REPLICATION CLIENT ON *.* TO all_of_it, native, open, tls, locked, old, watcher",
        "GRANT PROCESS, SELECT, SUPER ON *.* TO some",
        "GRANT watcher TO by_role",
    ] {
        server.run(statement);
    }
    let asks = get(address, "/");
    assert_eq!((asks.status, get(address, "/page.json").status), (401, 401));
    assert!(asks.head.iter().any(|line| line.starts_with("WWW-Authenticate: Basic realm=\"Slipstream\"")));
    assert_eq!(get_with(address, "/", "Authorization: Bearer abc\r\n").status, 401);
    // The first login with a password takes the full check, and later ones the cached digest.
    let right = ["all_of_it", "native", "all_of_it", "native"].map(|user| (user, "right"));
    assert_eq!(statuses(address, &right), [200; 4]);
    assert_eq!(
        statuses(address, &[("open", ""), ("open", "x"), ("nobody", "x"), ("nobody", "")]),
        [200, 401, 401, 401]
    );
    let wrong = ["all_of_it", "native", "all_of_it"].map(|user| (user, "wrong"));
    assert_eq!(statuses(address, &wrong), [401; 3]);
    assert_eq!(statuses(address, &[("all_of_it", ""), ("native", "")]), [401; 2]);
    let refused = ["some", "by_role", "locked", "old"].map(|user| (user, "right"));
    assert_eq!(statuses(address, &refused), [403; 4]);
    assert_eq!(statuses(address, &[("tls", "right")]), [401]);
    // The role counts when it is active at a login, and a privilege no longer when it is gone.
    server.run("SET DEFAULT ROLE watcher TO by_role");
    assert_eq!(statuses(address, &[("by_role", "right")]), [200]);
    server.run("REVOKE PROCESS ON *.* FROM watcher");
    assert_eq!(statuses(address, &[("by_role", "right")]), [403]);
    server.run("ALTER USER all_of_it IDENTIFIED BY 'new'");
    assert_eq!(statuses(address, &[("all_of_it", "right"), ("all_of_it", "new")]), [401, 200]);
    server.run("SET GLOBAL require_secure_transport = ON");
    assert_eq!(statuses(address, &[("all_of_it", "new")]), [403]);
    assert_eq!(get(address, "/metrics").status, 200, "the page's login is the page's alone");
}

#[test]
fn wrong_passwords_count_as_those_of_connections() {
    let (server, address) = started(&[]);
    server.run("CREATE USER a IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME 1");
    server.run("GRANT PROCESS, REPLICATION CLIENT ON *.* TO a");
    let aborted = || server.rows("SHOW GLOBAL STATUS LIKE 'Aborted_connects'")[0].clone();
    let before = aborted();
    assert_eq!(statuses(address, &[("a", "right"), ("a", "x"), ("a", "x")]), [200, 401, 401]);
    let blocked = as_user(address, "/", "a", "x");
    assert_eq!(blocked.status, 403);
    assert!(blocked.body.contains("Account is blocked for 1 day(s)"), "{}", blocked.body);
    assert_eq!(statuses(address, &[("a", "right")]), [403]);
    assert_ne!(aborted(), before);
    server.run("ALTER USER a ACCOUNT UNLOCK");
    assert_eq!(statuses(address, &[("a", "right")]), [200]);
}

#[test]
fn parts_of_the_page_take_the_privileges_of_their_tables() {
    let (server, address) = started(&[]);
    server.run("CREATE USER a IDENTIFIED BY 'p'");
    server.run("GRANT PROCESS, REPLICATION CLIENT ON *.* TO a");
    let data = || as_user(address, "/page.json", "a", "p").body;
    let first = data();
    assert!(first.contains("\"replicas\":null") && first.contains("\"statements\":null"), "{first}");
    assert!(first.contains("\"sees_statements\":false"), "{first}");
    server.run("GRANT REPLICATION SLAVE ON *.* TO a");
    server.run("GRANT SELECT ON performance_schema.events_statements_summary_by_digest TO a");
    let then = data();
    assert!(then.contains("\"replicas\":[]") && then.contains("\"statements\":[{"), "{then}");
    assert!(then.contains("GRANT SELECT ON") && !then.contains("IDENTIFIED BY 'p'"), "{then}");
    assert_eq!(as_user(address, "/page.json?span_s=x", "a", "p").status, 400);
}

#[test]
fn the_files_of_the_page_are_there_and_nothing_can_be_changed() {
    let (server, address) = started(&[]);
    for (path, media_type) in [("/page.css", "text/css"), ("/page.js", "text/javascript")] {
        let file = get(address, path);
        assert_eq!(file.status, 200);
        assert!(file.head.iter().any(|line| line.starts_with(&format!("Content-Type: {media_type}"))));
        let policy = "Content-Security-Policy: default-src 'self'";
        assert!(file.head.iter().any(|line| line.starts_with(policy)), "{:?}", file.head);
        // Nothing is loaded from elsewhere. The name space of SVG is a name and no place.
        let text = file.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("//cdn"), "{path}");
    }
    for path in ["/", "/page.json"] {
        let request = format!("POST {path} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        let answer = parse(&String::from_utf8(exchange(address, request.as_bytes())).unwrap());
        assert_eq!(answer.status, 405, "{path}");
    }
    assert_eq!(server.rows("SELECT 1"), ["1"]);
}

/// A name that would be an element if it were put into the page as HTML.
const HOSTILE: &str = "<img src=x onerror=document.title=1>";

#[test]
fn a_browser_shows_the_state_of_a_replica_under_load() {
    if !tool_available("a_browser_shows_the_state_of_a_replica_under_load", BROWSER) {
        return;
    }
    let size = Size { tables: 2, rows: 200 };
    let source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let replica = Replica::start(Flavor::Slipstream, &settings(2, &[]));
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    source.run("CREATE USER eyes IDENTIFIED BY 'look'");
    source.run("GRANT PROCESS, REPLICATION CLIENT, REPLICATION SLAVE, SELECT ON *.* TO eyes");
    source.fill(size, 1);
    replica.catch_up(&source);
    replica.run(&format!("SELECT 1 AS `{HOSTILE}`"));
    let load = Background::start(source.connect_options(), Workload::UpdateNonIndex, size, 2, 1);
    let address = address_of(&replica);
    let clock = Stopwatch::start();
    while !as_user(address, "/page.json", "eyes", "look").body.contains("\"before_s\":[1") {
        assert!(clock.elapsed() < SOON, "there is no history");
        sleep(std::time::Duration::from_millis(100));
    }

    let browser = Browser::new("web-page");
    let place = format!("http://eyes:look@{address}/");
    let page = browser.load(&place);
    let has = |text: &str| assert!(page.dom.contains(text), "no {text:?} in:\n{}", page.dom);
    assert_eq!(page.console, Vec::<String>::new());
    has("<title>");
    has("· Slipstream</title>");
    has("<p id=\"trouble\" class=\"trouble\" role=\"alert\" hidden=\"\"></p>");
    has(&format!("127.0.0.1:{}", source.port()));
    has("receiver runs");
    has("applier runs");
    has(&replica.rows("SELECT @@server_uuid")[0]);
    let source_uuid = &source.rows("SELECT @@server_uuid")[0];
    has(&format!("{source_uuid}:1-"));
    let cards = ["lag", "applied", "commits", "statements", "connections", "age", "dirty"];
    cards.iter().for_each(|card| has(&format!("id=\"card-{card}\"")));
    // Every chart has its axes and at least one curve or area.
    for chart in ["lag", "rates", "states", "age", "writes", "dirty", "connections"] {
        let (_, rest) = page.dom.split_once(&format!("id=\"chart-{chart}\"")).expect("the chart's place");
        let (figure, _) = rest.split_once("</figure>").expect("the end of a figure");
        assert!(figure.contains("<path") && figure.contains("class=\"axis\""), "{chart}: {figure}");
    }
    has("replica_sql");
    has("apply_row");
    has("SELECT ? AS `&lt;img");
    assert!(!page.dom.contains("<img"), "a name became an element");

    let refused = browser.load(&format!("http://eyes:wrong@{address}/"));
    assert!(refused.said.contains("ERR_INVALID_AUTH_CREDENTIALS"), "{}", refused.said);
    assert!(!refused.dom.contains("card-lag"), "{}", refused.dom);
    let picture = |name: &str, scheme, size| {
        let file = browser.path(name);
        browser.picture(&place, scheme, size, &file);
        let bytes = os::disk::real().read(&file).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG\r\n"), "{name} is no picture");
        bytes
    };
    let wide = (1280, 1000);
    let (light, dark) = (picture("light.png", Scheme::Light, wide), picture("dark.png", Scheme::Dark, wide));
    assert!(light.len() > 20_000 && dark.len() > 20_000, "the pictures show next to nothing");
    assert_ne!(light, dark);
    assert!(load.stop() > 0);
}
