//! Tests that the plans of joins and subqueries, as EXPLAIN FORMAT=TREE prints them, are those in
//! `plan_trees.result`. A developer who changes plans checks the differences by eye and then writes
//! the file anew with `SLIPSTREAM_WRITE_PLANS=1`.

mod support;

use sql::Session;
use std::fmt::Write;
use support::{engine, rows, run, session};

const RESULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plan_trees.result");

/// Makes the tables of a small shop: few regions, some customers, more orders and most items.
fn shop(s: &mut Session) {
    for statement in [
        "CREATE TABLE region (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
        "CREATE TABLE customer (id INT PRIMARY KEY, region INT NOT NULL, name VARCHAR(20), KEY (region))",
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, day DATE NOT NULL, state CHAR(1), KEY (customer), \
         KEY (day))",
        "CREATE TABLE item (orders INT, line INT, part INT NOT NULL, price DECIMAL(8,2), PRIMARY KEY (orders, line), \
         KEY (part))",
        "CREATE TABLE heap (a INT, b INT, c VARCHAR(10))",
        "CREATE TABLE hidden (id INT PRIMARY KEY, a INT, KEY a (a) INVISIBLE)",
    ] {
        run(s, statement);
    }
    let mut fill = |table: &str, count: u32, row: &dyn Fn(u32) -> String| {
        let values: Vec<String> = (1..=count).map(row).collect();
        run(s, &format!("INSERT INTO {table} VALUES {}", values.join(",")));
    };
    fill("region", 5, &|at| format!("({at}, 'r{at}')"));
    fill("customer", 200, &|at| format!("({at}, {}, 'c{at}')", at % 5 + 1));
    fill("orders", 2000, &|at| {
        let day = format!("2020-{:02}-{:02}", at % 12 + 1, at % 28 + 1);
        format!("({at}, {}, '{day}', '{}')", at % 200 + 1, ["a", "b", "c"][at as usize % 3])
    });
    fill("item", 6000, &|at| format!("({}, {}, {}, {}.5)", at / 3 + 1, at % 3, at % 100, at % 50));
    fill("hidden", 300, &|at| format!("({at}, {})", at % 100));
    fill("heap", 300, &|at| format!("({}, {}, 'h{}')", at % 60, at % 7, at % 9));
}

