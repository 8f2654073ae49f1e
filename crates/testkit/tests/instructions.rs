//! What statements cost in instructions does not grow unseen: `docs/costs.md` has the counts of a
//! table, and a count that is more than 2 % above its figure fails here.

use std::path::Path;
use std::process::Command;

use testkit::{binary, counts_compare, tool_available};

/// A count may be above its figure by this much: what the two differ by when nothing has changed is
/// below a thousandth.
const ALLOWED_PERCENT: u64 = 2;

/// What the names of counts begin with.
const COUNTED: [&str; 4] = ["oltp_", "scanned_row", "applied_update", "logged_update"];

#[test]
fn statements_take_no_more_instructions_than_the_documents_say() {
    const TEST: &str = "statements_take_no_more_instructions_than_the_documents_say";
    if !["valgrind", "sysbench", "mariadb"].iter().all(|tool| tool_available(TEST, tool)) {
        return;
    }
    if !counts_compare(TEST) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let costs = std::fs::read_to_string(root.join("docs/costs.md")).expect("docs/costs.md");
    let figures = figures(&costs);
    assert!(figures.len() >= 8, "the table of counts has {} lines", figures.len());
    let counted = Command::new(root.join("scripts/instructions.sh"))
        .arg(binary::slipstream())
        .output()
        .expect("scripts/instructions.sh runs");
    let printed = String::from_utf8_lossy(&counted.stdout).into_owned();
    assert!(counted.status.success(), "{printed}{}", String::from_utf8_lossy(&counted.stderr));
    print!("{printed}");
    for (script, figure) in &figures {
        let count = printed
            .lines()
            .find_map(|line| {
                line.strip_prefix(script.as_str())?.split_whitespace().next()?.parse::<u64>().ok()
            })
            .unwrap_or_else(|| panic!("no count of {script} was printed:\n{printed}"));
        assert!(
            count * 100 <= figure * (100 + ALLOWED_PERCENT),
            "{script} takes {count} instructions, and docs/costs.md says {figure}: mend what made it \
             dearer, or say in the table which commit did and why that is worth it"
        );
        // A figure that is no longer reached would let the count grow again unseen.
        assert!(
            count * 100 >= figure * (100 - 2 * ALLOWED_PERCENT),
            "{script} takes {count} instructions only: put that into the table of docs/costs.md, which \
             says {figure}"
        );
    }
}

/// Returns the scripts of the table of counts, each with the figure of its last column.
fn figures(costs: &str) -> Vec<(String, u64)> {
    costs
        .lines()
        .filter(|line| {
            COUNTED.iter().any(|name| line.strip_prefix("| ").is_some_and(|l| l.starts_with(name)))
        })
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let script = cells[0].split([',', ':', ' ']).next().expect("a name").to_owned();
            let last = cells.last().expect("a table's line has cells").replace(',', "");
            (script, last.parse().unwrap_or_else(|_| panic!("no number ends the line {line}")))
        })
        .collect()
}
