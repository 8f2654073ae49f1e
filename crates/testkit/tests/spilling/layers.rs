//! Windows, rollups, INTERSECT and EXCEPT, recursive common tables and the rows of subqueries that
//! do not fit in `tmp_table_size`, compared with the same queries in much memory and with MySQL.

use super::joins::beside_much_memory_and_mysql;
use os::random::Rng;

const NUMBERS: &[&str] = &["id", "k", "u", "n"];
/// Numbers from which a distance can be taken away, which gives an error where the number is
/// unsigned and less.
const SIGNED: &[&str] = &["id", "k", "n"];

fn frame(rng: &mut Rng, unit: &str) -> String {
    let edge = |rng: &mut Rng, words: &str| match rng.below(4) {
        0 => format!("UNBOUNDED {words}"),
        1 => "CURRENT ROW".to_owned(),
        _ => format!("{} {words}", rng.pick(&[0, 1, 7, 300])),
    };
    let start = edge(rng, "PRECEDING");
    let end = edge(rng, "FOLLOWING");
    format!("{unit} BETWEEN {start} AND {end}")
}

fn over(rng: &mut Rng) -> String {
    let partition = rng.pick(&["", "PARTITION BY e ", "PARTITION BY k ", "PARTITION BY v "]);
    match rng.below(4) {
        0 => format!("({partition}ORDER BY {}, id {})", rng.pick(&["v", "d", "n", "e"]), frame(rng, "ROWS")),
        1 => format!("({partition}ORDER BY {} {})", rng.pick(SIGNED), frame(rng, "RANGE")),
        2 => format!("({partition}ORDER BY {} DESC {})", rng.pick(SIGNED), frame(rng, "RANGE")),
        _ => format!("({partition}ORDER BY d, id DESC)"),
    }
}

/// Returns a function whose value does not depend on the order of peers.
fn aggregate(rng: &mut Rng) -> String {
    let column = rng.pick(NUMBERS);
    match rng.below(7) {
        0 => "COUNT(*)".to_owned(),
        1 => format!("COUNT({column})"),
        2 => format!("SUM({column})"),
        3 => format!("MIN({column})"),
        4 => format!("MAX({column})"),
        5 => "BIT_XOR(id)".to_owned(),
        _ => "SUM(f)".to_owned(),
    }
}

fn windows(rng: &mut Rng) -> String {
    let by_rows = |rng: &mut Rng| {
        let partition = rng.pick(&["", "PARTITION BY e "]);
        format!("({partition}ORDER BY {}, id)", rng.pick(&["v", "d", "n"]))
    };
    let functions: Vec<String> = (0..rng.between(1, 3))
        .map(|_| match rng.below(8) {
            0 => format!("ROW_NUMBER() OVER {}", by_rows(rng)),
            1 => format!("RANK() OVER (PARTITION BY e ORDER BY {})", rng.pick(NUMBERS)),
            2 => format!("DENSE_RANK() OVER (ORDER BY {})", rng.pick(NUMBERS)),
            3 => format!("LAG(p, {}) OVER {}", rng.below(900), by_rows(rng)),
            4 => format!("LEAD(id, {}, -1) OVER {}", rng.below(900), by_rows(rng)),
            5 => format!("NTH_VALUE(id, {}) OVER {}", rng.between(1, 500), by_rows(rng)),
            6 => format!("CUME_DIST() OVER (ORDER BY {})", rng.pick(NUMBERS)),
            _ => format!("{} OVER {}", aggregate(rng), over(rng)),
        })
        .collect();
    format!("SELECT id, {} FROM {}", functions.join(", "), rng.pick(&["t0", "t1", "t2"]))
}

fn sets(rng: &mut Rng) -> String {
    let columns = rng.pick(&["k", "v", "u, e", "d", "n"]);
    let mut query = format!("SELECT {columns} FROM t0");
    for table in ["t1", "t2"] {
        let operator = rng.pick(&["INTERSECT", "EXCEPT", "UNION"]);
        let all = rng.pick(&["", " ALL", " DISTINCT"]);
        query += &format!(" {operator}{all} SELECT {columns} FROM {table}");
    }
    format!("SELECT COUNT(*) FROM ({query}) x")
}

fn common_tables(rng: &mut Rng) -> String {
    let union = rng.pick(&["UNION", "UNION DISTINCT"]);
    match rng.below(3) {
        0 => format!(
            "WITH RECURSIVE r (n) AS (SELECT id FROM t2 WHERE id < {} {union} SELECT t0.u FROM r JOIN t0 ON t0.id = \
             r.n) SELECT COUNT(*), SUM(n) FROM r",
            rng.between(1, 200)
        ),
        1 => format!(
            "WITH RECURSIVE r (n, s) AS (SELECT 1, CAST('x' AS CHAR(300)) UNION ALL SELECT n + 1, REPEAT('y', n % 300) \
             FROM r WHERE n < {}) SELECT COUNT(*), SUM(n), SUM(LENGTH(s)) FROM r",
            rng.between(2, 900)
        ),
        _ => format!(
            "WITH c AS (SELECT {column} g, MIN(id) m, COUNT(*) n FROM t0 GROUP BY {column}) SELECT COUNT(*), \
             SUM(a.m), SUM(b.n) FROM c a JOIN c b ON a.n = b.m",
            column = rng.pick(&["k", "u", "v"])
        ),
    }
}

fn subqueries(rng: &mut Rng) -> String {
    let hint = "/*+ SUBQUERY(MATERIALIZATION) */";
    let filter = rng.pick(&["", " WHERE k IS NOT NULL AND u IS NOT NULL", " WHERE id < 5", " WHERE e = 'a'"]);
    let not = rng.pick(&["", "NOT "]);
    match rng.below(4) {
        0 => format!("SELECT COUNT(*), SUM(id) FROM t0 WHERE k {not}IN (SELECT {hint} u FROM t1{filter})"),
        1 => format!("SELECT COUNT(*), SUM(id) FROM t0 WHERE v {not}IN (SELECT {hint} v FROM t2{filter})"),
        2 => format!("SELECT COUNT(*), SUM((k, e) {not}IN (SELECT {hint} k, e FROM t1{filter})) FROM t2"),
        _ => format!(
            "SELECT COUNT(*), SUM(id) FROM t2 WHERE k {} {} (SELECT u FROM t1{filter})",
            rng.pick(&["<", ">=", "<>"]),
            rng.pick(&["ANY", "ALL"])
        ),
    }
}

fn rollups(rng: &mut Rng) -> String {
    let keys = rng.pick(&["e, k", "k", "d, e", "u, k"]);
    let distinct = rng.pick(NUMBERS);
    format!(
        "SELECT {keys}, COUNT(*), SUM(n), MIN(id), COUNT(DISTINCT {distinct}), SUM(DISTINCT k) FROM t0 GROUP BY {keys} \
         WITH ROLLUP"
    )
}

#[test]
fn layers_with_little_memory_answer_as_mysqls_do() {
    beside_much_memory_and_mysql("layers_with_little_memory", 100, |rng| {
        let query = match rng.below(8) {
            0..=2 => windows(rng),
            3 => sets(rng),
            4 => common_tables(rng),
            5 => rollups(rng),
            _ => subqueries(rng),
        };
        (query, false)
    });
}
