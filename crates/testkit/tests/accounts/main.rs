//! Tests that statements about accounts are answered, and that logins succeed or fail, as with a
//! real MySQL that gets the same statements and logins.
//!
//! The scripts are in `scripts.rs`; `play.rs` describes the form in which they are written.

mod files;
mod logged;
mod play;
mod scripts;

use bench::instance::{Flavor, Settings};
use play::play;
use scripts::SCRIPTS;
use testkit::{Server, available};

#[test]
fn accounts_are_what_they_are_with_mysql() {
    if !available("accounts_are_what_they_are_with_mysql", &[Flavor::MySql]) {
        return;
    }
    let [ours, mysql] = [Flavor::Slipstream, Flavor::MySql].map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        SCRIPTS.iter().flat_map(|script| play(&server, script)).collect::<Vec<String>>()
    });
    let different: Vec<String> = ours
        .iter()
        .zip(&mysql)
        .filter(|(ours, mysql)| ours != mysql)
        .map(|(ours, mysql)| format!("ours:  {ours}\nMySQL: {mysql}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(ours.len(), mysql.len());
}
