//! Tests with random statements: whatever MySQL answers to a statement of a grammar, this server
//! answers the same: the rows, the columns' types and names, the numbers of errors, and the
//! warnings. The grammar is in `rules/expressions.txt`, `queries.rs` and `changes.rs`.
//!
//! `make test` asks the same few thousand statements each time. `make nightly` asks as many as
//! `SLIPSTREAM_RANDOM_QUERIES` says, and different ones. The seed is printed; `SEED=...` asks the
//! same statements again. With `SLIPSTREAM_REDUCTION=300`, a statement whose answers differ is
//! printed in a shorter form that still shows the difference.

mod answers;
mod campaign;
mod changes;
mod expressions;
mod known;
mod oracles;
mod queries;
mod reduction;
mod schema;

use os::random::{Rng, test_seed, test_seed_or};
use testkit::grammar::Grammar;
use testkit::{Flavor, Server, Settings, available, times};

use crate::answers::Kind;
use crate::campaign::{Campaign, Finding};

const RULES: &[&str] = &[include_str!("rules/expressions.txt")];

/// The variable of the environment that has the number of statements.
const COUNT: &str = "SLIPSTREAM_RANDOM_QUERIES";

/// The share of the statements, per mille, that may show a difference of each kind. These are the
/// differences that nobody has mended yet; a change that mends some makes its number smaller.
const MOST_PER_MILLE: &[(Kind, u64)] = &[
    (Kind::Gone, 0),
    (Kind::Values, 4),
    (Kind::Refusal, 7),
    (Kind::Error, 4),
    (Kind::Types, 20),
    (Kind::Names, 1),
    (Kind::Warnings, 56),
    (Kind::Message, 57),
    (Kind::Lengths, 31),
];

/// Returns the seed: a new one only for a long run, which searches for faults.
fn seed(test: &str) -> u64 {
    match std::env::var_os(COUNT) {
        Some(_) => test_seed(test),
        None => test_seed_or(test, 1),
    }
}

#[test]
fn random_statements_are_answered_as_by_mysql() {
    const TEST: &str = "random_queries::random_statements_are_answered_as_by_mysql";
    if !available(TEST, &[Flavor::MySql]) {
        return;
    }
    let mut campaign = Campaign::start(RULES);
    let statements = times(COUNT, 3000);
    campaign.ask(statements, times("SLIPSTREAM_REDUCTION", 0) as usize, &mut Rng::new(seed(TEST)));
    campaign.findings.sort_by_key(|finding| (finding.difference.clone(), finding.statement.len()));
    let mut last = None;
    for Finding { difference, statement, ours, theirs, made } in &campaign.findings {
        // The first statement of each signature is the shortest one.
        if last.replace(difference) != Some(difference) {
            let alike = campaign.findings.iter().filter(|other| other.difference == *difference).count();
            println!("== {:?} {}: {alike}\n  {}", difference.kind, difference.signature, made.join(";\n  "));
        }
        println!("{statement}\n  here:  {ours}\n  MySQL: {theirs}");
    }
    println!(
        "{} statements, {} carried out, {} passed over, differences: {:?}",
        campaign.asked,
        campaign.carried_out,
        campaign.passed_over,
        campaign.counts()
    );
    let counts = campaign.counts();
    for (kind, most) in MOST_PER_MILLE {
        let count = counts.get(kind).copied().unwrap_or(0);
        assert!(count * 1000 <= most * statements, "{kind:?}: {count} of {statements} differ");
    }
    assert!(campaign.carried_out * 10 > statements * 8, "only {} were carried out", campaign.carried_out);
}

#[test]
fn conditions_divide_the_rows_in_three_and_where_finds_what_is_true() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let rules = Grammar::new(RULES, Flavor::MySql, true);
    let mut rng = Rng::new(seed("random_queries::conditions_divide_the_rows"));
    let conditions = times(COUNT, 3000);
    let asked = oracles::ask(&mut server.connect(), &rules, conditions, &mut rng);
    println!("{} conditions answered, {} refused", asked.answered, asked.refused);
    assert!(asked.answered > 4 * asked.refused, "{} refused", asked.refused);
    let shown = asked.findings.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(asked.findings.is_empty(), "{} findings\n{shown}", asked.findings.len());
}
