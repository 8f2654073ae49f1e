//! Which commits the engine refuses while the server is read-only.

mod support;

use engine::{CommitOptions, EngineError, ReadOnly};
use support::*;

#[test]
fn the_mode_at_the_place_in_the_log_decides_which_commits_are_refused() {
    let (_, engine) = fresh(1);
    let t = create(&engine, keyed("t"));
    let mut id = 0;
    let mut commit_of = |refused_from| {
        id += 1;
        let mut txn = begin(&engine);
        insert(&mut txn, &t, id, 0, "").unwrap();
        let options = CommitOptions { refused_from, ..CommitOptions::default() };
        match txn.commit(&options) {
            Ok(_) => "committed",
            Err(EngineError::ServerIsReadOnly { for_all: true }) => "refused to all",
            Err(EngineError::ServerIsReadOnly { for_all: false }) => "refused",
            Err(other) => panic!("{other}"),
        }
    };
    for (mode, expected) in [
        (ReadOnly::Off, ["committed", "committed", "committed"]),
        (ReadOnly::Ordinary, ["refused", "committed", "committed"]),
        (ReadOnly::All, ["refused to all", "refused to all", "committed"]),
        (ReadOnly::Off, ["committed", "committed", "committed"]),
    ] {
        engine.set_read_only(|| mode);
        let seen = [Some(ReadOnly::Ordinary), Some(ReadOnly::All), None].map(&mut commit_of);
        assert_eq!(seen, expected, "{mode:?}");
    }
    assert_eq!(ids(&engine, &t), [1, 2, 3, 5, 6, 9, 10, 11, 12], "what was refused has left nothing");
}
