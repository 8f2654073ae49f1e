//! Schema changes by Vitess' own strategy under load: VReplication copies the rows into a new
//! table, follows the log, and then both tables change their names.

use testkit::lines::lines_of;
use testkit::vitess::{Cluster, available};

use crate::load::{Load, agree, two_tablets_under_load};

/// Returns the rows of a query at vtgate, as text.
fn gate(cluster: &Cluster, sql: &str) -> Vec<String> {
    lines_of(&cluster.gate().query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// Returns a column of a migration.
fn of_migration(cluster: &Cluster, uuid: &str, column: &str) -> String {
    let mut session = cluster.gate();
    let found = session.query(&format!("SHOW VITESS_MIGRATIONS LIKE '{uuid}'")).expect("the migrations");
    let at = found.columns.iter().position(|each| each.name == column).expect("a column");
    let text =
        |row: &Vec<Option<Vec<u8>>>| String::from_utf8_lossy(row[at].as_deref().unwrap_or(b"")).into_owned();
    found.rows.first().map(text).unwrap_or_default()
}

/// Waits until a migration has this status.
fn becomes(cluster: &Cluster, uuid: &str, status: &str) {
    cluster.until(&format!("{uuid} is {status}"), || {
        let now = of_migration(cluster, uuid, "migration_status");
        assert!(status == "failed" || now != "failed", "{}", of_migration(cluster, uuid, "message"));
        (now == status, now)
    });
}

/// Submits statements with this strategy, and returns the ids of their migrations.
fn submit(cluster: &Cluster, strategy: &str, sql: &str) -> Vec<String> {
    let said = cluster.ctl(&["ApplySchema", "--ddl-strategy", strategy, "--sql", sql, cluster.keyspace()]);
    let ids: Vec<String> =
        said.lines().filter(|line| line.matches('_').count() == 4).map(str::to_owned).collect();
    assert!(!ids.is_empty(), "{said}");
    ids
}

/// Changes the table in several ways, one after the other.
fn change(cluster: &Cluster, load: &Load) {
    for sql in [
        "ALTER TABLE t ADD COLUMN n INT NOT NULL DEFAULT 7, ADD KEY by_v (v)",
        "ALTER TABLE t MODIFY v VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL, ADD COLUMN j JSON",
        "ALTER TABLE t ADD COLUMN g BIGINT UNSIGNED GENERATED ALWAYS AS (id + n) VIRTUAL",
        "ALTER TABLE t DROP COLUMN j, DROP COLUMN g",
    ] {
        for uuid in submit(cluster, "vitess", sql) {
            becomes(cluster, &uuid, "complete");
            load.goes_on(cluster);
        }
    }
}

#[test]
fn online_ddl_changes_tables_under_load_and_goes_back() {
    if !available("online_ddl_changes_tables_under_load_and_goes_back") {
        return;
    }
    let (cluster, load) = two_tablets_under_load("ddl");
    change(&cluster, &load);
    let columns = "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position), MAX(column_type = 'varchar(200)') \
                   FROM information_schema.columns WHERE table_schema = 'vt_ddl' AND table_name = 't'";
    assert_eq!(cluster.tablet(100).rows(columns), ["id,v,n\t1"]);
    assert_eq!(cluster.tablet(100).rows("SELECT COUNT(*) FROM vt_ddl.t WHERE n <> 7"), ["0"]);

    let postponed = submit(&cluster, "vitess --postpone-completion", "ALTER TABLE t DROP COLUMN n").remove(0);
    cluster.until("the copy is ready", || {
        let ready = of_migration(&cluster, &postponed, "ready_to_complete");
        (ready == "1", ready)
    });
    load.goes_on(&cluster);
    gate(&cluster, &format!("ALTER VITESS_MIGRATION '{postponed}' CANCEL"));
    becomes(&cluster, &postponed, "cancelled");
    assert_eq!(cluster.tablet(100).rows(columns), ["id,v,n\t1"]);

    let postponed = submit(&cluster, "vitess --postpone-completion", "ALTER TABLE t DROP KEY by_v").remove(0);
    becomes(&cluster, &postponed, "running");
    load.goes_on(&cluster);
    gate(&cluster, &format!("ALTER VITESS_MIGRATION '{postponed}' COMPLETE"));
    becomes(&cluster, &postponed, "complete");

    // The key comes back, and goes again when that is taken back too.
    let mut uuid = postponed;
    for keys in ["1", "0"] {
        let mut session = cluster.gate();
        session.query("SET @@ddl_strategy = 'vitess'").expect("a strategy");
        let revert = session.query(&format!("REVERT VITESS_MIGRATION '{uuid}'"));
        uuid = lines_of(&revert.unwrap_or_else(|error| panic!("{error}"))).concat();
        becomes(&cluster, &uuid, "complete");
        load.goes_on(&cluster);
        let found = "SELECT COUNT(*) FROM information_schema.statistics \
                     WHERE table_schema = 'vt_ddl' AND table_name = 't' AND index_name = 'by_v'";
        assert_eq!(cluster.tablet(100).rows(found), [keys]);
    }

    submit(&cluster, "vitess", "DROP TABLE t2")
        .into_iter()
        .for_each(|uuid| becomes(&cluster, &uuid, "failed"));
    let acknowledged = load.end();
    let sums = "SELECT COUNT(*), SUM(id), SUM(CRC32(v)), SUM(n), MD5(@@gtid_executed) FROM vt_ddl.t";
    agree(&cluster, cluster.tablet(100), cluster.tablet(101), sums);
    acknowledged.are_at(cluster.tablet(100));
}
