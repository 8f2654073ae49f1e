//! Tests of deep nesting: statements that nest as deeply as MySQL allows are answered, deeper ones
//! are refused with error 1436, and neither kind ends the process. That holds on the threads that
//! run statements and on any thread with a smaller stack.

mod support;

use support::{engine, outcome, session};

fn nested(open: &str, depth: usize, close: &str) -> String {
    format!("SELECT {}a{} FROM t", open.repeat(depth), close.repeat(depth))
}

fn chain(operator: &str, terms: usize) -> String {
    format!("SELECT {} FROM t", vec!["a"; terms].join(operator))
}

/// Returns a statement of this depth for each recursion of the parser and the planner.
fn kinds(depth: usize) -> Vec<String> {
    let mut kinds: Vec<String> = ["+", "*", " DIV ", " = ", " XOR ", " <=> ", " | ", " - "]
        .iter()
        .map(|operator| chain(operator, depth))
        .collect();
    for (open, close) in [
        ("a+(", ")"),
        ("- ", ""),
        ("~ ", ""),
        ("NOT ~ ", ""),
        ("BINARY ", ""),
        ("CASE WHEN 1 THEN ", " END"),
        ("CASE a WHEN 0 THEN 2 ELSE ", " END"),
        ("IF(1,", ",2)"),
        ("IFNULL(", ",2)"),
        ("NULLIF(", ",2)"),
        ("COALESCE(", ",2)"),
        ("ABS(", ")"),
        ("CONCAT(", ")"),
        ("GREATEST(1,", ")"),
        ("CAST(", " AS SIGNED)"),
        ("CONVERT(", " USING utf8mb4)"),
        ("TRIM(", ")"),
        ("a IN (", ")"),
        ("a LIKE (", ")"),
        ("a BETWEEN 0 AND (", ")"),
        ("a AND (b OR ", ")"),
        ("@v := ", ""),
        ("EXTRACT(DAY FROM ", ")"),
        ("DATE_ADD(", ", INTERVAL 1 DAY)"),
        ("TIMESTAMPDIFF(DAY, a, ", ")"),
        ("(a, a) = (a, ", ")"),
    ] {
        kinds.push(nested(open, depth, close));
    }
    kinds.push(format!("SELECT a{} FROM t", " IS NOT NULL".repeat(depth)));
    kinds.push(format!("SELECT a{} FROM t", " COLLATE utf8mb4_bin".repeat(depth)));
    kinds.push(format!("SELECT DATE'2020-01-01'{} FROM t", " + INTERVAL 1 DAY".repeat(depth)));
    // The same deep tree stands in the output, in a condition and in a key, and in what the planner
    // makes of them.
    let sum = vec!["a"; depth].join("+");
    kinds.push(format!("SELECT {sum} FROM t WHERE {sum} > 0 ORDER BY {sum}"));
    kinds.push(format!("SELECT {sum} AS x FROM t HAVING {sum} > 0"));
    kinds.push(format!("SELECT {sum} AS x, SUM({sum}) FROM t GROUP BY {sum}"));
    kinds.push(format!("SELECT {sum} AS x FROM t HAVING x+{sum} > 0"));
    kinds.push(format!("UPDATE t SET b = {sum} WHERE {sum} > 0"));
    kinds.push(format!("INSERT INTO t VALUES ({sum}, 1)"));
    kinds.push(format!("DELETE FROM t WHERE {sum} < 0"));
    kinds.push(format!("SET @x = {}", vec!["1"; depth].join("+")));
    kinds.push(format!("DO {}", vec!["1"; depth].join("+")));
    kinds
}

/// Runs the statement in all ways in which a session takes one, and returns its plain answer.
fn run_in_all_ways(session: &mut sql::Session, text: &str) -> Vec<String> {
    let answer = outcome(session, text);
    outcome(session, &format!("EXPLAIN {text}"));
    // The second run keeps the plan, and the change of a setting drops it.
    outcome(session, text);
    outcome(session, "SET sql_mode = DEFAULT");
    if let Ok(prepared) = session.prepare(text.as_bytes()) {
        session.close_prepared(prepared.id);
    }
    answer
}

fn new_session(engine: &std::sync::Arc<engine::Engine>) -> sql::Session {
    let mut session = session(engine);
    outcome(&mut session, "CREATE TABLE t (a INT, b INT)");
    outcome(&mut session, "INSERT INTO t VALUES (1, 1)");
    session
}

