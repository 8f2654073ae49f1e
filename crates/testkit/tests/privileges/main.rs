//! Tests of which statement asks for which privilege: every privilege at every level is tried with
//! every kind of statement, on Slipstream and on a real MySQL.
//!
//! A row of the matrix is an account with one privilege, or with none, all, or all but one. A
//! column is a statement of [`statements`]. A cell is what the server answers: that the statement
//! is allowed, the rows where the statement shows what the account may see, or the number of the
//! error. A cell of ours that differs from MySQL's fails the test, unless [`exceptions`] names the
//! cell and the reason.

mod accounts;
mod exceptions;
mod later;
mod play;
mod statements;

use bench::instance::Flavor;
use play::{Answer, Matrix};
use std::collections::BTreeMap;
use testkit::available;

/// The least number of cells that a run must compare, so that a matrix that has lost its rows does
/// not pass.
const LEAST_CELLS: usize = 100_000;

#[test]
fn each_privilege_allows_what_it_allows_in_mysql() {
    if !available("each_privilege_allows_what_it_allows_in_mysql", &[Flavor::MySql]) {
        return;
    }
    let (ours, theirs) = std::thread::scope(|scope| {
        let ours = scope.spawn(|| Matrix::play(Flavor::Slipstream));
        let theirs = scope.spawn(|| Matrix::play(Flavor::MySql));
        let finished = |side: std::thread::ScopedJoinHandle<'_, Matrix>| {
            side.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (finished(ours), finished(theirs))
    });
    assert_eq!(ours.cells.len(), theirs.cells.len(), "both servers play the same matrix");
    assert!(ours.cells.len() >= LEAST_CELLS, "only {} cells", ours.cells.len());
    let mut excused = exceptions::Excused::default();
    let mut differing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (ours, theirs) in ours.cells.iter().zip(&theirs.cells) {
        assert_eq!((&ours.account, ours.statement), (&theirs.account, theirs.statement), "the same cell");
        if ours.answer.is_like(&theirs.answer) || excused.excuses(ours, theirs) {
            continue;
        }
        let how = format!("{}\n    here: {}\n    MySQL: {}", ours.statement, ours.answer, theirs.answer);
        differing.entry(how).or_default().push(ours.account.clone());
    }
    let shown =
        |(how, accounts): (&String, &Vec<String>)| format!("{how}\n    with: {}\n", accounts.join("; "));
    let report: String = differing.iter().map(shown).collect();
    println!("{} cells compared, {} of them refused by MySQL", theirs.cells.len(), refused(&theirs));
    assert!(report.is_empty(), "{} kinds of cells differ:\n{report}", differing.len());
    excused.check_all_used();
}

fn refused(matrix: &Matrix) -> usize {
    matrix.cells.iter().filter(|cell| matches!(cell.answer, Answer::Refused { .. })).count()
}