const QUERIES: &[&str] = &[
    // Groups whose rows come together need no table, and those of a part of the key behind do.
    "SELECT orders, COUNT(*), SUM(price) FROM item GROUP BY orders",
    "SELECT line, COUNT(*) FROM item WHERE orders = 7 GROUP BY line",
    "SELECT line, COUNT(*) FROM item GROUP BY line",
    // Tables are joined in the order that costs least, not in the written one.
    "SELECT * FROM item JOIN orders ON item.orders = orders.id WHERE orders.id = 7",
    "SELECT * FROM item, orders, customer, region WHERE item.orders = orders.id AND orders.customer = customer.id \
     AND customer.region = region.id AND region.name = 'r2'",
    "SELECT * FROM heap h, customer c WHERE h.a = c.id",
    "SELECT * FROM heap h, heap i WHERE h.a = i.a AND h.b > 3",
    "SELECT STRAIGHT_JOIN * FROM item, orders WHERE item.orders = orders.id AND orders.id = 7",
    "SELECT * FROM item STRAIGHT_JOIN orders ON item.orders = orders.id",
    // Hints decide the order and the kind of joins.
    "SELECT /*+ JOIN_ORDER(h, c) */ * FROM customer c, heap h WHERE h.a = c.id",
    "SELECT /*+ JOIN_ORDER(c, h) NO_HASH_JOIN(h) */ * FROM customer c, heap h WHERE h.a = c.id",
    "SELECT /*+ JOIN_PREFIX(r) */ * FROM orders o, customer c, region r WHERE o.customer = c.id AND c.region = r.id",
    "SELECT /*+ JOIN_SUFFIX(c) */ * FROM orders o, customer c, region r WHERE o.customer = c.id AND c.region = r.id",
    "SELECT /*+ JOIN_ORDER(o, c) JOIN_ORDER(c, o) */ * FROM orders o, customer c WHERE o.customer = c.id",
    "SELECT /*+ JOIN_FIXED_ORDER() */ * FROM item, orders WHERE item.orders = orders.id AND orders.id = 7",
    "SELECT /*+ HASH_JOIN(c) */ * FROM orders o, customer c WHERE o.customer = c.id AND o.id = 7",
    "SELECT /*+ NO_INDEX(o customer) */ * FROM orders o, customer c WHERE o.customer = c.id AND c.id = 7",
    "SELECT /*+ INDEX(o day) */ * FROM orders o, customer c WHERE o.customer = c.id AND c.id = 7",
    "SELECT /*+ NO_BNL() */ * FROM heap h, heap i WHERE h.a = i.a",
    "SELECT /*+ SET_VAR(optimizer_switch='block_nested_loop=off') */ * FROM heap h, heap i WHERE h.a = i.a",
    "SELECT /*+ SET_VAR(optimizer_switch='block_nested_loop=off') BNL(i) BNL(h) */ * FROM heap h, heap i WHERE h.a = i.a",
    "SELECT /*+ NO_SEMIJOIN(@q) */ * FROM customer c WHERE EXISTS (SELECT /*+ QB_NAME(q) */ 1 FROM orders o \
     WHERE o.customer = c.id)",
    "SELECT * FROM customer c WHERE EXISTS (SELECT /*+ SUBQUERY(INTOEXISTS) */ 1 FROM orders o \
     WHERE o.customer = c.id)",
    "SELECT /*+ SET_VAR(optimizer_switch='semijoin=off') */ * FROM customer c WHERE EXISTS (SELECT 1 FROM orders o \
     WHERE o.customer = c.id)",
    "SELECT /*+ SET_VAR(optimizer_switch='semijoin=off') SEMIJOIN(@`select#2`) */ * FROM customer c \
     WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "SELECT /*+ NO_MERGE(d) */ d.day FROM (SELECT id, day FROM orders WHERE customer > 0) d WHERE d.id = 7",
    "SELECT /*+ SET_VAR(optimizer_switch='derived_merge=off') */ d.day FROM (SELECT id, day FROM orders) d WHERE d.id = 7",
    "SELECT /*+ SET_VAR(optimizer_switch='derived_merge=off') MERGE(d) */ d.day FROM (SELECT id, day FROM orders) d \
     WHERE d.id = 7",
    // Hints say which indexes are used for what.
    "SELECT /*+ NO_JOIN_INDEX(orders customer) */ * FROM orders WHERE customer = 5",
    "SELECT /*+ NO_RANGE_OPTIMIZATION(orders day) */ * FROM orders WHERE day > '2020-12-27'",
    "SELECT /*+ NO_RANGE_OPTIMIZATION(orders customer) */ * FROM orders WHERE customer = 5",
    "SELECT /*+ INDEX(@q o day) */ 1 FROM region WHERE EXISTS (SELECT /*+ QB_NAME(q) NO_SEMIJOIN() */ 1 FROM orders o \
     WHERE o.customer = region.id AND o.day = '2020-03-03')",
    "SELECT /*+ ORDER_INDEX(orders day) */ * FROM orders ORDER BY day",
    "SELECT /*+ NO_ORDER_INDEX(orders day) */ * FROM orders ORDER BY day LIMIT 3",
    "SELECT * FROM orders FORCE INDEX FOR ORDER BY (day) ORDER BY day",
    "SELECT * FROM orders IGNORE INDEX FOR ORDER BY (day) ORDER BY day LIMIT 3",
    "SELECT * FROM orders IGNORE INDEX FOR JOIN (customer) WHERE customer = 5",
    "SELECT * FROM orders USE INDEX () WHERE customer = 5",
    "SELECT /*+ SET_VAR(optimizer_switch='prefer_ordering_index=off') */ * FROM orders WHERE customer < 100 \
     ORDER BY day LIMIT 3",
    "SELECT * FROM hidden WHERE a = 7",
    "SELECT /*+ SET_VAR(optimizer_switch='use_invisible_indexes=on') */ * FROM hidden WHERE a = 7",
    // Statements that change rows of several tables, or fill one from a query.
    "UPDATE customer c JOIN orders o ON o.customer = c.id SET c.name = 'x', o.state = 'd' WHERE o.id = 7",
    "DELETE c, o FROM customer c JOIN orders o ON o.customer = c.id WHERE c.id = 7",
    "INSERT INTO heap SELECT id, customer, state FROM orders WHERE id < 10",
    // A derived table's tables are joined with those around it, unless its rows have to be
    // computed.
    "SELECT d.day FROM (SELECT id, day, state FROM orders WHERE customer > 0) d WHERE d.id = 7",
    "SELECT * FROM (SELECT o.id, c.name FROM orders o JOIN customer c ON o.customer = c.id) d \
     JOIN item ON item.orders = d.id WHERE item.part = 3",
    "SELECT * FROM customer c LEFT JOIN (SELECT id, customer FROM orders WHERE state = 'a') d \
     ON d.customer = c.id WHERE c.id = 5",
    "SELECT * FROM customer c LEFT JOIN (SELECT id, customer, 'x' AS x FROM orders) d ON d.customer = c.id",
    "SELECT d.id FROM (SELECT id, day FROM orders ORDER BY day) d LIMIT 3",
    "SELECT d.id FROM (SELECT id, day FROM orders ORDER BY day LIMIT 3) d",
    "SELECT d.n FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) d WHERE d.customer = 5",
    // A column that equals a constant passes the constant on to the columns that equal it.
    "SELECT * FROM orders o, customer c WHERE o.customer = c.id AND c.id = 5",
    "SELECT * FROM heap a, heap b, heap c WHERE a.a = b.a AND b.a = c.a AND c.a = 5",
    // Ranges are looked up.
    "SELECT * FROM orders o, customer c WHERE o.customer = c.id AND o.day = '2020-03-03'",
    "SELECT * FROM orders o, customer c WHERE o.customer = c.id AND o.day > '2020-02-01'",
    // Some outer joins become inner joins.
    "SELECT * FROM customer c LEFT JOIN orders o ON o.customer = c.id",
    "SELECT * FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE o.state = 'a'",
    "SELECT * FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL",
    "SELECT * FROM heap h LEFT JOIN heap i ON h.a = i.b AND i.c = 'h1'",
    "SELECT * FROM orders o RIGHT JOIN (customer c JOIN region r ON c.region = r.id) ON o.customer = c.id",
    "SELECT * FROM region r LEFT JOIN (customer c JOIN orders o ON o.customer = c.id AND o.state = 'a') \
     ON c.region = r.id AND r.id > 2",
    "SELECT * FROM region r LEFT JOIN (customer c LEFT JOIN orders o ON o.customer = c.id) ON c.region = r.id",
    // What all branches of an OR have in common is a condition of its own.
    "SELECT * FROM heap h, heap i WHERE h.a = i.a AND h.b = 1 OR h.a = i.a AND i.b = 2",
    "SELECT * FROM heap h, customer c WHERE h.b = 1 AND c.name = 'c1' OR h.b = 2 AND c.name = 'c2'",
    // Semi-joins and anti-joins.
    "SELECT * FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.state = 'a')",
    "SELECT * FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "SELECT * FROM orders WHERE customer IN (SELECT id FROM customer WHERE region = 3)",
    "SELECT * FROM customer WHERE id IN (SELECT a FROM heap WHERE b = 3)",
    "SELECT * FROM customer WHERE id NOT IN (SELECT id FROM orders)",
    "SELECT * FROM customer WHERE id NOT IN (SELECT customer FROM orders)",
    "SELECT * FROM customer WHERE id IN (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 3)",
    "SELECT * FROM customer c WHERE id = (SELECT MAX(customer) FROM orders o WHERE o.id = c.id)",
    // These queries have groups, orders, unions and limits on top of joins.
    "SELECT c.region, COUNT(*) FROM customer c JOIN orders o ON o.customer = c.id GROUP BY c.region \
     HAVING COUNT(*) > 3 ORDER BY 2 DESC LIMIT 3",
    "SELECT DISTINCT c.region FROM customer c JOIN orders o ON o.customer = c.id",
    "SELECT * FROM (SELECT customer, COUNT(*) n FROM orders GROUP BY customer) d JOIN customer c ON c.id = d.customer",
    "SELECT id FROM customer UNION SELECT id FROM orders",
    "SELECT o.id FROM orders o JOIN customer c ON c.id = o.customer ORDER BY o.id LIMIT 5",
    // These queries read at most one table.
    "SELECT * FROM item WHERE orders = 5 AND line = 2",
    "SELECT part FROM item WHERE part BETWEEN 3 AND 5",
    "SELECT 1",
];

#[test]
fn plans_are_those_that_were_looked_at() {
    let engine = engine();
    let mut s = session(&engine);
    shop(&mut s);
    let mut shown = String::new();
    for query in QUERIES {
        let tree = rows(&mut s, &format!("EXPLAIN FORMAT=TREE {query}"));
        writeln!(shown, "{query}\n{}", tree.join("\n").replace("\\n", "\n"))
            .expect("a text takes everything");
    }
    if std::env::var_os("SLIPSTREAM_WRITE_PLANS").is_some() {
        let path = std::path::Path::new(RESULT);
        os::disk::real().write_atomically(path, shown.as_bytes()).expect("the file is written");
    }
    let kept = std::fs::read_to_string(RESULT).unwrap_or_default();
    for (number, (now, then)) in shown.lines().zip(kept.lines()).enumerate() {
        assert_eq!(now, then, "line {} of plan_trees.result", number + 1);
    }
    assert_eq!(shown.len(), kept.len(), "the lists of plans are of different lengths");
}