#[test]
fn what_mysql_takes_is_answered() {
    let run = || {
        let mut session = new_session(&engine());
        for kind in ["+", "-", "*", "/", " DIV ", " % ", " XOR ", " = ", " | "] {
            let answer = outcome(&mut session, &chain(kind, 2_000)).join("");
            assert!(!answer.starts_with("ERROR"), "{kind}: {answer}");
        }
        assert_eq!(outcome(&mut session, &chain(" + ", 2_000)), ["2000"]);
        assert_eq!(outcome(&mut session, &nested("a+(", 1_999, ")")), ["2000"]);
        for (open, depth, close) in [
            ("(", 30_000, ")"),
            ("NOT ", 30_000, ""),
            ("!", 30_000, ""),
            ("+ ", 30_000, ""),
            ("CASE WHEN 1 THEN ", 452, " END"),
            ("CASE WHEN 0 THEN 1 ELSE ", 452, " END"),
            ("IF(1,", 1_819, ",2)"),
            ("ABS(", 2_000, ")"),
            ("CONCAT(", 1_890, ")"),
            ("(SELECT ", 62, ")"),
        ] {
            let text = nested(open, depth, close).replace("(SELECT a", "(SELECT 1");
            assert_eq!(outcome(&mut session, &text), ["1"], "{open} {depth}");
        }
        // Chains of AND and OR are lists, so they have no depth.
        for (operator, terms) in [(" AND ", 50_000), (" OR ", 50_000)] {
            assert_eq!(outcome(&mut session, &chain(operator, terms)), ["1"]);
        }
        assert_eq!(
            outcome(
                &mut session,
                &format!("SELECT {}a{}", "(".repeat(3_000), " OR a)".repeat(3_000) + " FROM t")
            ),
            ["1"]
        );
        let list = vec!["2"; 50_000].join(",");
        assert_eq!(outcome(&mut session, &format!("SELECT a IN ({list}) FROM t")), ["0"]);
        assert_eq!(outcome(&mut session, &vec!["SELECT 1"; 3_000].join(" UNION ALL ")).len(), 3_000);
        let derived = format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(60), ") d".repeat(60));
        assert_eq!(outcome(&mut session, &derived), ["1\t1"]);
    };
    os::thread::spawn("connection", run).join().expect("no panic");
}

/// Returns the bytes of the calling thread's stack that have ever been touched.
fn touched_stack_bytes() -> usize {
    let here = 0u8;
    let here = &raw const here as usize;
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("the kernel's list of mappings");
    let mut is_ours = false;
    for line in maps.lines() {
        let range = line.split(' ').next().and_then(|word| word.split_once('-'));
        let bound = |text: &str| usize::from_str_radix(text, 16).ok();
        if let Some((Some(from), Some(to))) = range.map(|(from, to)| (bound(from), bound(to))) {
            is_ours = (from..to).contains(&here);
        } else if let (true, Some(rest)) = (is_ours, line.strip_prefix("Rss:")) {
            let kilobytes: usize = rest.trim().trim_end_matches(" kB").parse().expect("a number");
            return kilobytes << 10;
        }
    }
    panic!("no mapping of the stack");
}

#[test]
fn deeper_is_an_error_on_any_thread() {
    let run = || {
        let mut session = new_session(&engine());
        let mut refused = 0;
        for depth in [50, 200, 400, 2_030, 4_000] {
            for text in kinds(depth) {
                let answer = run_in_all_ways(&mut session, &text).join("");
                refused += usize::from(answer.starts_with("ERROR 1436"));
                let is_too_deep = answer.starts_with("ERROR 1436");
                assert!(is_too_deep || depth < 4_000, "{}: {answer}", &text[..40]);
            }
        }
        for depth in [64, 5_000] {
            let text = nested("(SELECT ", depth, ")");
            let answer = outcome(&mut session, &text).join("");
            assert!(answer.starts_with("ERROR 1473") || answer.starts_with("ERROR 1436"), "{answer}");
        }
        refused
    };
    let of_connections = os::thread::spawn("connection", move || {
        let refused = run();
        let touched = touched_stack_bytes();
        println!("the stack of a connection was touched up to {} KB", touched >> 10);
        assert!(touched < os::thread::STACK_BYTES * 3 / 4, "{touched} bytes: levels count for too little");
        refused
    })
    .join()
    .expect("no panic");
    // The stack of this thread has the size that the test's runner gives it.
    assert!(run() >= of_connections);
}
