//! The texts of SHOW CREATE for views, triggers, routines and events, in the dialect of the server
//! on which they were created.

use crate::attribute;
use crate::lexer::{self, TokenKind};
use crate::quoting::{charset_words, quoted, text_literal as literal};
use crate::sql_mode::SqlMode;
use engine::{ObjectDef, ObjectKind};
use types::{ColumnType, DateTime, Value, Zone};

/// Returns a moment as `YYYY-MM-DD hh:mm:ss` in a time zone. `unix_us` is in microseconds.
pub(crate) fn moment(unix_us: u64, zone: Zone) -> String {
    let at = DateTime::from_unix((unix_us / 1_000_000) as i64, 0, zone);
    let text = Value::DateTime(at).text_bytes(None).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the definer's account in backticks.
pub(crate) fn definer(def: &ObjectDef) -> String {
    account(&def.definer)
}

/// Returns a user and a host in backticks.
pub(crate) fn account((user, host): &(String, String)) -> String {
    format!("{}@{}", quoted(user), quoted(host))
}

/// Returns the object's `sql_mode`, with the names that the server uses on which the object was
/// created.
pub(crate) fn sql_mode(def: &ObjectDef) -> String {
    match def.of_mariadb {
        true => SqlMode(def.sql_mode).names_of_mariadb(),
        false => SqlMode(def.sql_mode).to_string(),
    }
}

/// Returns the type behind RETURNS as MySQL prints it.
pub(crate) fn returned_type(ty: &ColumnType) -> String {
    let words = if ty.is_character() { charset_words(ty.collation) } else { String::new() };
    format!("{}{words}", ty.sql_name())
}

/// Returns the statement that creates the object.
pub(crate) fn create_object(def: &ObjectDef) -> String {
    match def.kind {
        ObjectKind::View => view_text(def, "CREATE", &quoted(&def.name)),
        ObjectKind::Trigger => trigger_text(def),
        ObjectKind::Procedure | ObjectKind::Function => routine_text(def, &quoted(&def.name)),
        ObjectKind::Event => event_text(def),
    }
}

/// Returns a view's statement with this verb and name.
pub(crate) fn view_text(def: &ObjectDef, verb: &str, name: &str) -> String {
    let columns = def.attribute(attribute::COLUMNS).map_or(String::new(), |columns| format!(" ({columns})"));
    let check =
        def.attribute(attribute::CHECK).map_or(String::new(), |check| format!(" WITH {check} CHECK OPTION"));
    format!(
        "{verb} ALGORITHM={} DEFINER={} SQL SECURITY {} VIEW {name}{columns} AS {}{check}",
        def.attribute(attribute::ALGORITHM).unwrap_or("UNDEFINED"),
        definer(def),
        security(def),
        def.body,
    )
}

/// Returns the statement that SHOW CREATE prints. The names in front of the parameters of a routine
/// are in double quotes if the routine's sql_mode has ANSI_QUOTES.
pub(crate) fn shown(def: &ObjectDef) -> String {
    let text = create_object(def);
    let is_routine = matches!(def.kind, ObjectKind::Procedure | ObjectKind::Function);
    if !is_routine || !SqlMode(def.sql_mode).lex().ansi_quotes {
        return text;
    }
    let last = format!(" {} {}", def.kind.word(), quoted(&def.name));
    let Some(at) = text.find(&last) else { return text };
    let (head, rest) = text.split_at(at + last.len());
    let head = crate::quoting::with_double_quotes(head.as_bytes());
    format!("{}{rest}", String::from_utf8_lossy(&head))
}

/// Returns the view with a query in which all tables have their schemas.
pub(crate) fn outside(def: &ObjectDef) -> ObjectDef {
    let body = def.attribute(attribute::QUALIFIED).unwrap_or(&def.body).to_owned();
    ObjectDef { body, ..def.clone() }
}

/// Returns `DEFINER` or `INVOKER`.
pub(crate) fn security(def: &ObjectDef) -> &str {
    def.attribute(attribute::SECURITY).unwrap_or("DEFINER")
}

fn trigger_text(def: &ObjectDef) -> String {
    let Some(place) = &def.trigger else { return String::new() };
    let table = quoted(&place.table);
    let head = match (def.attribute(attribute::HEAD), def.attribute(attribute::LEAD)) {
        (Some(head), _) if !place.renamed => Some(head.to_owned()),
        (_, Some(lead)) => Some(format!("{lead} {table} FOR EACH ROW")),
        _ => None,
    };
    let head = match head {
        Some(head) => head,
        None => {
            let timing = if place.before { "BEFORE" } else { "AFTER" };
            let name = quoted(&def.name);
            format!("TRIGGER {name} {timing} {} ON {table} FOR EACH ROW", place.event.word())
        }
    };
    format!("CREATE DEFINER={} {head} {}", definer(def), def.body)
}

/// Returns a routine's statement with this name.
pub(crate) fn routine_text(def: &ObjectDef, name: &str) -> String {
    let aggregate = if def.attribute(attribute::AGGREGATE).is_some() { "AGGREGATE " } else { "" };
    let mut text = format!(
        "CREATE DEFINER={} {aggregate}{} {name}({})",
        definer(def),
        def.kind.word(),
        def.attribute(attribute::PARAMETERS).unwrap_or_default()
    );
    if let Some(returns) = def.attribute(attribute::RETURNS) {
        text.push_str(&format!(" RETURNS {returns}"));
    }
    text.push('\n');
    if let Some(access) = def.attribute(attribute::ACCESS).filter(|access| *access != "CONTAINS SQL") {
        text.push_str(&format!("    {access}\n"));
    }
    if def.attribute(attribute::DETERMINISTIC) == Some("YES") {
        text.push_str("    DETERMINISTIC\n");
    }
    if security(def) == "INVOKER" {
        text.push_str("    SQL SECURITY INVOKER\n");
    }
    if let Some(comment) = def.attribute(attribute::COMMENT).filter(|comment| !comment.is_empty()) {
        text.push_str(&format!("    COMMENT {}\n", literal(comment)));
    }
    text + &def.body
}

fn event_text(def: &ObjectDef) -> String {
    let mut text = format!("CREATE DEFINER={} EVENT {} ON SCHEDULE ", definer(def), quoted(&def.name));
    match def.attribute(attribute::AT) {
        Some(at) => text.push_str(&format!("AT '{at}'")),
        None => {
            let amount = def.attribute(attribute::AMOUNT).unwrap_or_default();
            text.push_str(&format!("EVERY {amount} {}", def.attribute(attribute::UNIT).unwrap_or_default()));
            for (word, name) in [("STARTS", attribute::STARTS), ("ENDS", attribute::ENDS)] {
                if let Some(moment) = def.attribute(name) {
                    text.push_str(&format!(" {word} '{moment}'"));
                }
            }
        }
    }
    let status = match def.attribute(attribute::STATUS) {
        Some("DISABLED") => "DISABLE",
        Some("REPLICA") if def.of_mariadb => "DISABLE ON SLAVE",
        Some("REPLICA") => "DISABLE ON REPLICA",
        _ => "ENABLE",
    };
    let completion = def.attribute(attribute::COMPLETION).unwrap_or("NOT PRESERVE");
    text.push_str(&format!(" ON COMPLETION {completion} {status}"));
    if let Some(comment) = def.attribute(attribute::COMMENT).filter(|comment| !comment.is_empty()) {
        text.push_str(&format!(" COMMENT {}", literal(comment)));
    }
    format!("{text} DO {}", def.body)
}

/// Returns an event's status as it is shown.
pub(crate) fn event_status(def: &ObjectDef) -> &'static str {
    match def.attribute(attribute::STATUS) {
        Some("DISABLED") => "DISABLED",
        Some("REPLICA") if def.of_mariadb => "SLAVESIDE_DISABLED",
        Some("REPLICA") => "REPLICA_SIDE_DISABLED",
        _ => "ENABLED",
    }
}

/// Returns an object's body as information_schema shows it. MySQL shows literals with their escape
/// sequences resolved, MariaDB shows the text as it is written.
pub(crate) fn body_of(def: &ObjectDef) -> String {
    if def.of_mariadb {
        return def.body.clone();
    }
    let text = def.body.as_bytes();
    let mode = SqlMode(def.sql_mode).lex();
    let Ok(tokens) = lexer::tokenize_program(text, mode) else { return def.body.clone() };
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Text) {
        let (start, end) = (token.start as usize, token.end as usize);
        let raw = &text[start..end];
        let Some(quote) = raw.iter().position(|byte| matches!(byte, b'\'' | b'"')) else { continue };
        out.extend_from_slice(&text[from..=start + quote]);
        out.extend_from_slice(&lexer::unquote(&raw[quote..], mode, true));
        from = end - 1;
    }
    out.extend_from_slice(&text[from..]);
    String::from_utf8_lossy(&out).into_owned()
}
