//! FULLTEXT indexes of a data directory of an earlier version, which have no entries: searches read
//! the table, until the index is dropped and added again.

mod support;

use engine::{DdlContext, SessionContext, TableDef};
use support::{engine, rows, run, session};

#[test]
fn an_index_without_entries_is_searched_and_gets_them_when_it_is_added_again() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE DATABASE d");
    run(&mut s, "CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(50), FULLTEXT KEY f (a))");
    let values: Vec<String> = (0..40).map(|id| format!("({id}, 'word{id} other')")).collect();
    run(&mut s, &format!("INSERT INTO d.t VALUES {}", values.join(", ")));
    let table = || engine.catalog().table("d", "t").expect("it is there");
    let has_entries = || table().def.kept_indexes[0].entries.is_some();
    let search = "SELECT id FROM d.t WHERE MATCH (a) AGAINST ('word7 word9') ORDER BY id";
    let found = rows(&mut s, search);
    assert_eq!((found.clone(), has_entries()), (vec!["7".to_owned(), "9".to_owned()], true));

    // An earlier version has made no entries.
    let mut def: TableDef = table().def.clone();
    def.kept_indexes[0].entries = None;
    let context = SessionContext::default();
    let context = DdlContext::new("ALTER TABLE t", "d", &context);
    engine
        .alter_table("d", "t", def, &mut |image| Ok(Some(image.to_vec())), &context)
        .expect("it is altered");
    assert!(!has_entries());
    assert_eq!(rows(&mut s, search), found);
    run(&mut s, "INSERT INTO d.t VALUES (100, 'word7')");
    run(&mut s, "ALTER TABLE d.t ADD COLUMN n INT, FORCE");
    assert!(!has_entries());
    assert_eq!(rows(&mut s, search), ["7", "9", "100"]);
    assert_eq!(rows(&mut s, "CHECK TABLE d.t"), ["d.t|check|status|OK"]);

    run(&mut s, "ALTER TABLE d.t DROP KEY f, ADD FULLTEXT KEY f (a)");
    assert!(has_entries());
    assert_eq!(rows(&mut s, search), ["7", "9", "100"]);
    assert_eq!(rows(&mut s, "CHECK TABLE d.t"), ["d.t|check|status|OK"]);
}
