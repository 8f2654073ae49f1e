//! The manual page of all system variables, `docs/variables.md`, made from their definitions.

use super::definition::Guard;
use super::{Definition, Kind, Scope, aliases, all};
use std::fmt::Write;

/// Returns the text of the page.
pub fn page() -> String {
    let mut out = String::from(HEAD);
    let of_mysql: Vec<&Definition> = all().map(|id| id.definition()).collect();
    let (counting, kept): (Vec<&Definition>, Vec<&Definition>) =
        of_mysql.into_iter().partition(|definition| definition.has_effect);
    let _infallible = writeln!(out, "\n## Variables that count\n\nThese are {}.", counting.len());
    for definition in counting {
        describe(&mut out, definition);
    }
    let _infallible = writeln!(
        out,
        "\n## Variables without effect\n\nThese {} are accepted and told, so that clients and option files of MySQL's work. \
         Nothing depends\non them, for the reason beside each.",
        kept.len()
    );
    for definition in kept {
        describe(&mut out, definition);
    }
    out.push_str("\n## Older names\n\nEach of these stands for the variable beside it.\n\n| name | variable |\n|---|---|\n");
    for (old, id) in aliases() {
        let _infallible = writeln!(out, "| `{old}` | `{}` |", id.definition().name);
    }
    out
}

const HEAD: &str = "\
# System variables

This page is made from the definitions in `crates/server/src/variables/table/`, and a test fails
when it is stale (`cargo test -p server the_page_of_variables`; with `SLIPSTREAM_WRITE_DOCS=1` it
writes the page). Another test (`crates/testkit/tests/variables_like_mysql.rs`) compares scopes,
ranges and defaults with a real MySQL 9.7; where they differ, the variable says so here.

*Global* is one value for the server. *Global, session* is a value for each session too, which
begins as the global one. *Session* has no global value. A variable that is set *at start only*
answers SET with error 1238. SET GLOBAL needs SYSTEM_VARIABLES_ADMIN or SUPER. SET PERSIST
needs the same, and SET PERSIST_ONLY needs PERSIST_RO_VARIABLES_ADMIN besides.
";

fn describe(out: &mut String, definition: &Definition) {
    let _infallible = writeln!(out, "\n### {}\n", definition.name);
    let scope = match definition.scope {
        Scope::Global => "Global",
        Scope::Session => "Global, session",
        Scope::SessionOnly => "Session",
    };
    let when = match (definition.read_only, definition.is_option) {
        (true, true) => "set at start only",
        (true, false) => "cannot be set",
        (false, true) => "set at start and while the server runs",
        (false, false) => "set while the server runs",
    };
    let default = match definition.default {
        "" => "empty".to_owned(),
        value if value.len() > 60 => "MySQL's, see SHOW VARIABLES".to_owned(),
        value => format!("`{value}`"),
    };
    let kind = match definition.kind {
        Kind::UInt(least, u64::MAX) => format!("an integer from {least}"),
        kind => kind.to_string(),
    };
    let block = match definition.block {
        1 => String::new(),
        block => format!(", in steps of {block}"),
    };
    wrap(out, &format!("{scope}; {kind}{block}; default {default}; {when}."));
    let mut text = definition.about.to_owned();
    if let Some(guard) = guard(definition.guard) {
        text = format!("{text} {guard}");
    }
    out.push('\n');
    wrap(out, &text);
    if !definition.differs.is_empty() {
        out.push('\n');
        wrap(out, &format!("Unlike MySQL: {}", definition.differs));
    }
}

/// Returns the privileges needed to set a variable. `None` means that the scope alone determines
/// them.
fn guard(guard: Guard) -> Option<String> {
    let own = "The session's value needs";
    Some(match guard {
        Guard::Open => return None,
        Guard::Session => {
            format!("{own} SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or SUPER.")
        }
        Guard::SessionWithoutSuper => format!("{own} SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN."),
        Guard::Applier => {
            format!("{own} SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN, REPLICATION_APPLIER or SUPER.")
        }
        Guard::GlobalOnly => {
            "The session's value can be set by SET GLOBAL only, for later sessions.".to_owned()
        }
        Guard::GlobalWith(privilege, _) => format!("SET GLOBAL needs {privilege} too, or SUPER."),
        Guard::GlobalWithout(privilege, _) => {
            format!("SET GLOBAL needs {privilege} too, and SUPER does not stand for it.")
        }
    })
}

/// Appends a paragraph, broken at 100 columns.
fn wrap(out: &mut String, text: &str) {
    const WIDTH: usize = 100;
    let mut width = 0;
    for word in text.split(' ') {
        let chars = word.chars().count();
        if width > 0 && width + 1 + chars > WIDTH {
            out.push('\n');
            width = 0;
        }
        if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += chars;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_page_of_variables_is_what_the_definitions_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/variables.md");
        let disk = os::disk::real();
        let wanted = page();
        if std::env::var_os("SLIPSTREAM_WRITE_DOCS").is_some() {
            disk.write_atomically(&path, wanted.as_bytes()).unwrap();
        }
        let there = String::from_utf8(disk.read(&path).unwrap()).unwrap();
        let line = there.lines().zip(wanted.lines()).position(|(there, wanted)| there != wanted);
        assert!(
            there == wanted,
            "docs/variables.md is stale from line {line:?}: SLIPSTREAM_WRITE_DOCS=1 writes it"
        );
    }
}
